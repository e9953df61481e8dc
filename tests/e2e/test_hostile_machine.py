"""A machine whose agent lies, floods and draws on the terminal: the real controller stays small, clean and in charge."""

from __future__ import annotations

import re
import shutil
import threading
import time
from pathlib import Path

import conftest
import pytest
from conftest import SOURCE, Bench

REAL_AGENT = conftest.BINARY.parent / "benchagent"

PLAN = """
schema = 1
name = "hostile"
[fleet.m]
provider = "local"
[schedule]
runs = 2
warmup_rounds = 0
[[suite]]
name = "own"
command = ["./own"]
format = "generic"
[[suite]]
name = "fails"
command = ["./fails"]
format = "generic"
"""

# What stands where the agent should: the real one beside it does the work, and this changes what it says.
AGENT = r"""#!/usr/bin/python3
import json, os, shutil, subprocess, sys
MODE, REAL = "@MODE@", "@REAL@"
EVIL = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202eevil\u2028\rline"
here = os.path.dirname(os.path.abspath(sys.argv[0]))
mine = os.path.join(here, "real-agent")
if not os.path.exists(mine):
    shutil.copy(REAL, mine + ".new")
    os.rename(mine + ".new", mine)
verb = sys.argv[1]

def spoil(value):
    if isinstance(value, dict):
        return {key: spoil(one) for key, one in value.items()}
    if isinstance(value, list):
        return [spoil(one) for one in value]
    return value + EVIL if isinstance(value, str) else value

def forever(text):
    data = text.encode() * max(1, 65536 // len(text.encode()))
    while True:
        os.write(1, data)

if MODE == "words" and verb == "facts":
    said = json.loads(subprocess.run([mine, *sys.argv[1:]], stdout=subprocess.PIPE, check=True).stdout)
    for group in ("cpu", "os", "virt", "kernel", "disk", "memory"):
        said[group] = spoil(said[group])
    print(json.dumps(said, ensure_ascii=False))
    sys.exit(0)
if MODE == "words" and verb == "events":
    child = subprocess.Popen([mine, *sys.argv[1:]], stdout=subprocess.PIPE, text=True)
    for line in child.stdout:
        event = json.loads(line)
        if event["kind"] in ("trial_finished", "run_done"):
            event["reason"] = EVIL * 50
        if event["kind"] == "trial_finished" and event.get("verdict") != "ok":
            event["verdict"] = "exit" + EVIL
        print(json.dumps(event, ensure_ascii=False), flush=True)
    sys.stderr.write(EVIL)
    sys.exit(child.wait())
if MODE == "errors" and verb == "job":
    sys.stderr.write((EVIL + "\n") * 100000)
    sys.exit(9)
if MODE == "facts" and verb == "facts":
    forever("x")
if MODE == "events" and verb == "events":
    n = 0
    while True:
        n += 1
        os.write(1, json.dumps({"v": 1, "n": n, "t": 1, "kind": "noise", "x": "y" * 50000}).encode() + b"\n")
if MODE == "flood" and verb == "events":
    n = 0
    while True:
        n += 1
        os.write(1, json.dumps({"v": 1, "n": n, "t": 1, "kind": "trial_finished", "trial": 1, "verdict": "exit",
                                "reason": EVIL * 50}).encode() + b"\n")
if MODE == "pack" and verb == "pull":
    sys.stdout.write("benchctl-pack 1 1\n" + "a" * 64 + " 4 644 ../../../owned\n\nevil")
    sys.stdout.flush()
    forever("evil")
os.execv(mine, [mine, *sys.argv[1:]])
"""

OWN = "#!/bin/sh\nprintf '\\033[2Jwords\\n' >&2\nprintf 'case,metric,unit,value,better,check\\nanswer,time,us,42,lower,7\\n'\n"
FAILS = "#!/bin/sh\nprintf '\\033]0;owned\\007\\n' >&2\nprintf '\\033[2J,\\n'\nexit 9\n"

# Our own colours and cursor moves are for terminals only, and none is here.
CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u2028\u2029]")


@pytest.fixture
def hostile(bench: Bench, monkeypatch: pytest.MonkeyPatch):
    """benchctl as it is, with another agent beside it."""
    place = bench.home / "tree/build/bin"
    place.mkdir(parents=True)
    shutil.copy(conftest.BINARY, place / "benchctl")
    monkeypatch.setattr(conftest, "BINARY", place / "benchctl")
    bench.environment |= {
        "BENCHCTL_ROOT": str(SOURCE),
        "BENCHCTL_PYTHON": str(SOURCE / "analysis/.venv/bin/python"),
    }
    for name, text in (("own", OWN), ("fails", FAILS)):
        bench.program(name, text)
    real = place.parent / "real-agent"
    shutil.copy(REAL_AGENT, real)

    def of(mode: str) -> Bench:
        agent = place / "benchagent"
        agent.write_text(AGENT.replace("@MODE@", mode).replace("@REAL@", str(real)))
        agent.chmod(0o755)
        return bench

    return of


class Peak:
    """The controller's largest memory, as the kernel counts it."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.bytes = 0
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        while True:
            try:
                status = Path(f"/proc/{self.pid}/status").read_text()
                self.bytes = max(self.bytes, int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) << 10)
            except (OSError, TypeError):
                return
            time.sleep(0.05)


def carry(bench: Bench) -> tuple[int, str, str, int]:
    plan = bench.home / "plan.toml"
    plan.write_text(PLAN)
    trust = bench.sha256_of(plan)
    process = bench.start("run", "--plan", str(plan), "--id", "hostile", "--trust-plan", trust)
    peak = Peak(process.pid)
    out, err = process.communicate(timeout=300)
    return process.returncode, out, err, peak.bytes


def check_unharmed(bench: Bench, out: str, err: str, peak: int) -> None:
    for text in (out, err, (bench.home / "state/runs/hostile/progress.log").read_text()):
        found = CONTROL.search(text)
        assert found is None, repr(text[max(0, found.start() - 200) : found.end() + 50])
    print("peak", peak >> 20, "MiB; disk", size_of(bench.home / "state") >> 10, "KiB;", len(err), "bytes said")
    assert 0 < peak < 160 << 20
    assert size_of(bench.home / "state") < 64 << 20
    assert bench.json("machine", "list") == []
    assert not list(Path("/var/lib/benchctl/local").glob("*.hostile"))
    assert not list(Path("/").glob("owned"))
    assert not list(bench.home.rglob("owned"))
    # The store is sound and says how it ended.
    assert bench.query("PRAGMA quick_check") == [("ok",)]
    assert bench.json("status")[0]["outcome"] == "failed"


def size_of(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def test_words_reach_people_only_as_words(hostile) -> None:
    bench = hostile("words")
    code, out, err, peak = carry(bench)
    assert code == 6, err
    check_unharmed(bench, out, err, peak)
    assert "\\x1b]0;owned" in err
    folder = bench.home / "state/runs/hostile"
    reports = [folder / "summary.md", folder / "summary.csv", folder / "summary.txt", *(folder / "reports").iterdir()]
    assert len(reports) >= 5
    for path in reports:
        found = CONTROL.search(path.read_text())
        assert found is None, f"{path}: {path.read_text()[found.start() - 100 : found.end() + 20]!r}"
    for words in (["status", "hostile"], ["status", "--timing", "hostile"], ["logs", "1"], ["logs", "2"], ["report"]):
        shown = bench(*words)
        assert CONTROL.search(shown.out + shown.err) is None, words
    assert bench.query("SELECT DISTINCT value FROM v_samples WHERE metric = 'time'") == [(42.0,)]


@pytest.mark.parametrize(
    ("mode", "words"),
    [
        ("errors", "exit 9"),
        ("facts", "printed more than"),
        ("events", "events: more than"),
        ("flood", "events: more than"),
        ("pack", "unsafe path"),
    ],
)
def test_floods_end(hostile, mode: str, words: str) -> None:
    bench = hostile(mode)
    code, out, err, peak = carry(bench)
    assert code in {1, 4, 6}, err[-2000:]
    assert words in err
    check_unharmed(bench, out, err, peak)
