"""The main job on two disposable machines, held against the raw files and against what was there before."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

from conftest import FIXTURES, THE_JOB, Bench, needs_root
from raw_csv import samples

PLAN = (
    """
schema = 1
name = "two-machines"

[fleet.pair]
provider = "nspawn"
image = "trixie"
count = 2
"""
    + THE_JOB
)

# Channels of one machine's whole life: every SSH round trip that a change adds shows here.
# connect 1, agent 3 (probe, upload, facts), bundles 2, start 1, follow 2, pull: 8 rounds + 2 of evidence + 1.
MOST_CHANNELS = 24


@needs_root
def test_two_machines(bench: Bench, nothing_left: None) -> None:
    done, run, folder = bench.run_plan(PLAN)
    assert done.code == 0, done.err

    # Every sample in the store equals the raw CSV, and there is nothing beside them.
    raw = samples(folder)
    stored = bench.query(
        "SELECT t.machine, t.number, t.attempt, s.case_name, s.metric, s.value, s.check_text FROM v_samples s"
        " JOIN v_trials t USING (trial_id) WHERE t.run = ?",
        run,
    )
    assert len(stored) == sum(raw.values())
    assert set(stored) == set(raw)
    # 2 machines x 8 rounds x (2 arms + copy) sequential, (2 arms) x 3 points + a copy at two of them.
    trials = bench.query("SELECT count(*) FROM v_trials WHERE run = ? AND round > -900 AND verdict = 'ok'", run)
    assert trials == [(2 * 8 * (3 + 3 * 2 + 2),)]

    # Trials of this computer never overlap, whichever machine they ran on.
    spans = []
    for path in folder.glob("machines/*/round-*/trials/*/a*/trial.json"):
        record = json.loads(path.read_text())
        spans.append((record["started_unix_ms"], record["started_unix_ms"] + record["wall_ns"] / 1e6))
    spans.sort()
    assert all(end <= begin + 1 for (_, end), (begin, _) in itertools.pairwise(spans))
    assert len({path.parts[-6] for path in folder.glob("machines/*/round-*/trials/*/a*/trial.json")}) == 2

    # What people see.
    assert "functional" in done.out
    for name in ("summary.md", "summary.csv"):
        assert "functional" in (folder / name).read_text()
    reports = sorted(path.name for path in (folder / "reports").iterdir())
    machines = sorted(path.name for path in (folder / "machines").iterdir())
    assert reports == sorted(f"{machine}.{kind}" for machine in machines for kind in ("html", "md"))

    # Where each second went, and what it cost in round trips.
    status = json.loads(bench("status", "--timing", run, "--json").out)
    for machine in status["machines"]:
        names = [step["step"] for step in machine["steps"]]
        assert names[:4] == ["create", "connect", "facts", "equip"]
        assert names[-1] == "destroy"
        assert all(step["outcome"] == "ok" for step in machine["steps"])
        assert machine["state"] == "gone"
        assert sum(step["channels"] for step in machine["steps"]) <= MOST_CHANNELS
    print(bench("status", "--timing", run).out)


@needs_root
def test_root_of_a_machine_cannot_write_the_hosts_kernel(bench: Bench, nothing_left: None) -> None:
    """Trials are unprivileged; this one asks through `machine ssh`, as root of a kept machine."""
    (bench.home / "one").write_text((FIXTURES / "one_row.sh").read_text())
    (bench.home / "one").chmod(0o755)
    before = Path("/proc/sys/kernel/core_pattern").read_text()
    plan = 'schema = 1\nname = "kept"\n[fleet.m]\nprovider = "nspawn"\n[schedule]\nruns = 1\nwarmup_rounds = 0\n'
    plan += '[[suite]]\nname = "one"\ncommand = ["./one"]\nformat = "generic"\n'
    done, run, _ = bench.run_plan(plan, "--keep", "10m")
    assert done.code == 0, done.err
    machine = bench.json("machine", "list")[0]["machine"]
    try:
        wrote = bench("machine", "ssh", machine, "--", "sh", "-c", "id -u; echo owned > /proc/sys/kernel/core_pattern")
        assert wrote.out.startswith("0\n")
        assert wrote.code != 0
        assert Path("/proc/sys/kernel/core_pattern").read_text() == before
    finally:
        reaped = bench("reap", "--run", run)
    assert reaped.code == 0, reaped.err
    assert bench.json("machine", "list") == []
