"""Secrets of whoever runs benchctl are found nowhere afterwards, nor in any of its processes meanwhile."""

from __future__ import annotations

import base64
import os
import threading
import time
from pathlib import Path

import pytest
from conftest import ONE_ROW, Bench, needs_root

NAMES = [
    "DIGITALOCEAN_TOKEN",
    "DIGITALOCEAN_ACCESS_TOKEN",
    "HCLOUD_TOKEN",
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "VULTR_API_KEY",
    "LINODE_TOKEN",
    "MY_SECRET",  # of no provider: dropped rather than kept
]

PLAN = """
schema = 1
name = "canary"
[fleet.m]
provider = "{provider}"
[schedule]
runs = 2
warmup_rounds = 1
[[suite]]
name = "dump"
command = ["./dump"]
format = "generic"
[[suite]]
workload = "request_shape"
mode = "sequential"
arms = ["c_sqlite"]
[suite.params]
items = 1000
"""

# Prints its own environment where it can: as evidence that comes home.
DUMP = """#!/bin/sh
env >"$BENCHCTL_OUT/environment"
tr '\\0' '\\n' </proc/self/environ >"$BENCHCTL_OUT/environ"
env >&2
sleep 0.1
printf 'case,metric,unit,value,better,check\\nanswer,time,us,42,lower,7\\n'
"""


def forms(secret: str) -> list[bytes]:
    """Plain, hex and base64; the latter at each of the three places a group of three bytes can begin."""
    raw = secret.encode()
    found = [raw, raw.hex().encode(), raw.hex().upper().encode()]
    for shift in range(3):
        text = base64.b64encode(b"x" * shift + raw)
        found.append(text[4 if shift else 0 : -4])
    return found


# Where runs leave something beside the home: built bundles with their logs, shipped programs, local machines.
CACHE = Path(os.environ.get("BENCHCTL_CACHE", "/var/cache/benchctl"))
CACHES = [CACHE / "workloads", CACHE / "programs", CACHE / "agents", Path("/var/lib/benchctl")]
BIG = 64 << 20


class Watch:
    """Looks at every process of this computer again and again: a detached agent is nobody's descendant."""

    def __init__(self, needles: list[bytes], pid: int) -> None:
        self.needles = needles
        self.controller = pid
        self.leaks: set[str] = set()
        self.seen: set[str] = set()  # programs
        self.controller_clean = False
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _look(self, pid: int) -> None:
        for name in ("environ", "cmdline"):
            data = Path(f"/proc/{pid}/{name}").read_bytes()
            program = Path(f"/proc/{pid}/comm").read_text().strip()
            self.seen.add(program)
            leak = any(needle in data for needle in self.needles)
            # The caller put the variables there; from the first clean look on they must stay away.
            if pid == self.controller and name == "environ" and data:
                self.controller_clean = self.controller_clean or not leak
                leak = leak and self.controller_clean
            if leak:
                self.leaks.add(f"{program} {name}")

    def _run(self) -> None:
        while not self._stop.is_set():
            for entry in Path("/proc").iterdir():
                if entry.name.isdigit() and int(entry.name) != os.getpid():
                    try:
                        self._look(int(entry.name))
                    except OSError:
                        continue
            time.sleep(0.03)


def files_with(needles: list[bytes], *places: Path) -> list[str]:
    found = []
    looked_at = 0
    for place in filter(Path.is_dir, places):
        for path in place.rglob("*"):
            try:
                if path.is_symlink() or not path.is_file() or path.stat().st_size > BIG:
                    continue
                data = path.read_bytes()
            except FileNotFoundError:  # another test's
                continue
            looked_at += 1
            if any(needle in data for needle in needles):
                found.append(str(path))
    assert looked_at > 10
    return found


def carry(bench: Bench, secret: str, *words: str) -> tuple[int, bytes, bytes, Watch]:
    bench.environment |= dict.fromkeys(NAMES, secret)
    process = bench.start(*words)
    with Watch(forms(secret), process.pid) as watch:
        out, err = process.communicate(timeout=600)
    return process.returncode, out.encode(), err.encode(), watch


def check_nowhere(bench: Bench, secret: str, code: int, out: bytes, err: bytes, watch: Watch) -> None:
    needles = forms(secret)
    assert code == 0, err.decode()
    assert not any(needle in text for needle in needles for text in (out, err))
    # The store's files as raw bytes: pages that belong to no row would show as well.
    assert (bench.home / "state/store.sqlite3").exists()
    assert files_with(needles, bench.home, *CACHES) == []
    assert watch.leaks == set()
    assert watch.controller_clean
    # It did look at what matters: the agent and the program that prints its environment.
    assert {name for name in watch.seen if name.startswith("agent-")}
    assert "dump" in watch.seen


def write_dump(bench: Bench) -> Path:
    bench.program("dump", DUMP)
    return bench.home / "plan.toml"


def test_the_needles_find_what_they_should() -> None:
    secret = "canary-0123456789abcdef"
    for text in (
        b"--" + secret.encode(),
        base64.b64encode(b"a" + secret.encode() + b"bc"),
        base64.b64encode(b"ab" + secret.encode()),
        base64.b64encode(b"abc" + secret.encode() + b"d"),
        secret.encode().hex().encode(),
    ):
        assert any(needle in text for needle in forms(secret)), text


@pytest.mark.parametrize("provider", ["local", pytest.param("nspawn", marks=needs_root)])
def test_nowhere_after_a_run(bench: Bench, provider: str) -> None:
    secret = "canary-" + os.urandom(16).hex()
    plan = write_dump(bench)
    plan.write_text(PLAN.format(provider=provider))
    trust = bench.sha256_of(plan)
    result = carry(bench, secret, "run", "--plan", str(plan), "--trust-plan", trust)
    check_nowhere(bench, secret, *result)
    evidence = list(bench.home.rglob("out/environment"))
    assert evidence, "the program's own environment has come home"
    assert all(b"BENCHCTL_SEED" in path.read_bytes() for path in evidence)


def test_nowhere_after_try_with_a_program_that_prints_its_environment(bench: Bench) -> None:
    secret = "canary-" + os.urandom(16).hex()
    write_dump(bench)
    result = carry(bench, secret, "try", "--runs", "2", "--", "./dump")
    check_nowhere(bench, secret, *result)


def test_the_running_controller_is_closed(bench: Bench) -> None:
    """Neither its environment nor its memory is open to the user's other processes, and it leaves no core."""
    secret = "canary-" + os.urandom(16).hex()
    (bench.home / "slow").write_text(DUMP.replace("sleep 0.1", "sleep 20"))
    (bench.home / "slow").chmod(0o755)
    bench.environment |= dict.fromkeys(NAMES, secret)
    process = bench.start("try", "--runs", "1", "--", "./slow")
    try:
        for line in process.stderr:
            if "first" in line or "looking" in line or "CPU" in line:
                break
        proc = Path(f"/proc/{process.pid}")
        environ = (proc / "environ").read_bytes()
        assert b"BENCHCTL_HOME" in environ
        assert not any(needle in environ for needle in forms(secret))
        limits = next(line for line in (proc / "limits").read_text().splitlines() if "core file" in line)
        assert limits.split()[4:6] == ["0", "0"]
        status = (proc / "status").read_text()
        assert "Umask:\t0077" in status
        # Files of a process that is not dumpable belong to root, whoever runs it.
        assert (proc / "environ").stat().st_uid == 0
    finally:
        process.terminate()
        process.communicate(timeout=120)
    assert process.returncode == 7


def test_closed_standard_streams_do_not_become_the_store(bench: Bench) -> None:
    plan = write_dump(bench)
    plan.write_text(PLAN.format(provider="local"))
    # Words go to standard error of a process that has none: had the store taken its number, they would be in there.
    bench.prefix = ["sh", "-c", 'exec "$0" "$@" <&- 2>&-']
    done = bench("status", "no-such-run")
    assert done.code == 2
    bench.prefix = []
    assert bench.json("status") == []
    assert b"no run" not in (bench.home / "state/store.sqlite3").read_bytes()


def test_the_detached_run_takes_the_credentials_over(bench: Bench) -> None:
    secret = "canary-" + os.urandom(16).hex()
    plan = bench.home / "plan.toml"
    bench.program("one", ONE_ROW)
    plan.write_text(
        'schema = 1\nname = "d"\n[fleet.m]\nprovider = "local"\n[schedule]\nruns = 1\nwarmup_rounds = 0\n'
        '[[suite]]\nname = "one"\ncommand = ["./one"]\nformat = "generic"\n'
    )
    trust = bench.sha256_of(plan)
    bench.environment |= dict.fromkeys(NAMES, secret)
    run = bench("run", "--plan", str(plan), "--trust-plan", trust, "--detach").out.strip()
    for _ in range(200):
        if any(row["run"] == run for row in bench.json("status")):
            break
        time.sleep(0.1)
    assert bench("attach", run).code == 0
    assert files_with(forms(secret), bench.home) == []
