"""Rough hands: stopped twice, cancelled too early or too late, begun in the background and asked for at once."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import termios
import time
from pathlib import Path

import pytest
from conftest import BINARY, ONE_ROW, Bench, as_nobody, needs_root

PLAN = """schema = 1
name = "rough"
[fleet.here]
provider = "local"
[schedule]
runs = 1
warmup_rounds = 0
[[suite]]
{suite}
"""
OWN = 'name = "one"\ncommand = ["./one"]\nformat = "generic"'


@pytest.fixture
def own(bench: Bench) -> tuple[str, ...]:
    """The words that run a plan with a program of its own, which takes a second."""
    # A folder may be called anything, also like the words that the store's lock says.
    bench.environment["BENCHCTL_HOME"] = str(bench.home / "rapid pid 7, is held by run x, pid 8")
    bench.program("one", "#!/bin/sh\nsleep 1\n" + ONE_ROW)
    plan = bench.home / "plan.toml"
    plan.write_text(PLAN.format(suite=OWN))
    return ("run", "--plan", str(plan), "--trust-plan", bench.sha256_of(plan))


def state_of(bench: Bench, run: str) -> tuple[str, list[str]]:
    shown = bench.json("status", run)
    assert isinstance(shown, dict)
    return shown["outcome"], [machine["state"] for machine in shown["machines"]]


def begun(bench: Bench, *words: str) -> subprocess.Popen[str]:
    """A run that has its machine."""
    process = bench.start(*words)
    assert process.stderr is not None
    for line in process.stderr:
        if "shipped" in line:
            return process
    pytest.fail(f"it never had a machine: exit {process.wait()}")


def test_asked_twice_to_stop_is_asked_once(bench: Bench, own: tuple[str, ...], nothing_left: None) -> None:
    # A terminal that closes sends hang-ups from the shell and from the kernel.
    process = begun(bench, *own, "--id", "hangup")
    for number in (signal.SIGHUP, signal.SIGHUP, signal.SIGTERM, signal.SIGTERM):
        process.send_signal(number)
        time.sleep(0.05)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 7, err
    assert state_of(bench, "hangup") == ("interrupted", ["released"])

    process = begun(bench, *own, "--id", "cancelled")
    held = bench(*own, "--id", "another")
    assert held.code == 7
    assert "is held by run cancelled, pid" in held.err
    cancels = [bench.start("cancel") for _ in range(2)]
    assert [cancel.wait(timeout=120) for cancel in cancels] == [0, 0]
    _, err = process.communicate(timeout=120)
    assert process.returncode == 7, err
    assert state_of(bench, "cancelled") == ("interrupted", ["released"])


def test_a_second_ctrl_c_ends_at_once(bench: Bench, own: tuple[str, ...], nothing_left: None) -> None:
    process = begun(bench, *own, "--id", "impatient")
    process.send_signal(signal.SIGINT)
    time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 7
    if "ended at once" in err:
        assert "benchctl reap --run impatient" in err
        assert bench("reap", "--run", "impatient").code == 0
    assert state_of(bench, "impatient")[1] == ["released"]


def test_a_cancel_sees_that_the_controller_is_gone(bench: Bench, own: tuple[str, ...], nothing_left: None) -> None:
    process = begun(bench, *own, "--id", "dead")
    process.send_signal(signal.SIGSTOP)
    cancel = bench.start("cancel", "dead")
    assert cancel.stderr is not None
    assert "waiting until its machines are gone" in cancel.stderr.readline()
    process.kill()
    process.communicate(timeout=30)
    _, err = cancel.communicate(timeout=60)
    assert cancel.returncode == 7
    assert "has no controller any more" in err
    assert bench("reap", "--run", "dead").code == 0


def test_killed_as_soon_as_it_is_a_run(bench: Bench, own: tuple[str, ...], nothing_left: None) -> None:
    bench.environment["BENCHCTL_FAILPOINT"] = "run:begun"
    assert bench(*own, "--id", "begun").code == -9
    del bench.environment["BENCHCTL_FAILPOINT"]
    done = bench("resume", "begun")
    assert done.code == 0, done.err
    assert state_of(bench, "begun") == ("good", ["released"])


def test_in_the_background_only_what_can_be_a_run(bench: Bench, own: tuple[str, ...]) -> None:
    done = bench(*own, "--id", "../../outside", "--detach")
    assert (done.code, done.out) == (2, "")
    assert not list(bench.home.rglob("outside*"))
    process = begun(bench, *own, "--id", "first")
    done = bench(*own, "--id", "second", "--detach")
    assert (done.code, done.out) == (7, "")
    process.terminate()
    process.communicate(timeout=120)
    done = bench(*own, "--id", "first", "--detach")
    assert (done.code, done.out) == (2, "")
    assert "there is a run first already" in done.err


def test_asked_for_while_it_is_still_being_built(bench: Bench, nothing_left: None) -> None:
    root = bench.root_with("mismatch")
    recipe = root / "workloads/mismatch/workload.toml"
    recipe.write_text(recipe.read_text().replace("mkdir -p", "sleep 3; mkdir -p"))
    bench.environment["BENCHCTL_CACHE"] = str(bench.home / "cache")
    plan = bench.home / "plan.toml"
    plan.write_text(PLAN.format(suite='workload = "mismatch"\nmode = "all"\narms = ["one"]\nbaseline = "one"'))
    words = ("run", "--plan", str(plan), "--detach", "--id")
    assert bench(*words, "early").code == 0
    cancelled = bench("cancel", "early")
    assert cancelled.code == 0, cancelled.err
    assert "ended before any machine was made" in cancelled.out
    assert bench.json("status") == []
    lost = bench("attach", "early")
    assert lost.code == 2
    with (root / "workloads/mismatch/runner.sh").open("a") as runner:
        runner.write("# built anew\n")
    assert bench(*words, "built").code == 0
    attached = bench("attach")
    assert attached.code == 0, attached.err
    assert "run built is being prepared" in attached.err
    assert "run built, plan rough: good" in attached.out


def test_files_that_may_not_grow_are_errors(bench: Bench, own: tuple[str, ...], nothing_left: None) -> None:
    assert bench("status").code == 0
    bench.prefix = ["sh", "-c", 'ulimit -f 160 && exec "$@"', "sh"]
    done = bench(*own, "--id", "small")
    bench.prefix = []
    assert done.code == 1, done.err
    assert "File size limit exceeded" in done.err
    assert "machine given back" in done.err
    assert bench("reap", "--run", "small").code == 0


class Screen:
    """What a terminal of that width shows of what was written to it: enough of one for us."""

    def __init__(self, columns: int) -> None:
        self.columns = columns
        self.rows: list[str] = [""]
        self.row = 0

    def write(self, text: str) -> None:
        for part in re.findall(r"\x1b\[\d*[A-Za-z]|\n|[^\x1b\n]+", text.replace("\r", "")):
            if part == "\n":
                self.row += 1
            elif up := re.fullmatch(r"\x1b\[(\d+)F", part):
                self.row = max(0, self.row - int(up[1]))
            elif part == "\x1b[J":
                del self.rows[self.row :]
            elif not part.startswith("\x1b"):
                while len(self.rows[self.row]) + len(part) > self.columns:
                    room = self.columns - len(self.rows[self.row])
                    self.rows[self.row] += part[:room]
                    part = part[room:]
                    self.row += 1
                    self.rows += [""] * (self.row + 1 - len(self.rows))
                self.rows[self.row] += part
            self.rows += [""] * (self.row + 1 - len(self.rows))


def test_a_narrow_terminal_shows_the_report_and_nothing_stale(bench: Bench, own: tuple[str, ...]) -> None:
    terminal, ours = pty.openpty()
    fcntl.ioctl(ours, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 30, 0, 0))
    process = subprocess.Popen(
        [str(BINARY), *own, "--id", "narrow"],
        env=bench.environment,
        cwd=bench.home,
        stdin=ours,
        stdout=ours,
        stderr=ours,
    )
    os.close(ours)
    written = b""
    with contextlib.suppress(OSError):  # the end of a terminal
        while more := os.read(terminal, 65536):
            written += more
    os.close(terminal)
    assert process.wait(timeout=120) == 0, written
    screen = Screen(30)
    screen.write(written.decode())
    shown = "".join(screen.rows)
    assert "runs/narrow/reports/bc-" in shown, screen.rows
    for stale in ("making the machine", "waiting", "removing the machine", "writing the report"):
        assert stale not in shown, screen.rows


@pytest.mark.parametrize("words", [["status"], ["version", "--json"], ["--help"]])
def test_output_that_is_lost_is_no_success(bench: Bench, words: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [str(BINARY), *words],
            env=bench.environment,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            timeout=60,
        )
    assert done.returncode == 1
    assert "standard output could not be written" in done.stderr


@needs_root
def test_without_a_home_folder(bench: Bench) -> None:
    """As a service calls: the operator's policy holds all the same, and the cache has a place."""
    operator = bench.home / "operator"
    (operator / ".config/benchctl").mkdir(parents=True)
    policy = operator / ".config/benchctl/policy.toml"
    policy.write_text('schema = 1\n[allow]\nproviders = ["nspawn"]\n')
    policy.chmod(0o600)
    users = bench.home / "passwd"
    users.write_text(f"root:x:0:0::{operator}:/bin/sh\n")
    bench.program("one", ONE_ROW)
    plan = bench.home / "plan.toml"
    plan.write_text(PLAN.format(suite=OWN))
    del bench.environment["HOME"]
    bench.prefix = ["unshare", "-m", "sh", "-c", 'mount --bind "$0" /etc/passwd && exec "$@"', str(users)]
    done = bench("plan", "check", str(plan))
    assert done.code == 2
    assert f"{policy}:3 (providers in [allow]) allows nspawn" in done.err
    policy.unlink()
    # A user without rights has no other cache than below the home of benchctl.
    bench.environment.pop("BENCHCTL_CACHE", None)
    as_nobody(bench)
    bench.environment["BENCHCTL_FAILPOINT"] = "run:begun"
    done = bench("run", "--plan", str(plan), "--trust-plan", bench.sha256_of(plan))
    assert done.code == -9, done.err
    assert list((bench.home / "state/benchctl/programs").iterdir())
