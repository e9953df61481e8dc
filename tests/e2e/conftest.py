"""End-to-end tests: the real binary, real machines, a store and folders of their own.

Each test gets a `bench` that runs benchctl with BENCHCTL_HOME in a temporary folder; machine images come from the shared
cache, since making one takes minutes.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
import subprocess
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

SOURCE = Path(os.environ.get("BENCHCTL_TEST_SOURCE", Path(__file__).parents[2]))
BINARY = Path(os.environ.get("BENCHCTL_TEST_BINARY", SOURCE / "build/bin/benchctl"))
FIXTURES = Path(__file__).parent / "fixtures"
ONE_ROW = (FIXTURES / "one_row.sh").read_text()


# Both arms in both modes, seven scored rounds: what every provider must carry through whole.
THE_JOB = """
[schedule]
runs = 7
warmup_rounds = 1

[[suite]]
workload = "request_shape"
mode = "sequential"
arms = ["c_sqlite", "rust_rusqlite"]
baseline = "c_sqlite"
[suite.params]
items = 2000

[[suite]]
workload = "request_shape"
mode = "concurrent"
arms = ["c_sqlite", "rust_rusqlite"]
baseline = "c_sqlite"
[suite.params]
workload = ["mixed"]
workers = [1, 2, 4]
duration = "300ms"
warmup = "50ms"
"""


@dataclass
class Done:
    code: int
    out: str
    err: str


class Bench:
    def __init__(self, home: Path) -> None:
        self.home = home
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "BENCHCTL_HOME": str(home / "state"),
            "LANG": "C.UTF-8",
        }
        for name in ("BENCHCTL_CACHE", "BENCHCTL_ROOT"):
            if name in os.environ:
                self.environment[name] = os.environ[name]
        self.prefix: list[str] = []

    def start(self, *words: str, **more: object) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [*self.prefix, str(BINARY), *words],
            env=self.environment,
            cwd=self.home,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **more,  # type: ignore[call-overload]
        )

    def __call__(self, *words: str, timeout: float = 600) -> Done:
        process = self.start(*words)
        try:
            out, err = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            process.terminate()
            out, err = process.communicate(timeout=120)
            pytest.fail(f"benchctl {' '.join(words)} did not end within {timeout} s\n{out}\n{err}")
        return Done(process.returncode, out, err)

    def json(self, *words: str) -> dict | list:
        done = self(*words, "--json")
        assert done.code == 0, done.err
        return json.loads(done.out)

    def run_plan(self, text: str, *words: str) -> tuple[Done, str, Path]:
        """Runs a plan given as text; gives what happened, the run's id and its folder."""
        plan = self.home / "plan.toml"
        plan.write_text(text)
        done = self("run", "--plan", str(plan), *words)
        # A program of one's own on this very computer wants the plan's hash once; it is in the refusal.
        if done.code == 2 and (trust := re.search(r"--trust-plan ([0-9a-f]{64})", done.err)):
            done = self("run", "--plan", str(plan), *words, "--trust-plan", trust[1])
        runs = self.json("status")
        assert runs, f"no run was begun: exit {done.code}\n{done.err}"
        run = runs[0]
        return done, run["run"], Path(run["folder"])

    def root_with(self, fixture: str) -> Path:
        """From now on, a root of its own with the workload of that fixture only, and the analysis of the tree."""
        root = self.home / "root"
        (root / "workloads").mkdir(parents=True)
        shutil.copy(SOURCE / "workloads/CONTRACT.md", root / "workloads")
        shutil.copytree(FIXTURES / fixture, root / "workloads" / fixture)
        self.environment["BENCHCTL_ROOT"] = str(root)
        self.environment["BENCHCTL_PYTHON"] = str(SOURCE / "analysis/.venv/bin/python")
        return root

    def program(self, name: str, text: str | None = None) -> Path:
        """An executable beside the plan: this text, or that of the fixture of the same name."""
        path = self.home / name
        path.write_text((FIXTURES / f"{name}.sh").read_text() if text is None else text)
        path.chmod(0o755)
        return path

    def sha256_of(self, plan: Path) -> str:
        """What --trust-plan wants."""
        shown = self("plan", "show", str(plan)).out
        return next(line.split()[1] for line in shown.splitlines() if line.startswith("sha256"))

    def query(self, sql: str, *values: object) -> list[tuple]:
        store = self.home / "state/store.sqlite3"
        with closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as connection:
            return connection.execute(sql, values).fetchall()


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def as_nobody(bench: Bench) -> None:
    """From now on nobody calls, whose the bench's home is."""
    shutil.chown(bench.home, 65534, 65534)
    for parent in bench.home.parents:
        if parent == Path("/tmp"):
            break
        parent.chmod(0o755)
    bench.prefix = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]


def unprivileged(bench: Bench) -> Bench:
    """The same, as a user without rights: nobody, when we are root."""
    if os.geteuid() == 0:
        as_nobody(bench)
        if subprocess.run([*bench.prefix, "test", "-x", str(BINARY)], check=False).returncode != 0:
            pytest.skip(f"{BINARY} lies in a folder that is closed to other users")
        # Its workloads are built once for all tests.
        cache = Path("/var/cache/benchctl/tests-nobody")
        cache.mkdir(parents=True, exist_ok=True)
        shutil.chown(cache, 65534, 65534)
        bench.environment |= {"BENCHCTL_CACHE": str(cache), "HOME": str(cache), "PATH": "/usr/bin:/bin:/usr/sbin:/sbin"}
    return bench


def _lines(*command: str) -> set[str]:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return set(done.stdout.splitlines())


def inventory() -> dict[str, set[str]]:
    """What benchctl could leave behind on this computer."""
    processes = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_bytes().decode(errors="replace").split("\0")
                groups = (entry / "cgroup").read_text()
            except OSError:
                continue
            if words == [""]:  # ended; init has not looked yet
                continue
            program = words[0].rsplit("/", 1)[-1]
            if (
                "/bc-" in groups
                or program == "systemd-nspawn"
                or program in ("benchagent", "benchctl")
                or program.startswith("agent-")
            ):
                processes.add(f"{entry.name} {' '.join(words)}")
    cgroups = {
        str(path)
        for path in Path("/sys/fs/cgroup").rglob("*")
        if path.is_dir() and ("benchctl" in path.name or path.name.startswith("bc-"))
    }
    mounts = {line.split(" - ")[0].split(" ", 3)[3] for line in _lines("cat", "/proc/self/mountinfo")}
    files = set()
    for place in ("/var/lib/benchctl/machines", "/run/netns", "/run/benchctl", "/dev/shm", "/var/tmp"):
        if Path(place).is_dir():
            files |= {str(path) for path in Path(place).iterdir() if not path.name.startswith("fresh-machine")}
    return {
        "processes": processes,
        "cgroups": cgroups,
        "mounts": mounts,
        "links": {line.split(":")[1].strip().split("@")[0] for line in _lines("ip", "-o", "link")},
        "namespaces": _lines("ip", "netns", "list"),
        "loop devices": _lines("losetup", "--list", "--noheadings", "--output", "NAME,BACK-FILE"),
        "files": files,
    }


@pytest.fixture
def nothing_left():
    """Compares this computer before and after the test."""
    before = inventory()
    yield
    # Mounts and cgroups of a process that has just ended go a moment after it.
    for _ in range(50):
        after = inventory()
        if after == before:
            return
        time.sleep(0.2)
    assert after == before


needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="nspawn machines need root")
