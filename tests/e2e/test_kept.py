"""A machine that is kept, reached by ssh: hardened for a run, put back exactly on every way out, given back."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import Bench, needs_root

pytestmark = needs_root

HOST = """
schema = 1
name = "host"
[fleet.m]
provider = "nspawn"
[schedule]
runs = 1
warmup_rounds = 0
[[suite]]
name = "one"
command = ["./one_row"]
format = "generic"
"""

# Everything that hardening touches: unit files, what is active, all of /etc/systemd with its links, our own places.
# Generators run anew at a reload, and not all say what they said at boot (cloud-init is disabled since).
STATE = (
    "systemctl daemon-reload; systemctl list-unit-files --no-legend --no-pager; systemctl list-units --all --plain --no-legend --no-pager "
    "--type=timer,service,socket | awk '{print $1, $3}' | grep -v -e benchctl -e '^session' -e '@' | sort; "
    "find /etc/systemd /run/systemd/system.control /etc/systemd/system.control -printf '%p %y %m %l\\n' 2>/dev/null | "
    "sort; find /etc/systemd -type f -exec sha256sum {} + | sort; ls -A /var/tmp /run/lock | grep -i benchctl; true"
)


class Kept:
    """A Debian of its own that stays, and a second benchctl that knows it by its address only."""

    def __init__(self, owner: Bench, home: Path) -> None:
        self.owner = owner
        ((self.name, endpoint, self.host_key),) = owner.query("SELECT name, endpoint, host_key FROM machine")
        self.endpoint = json.loads(endpoint)
        self.user = Bench(home)
        self.user.prefix = ["nsenter", f"--net={self.endpoint['netns']}"]
        key = home / "key"
        key.write_text((owner.home / "state/keys/host/client").read_text())
        key.chmod(0o600)
        self.user.program("one_row")
        self.plan = home / "plan.toml"
        self.plan.write_text(
            HOST.replace('name = "host"', 'name = "kept"').replace(
                'provider = "nspawn"',
                f'provider = "ssh"\nhosts = [{{ host = "{self.endpoint["host"]}", user = "root", '
                f'key_file = "{key}", host_key = "{self.host_key}" }}]\n[harden]\nprofile = "quiet"\n'
                "persistent_ok = true",
            )
        )

    def state(self) -> str:
        done = self.owner("machine", "ssh", self.name, "--", "sh", "-c", STATE)
        assert done.code == 0, done.err
        return done.out

    def run(self, run: str, failpoint: str = "") -> int:
        if failpoint:
            self.user.environment["BENCHCTL_FAILPOINT"] = failpoint
        done = self.user("run", "--plan", str(self.plan), "--id", run)
        self.user.environment.pop("BENCHCTL_FAILPOINT", None)
        self.said = done.err
        return done.code


@pytest.fixture
def kept(bench: Bench, tmp_path: Path, nothing_left: None) -> Iterator[Kept]:
    bench.program("one_row")
    plan = bench.home / "plan.toml"
    plan.write_text(HOST)
    done = bench("run", "--plan", str(plan), "--id", "host", "--keep", "20m")
    assert done.code == 0, done.err
    (tmp_path / "user").mkdir()
    yield Kept(bench, tmp_path / "user")
    assert bench("reap", "--run", "host").code == 0


def test_hardened_run_and_put_back_on_every_way_out(kept: Kept) -> None:
    before = kept.state()
    assert "apt-daily.timer" in before
    assert kept.run("whole") == 0, kept.said
    assert "machine taken in" in kept.said
    assert "put back as it was found" in kept.said
    assert "machine given back" in kept.said
    assert kept.state() == before
    ((state, isolated, hardening),) = kept.user.query("SELECT state, isolated, hardening FROM v_machines")
    # It shares this computer's kernel, whatever the provider promises of others.
    assert (state, isolated) == ("released", 0)
    document = json.loads(hardening)
    assert [proof["ok"] for proof in document["proofs"]] == [True, True]
    assert document["undone"]["proof"]["ok"]

    # Killed while it is hardened, then taken up again.
    assert kept.run("resumed", "after_done:harden") == -9
    assert kept.state() != before
    done = kept.user("resume", "resumed")
    assert done.code == 0, done.err
    assert kept.state() == before

    # Killed and never taken up again: who gives the machine back puts back what was changed first.
    assert kept.run("reaped", "after_intent:equip") == -9
    held = kept.user("run", "--plan", str(kept.plan), "--id", "second")
    assert held.code == 7, held.err
    assert "reaped" in held.err
    done = kept.user("reap", "--run", "reaped")
    assert done.code == 0, done.err
    assert kept.state() == before


def test_hardened_by_hand(kept: Kept) -> None:
    before = kept.state()
    where = [
        f"root@{kept.endpoint['host']}",
        "--key",
        str(kept.plan.parent / "key"),
        "--host-key",
        kept.host_key,
        "--yes",
    ]
    done = kept.user("harden", *where)
    assert done.code == 0, done.out + done.err
    assert "quiet: no timer has a next run" in done.out
    assert kept.state() != before
    done = kept.user("harden", *where, "--verify")
    assert done.code == 0, done.out + done.err
    done = kept.user("harden", *where, "--undo")
    assert done.code == 0, done.out + done.err
    assert kept.state() == before


def test_looked_at_and_stopped(kept: Kept) -> None:
    """A probe that is stopped gives the machine back; one that was killed can be reaped by the name in its lock."""
    before = kept.state()
    words = [
        "probe",
        f"root@{kept.endpoint['host']}",
        "--key",
        str(kept.plan.parent / "key"),
        "--host-key",
        kept.host_key,
    ]
    book = kept.user.home / "state/ssh_machines.json"
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGKILL):
        process = kept.user.start(*words)
        while process.poll() is None and not (book.exists() and json.loads(book.read_text())["machines"]):
            time.sleep(0.02)
        process.send_signal(number)
        _, err = process.communicate(timeout=120)
        if number != signal.SIGKILL:
            assert process.returncode == 7, err
            assert "stopped on request" in err
            assert kept.state() == before
    time.sleep(0.5)  # what was sent may still be carried out
    (run,) = {machine["run"] for machine in json.loads(book.read_text())["machines"]}
    reaped = kept.user("reap", "--run", run)
    assert reaped.code == 0, reaped.err
    assert kept.state() == before
    assert kept.user(*words).code == 0
