"""The main job without root, on this computer as it is."""

from __future__ import annotations

from conftest import THE_JOB, Bench, unprivileged
from raw_csv import samples

PLAN = (
    """
schema = 1
name = "here"

[fleet.here]
provider = "local"
"""
    + THE_JOB
)


def test_local_without_root(bench: Bench, nothing_left: None) -> None:
    bench = unprivileged(bench)
    done, run, folder = bench.run_plan(PLAN)
    assert done.code == 0, done.err
    raw = samples(folder)
    stored = bench.query(
        "SELECT t.machine, t.number, t.attempt, s.case_name, s.metric, s.value, s.check_text FROM v_samples s"
        " JOIN v_trials t USING (trial_id) WHERE t.run = ?",
        run,
    )
    assert len(stored) == sum(raw.values()) > 0
    assert set(stored) == set(raw)
    # Weaker containment is said.
    containment = bench.query("SELECT DISTINCT json_extract(record, '$.containment') FROM v_trials WHERE run = ?", run)
    assert all("not root" in text for (text,) in containment)
    assert "functional" in done.out
    # The agent's folder is gone, the results are not.
    assert not list((bench.home / "state/local").glob("*"))


def test_second_run_names_the_holder(bench: Bench) -> None:
    bench = unprivileged(bench)
    plan = bench.home / "long.toml"
    plan.write_text(PLAN)
    first = bench.start("run", "--plan", str(plan), "--id", "first-run")
    try:
        for line in first.stderr:
            if "run first-run" in line:
                break
        second = bench("run", "--plan", str(plan))
        assert second.code == 7
        assert "first-run" in second.err
        assert str(first.pid) in second.err
    finally:
        cancelled = bench("cancel", "first-run")
        _out, err = first.communicate(timeout=120)
    assert cancelled.code == 0, cancelled.err
    assert first.returncode == 7, err
    assert bench.json("status")[0]["outcome"] == "interrupted"


def test_try_prints_the_equivalent_plan(bench: Bench) -> None:
    bench = unprivileged(bench)
    (bench.home / "mine").write_text("#!/bin/sh\nexec sleep 0.01\n")
    (bench.home / "mine").chmod(0o755)
    done = bench("try", "--runs", "6", "--", "./mine")
    assert done.code == 0, done.err
    plan = done.err[done.err.index("schema = 1") :]
    (bench.home / "again.toml").write_text(plan)
    # A program of one's own on this computer wants trust once, by the plan's hash; `try` was typed by its user.
    again = bench("run", "--plan", str(bench.home / "again.toml"), "--dry-run")
    assert again.code == 2
    trust = next(word for word in again.err.split() if len(word.strip(".,;:")) == 64).strip(".,;:")
    again = bench("run", "--plan", str(bench.home / "again.toml"), "--dry-run", "--trust-plan", trust)
    assert again.code == 0, again.err
    elsewhere = bench("try", "--", "/bin/true")
    assert elsewhere.code == 2
    assert "below" in elsewhere.err
    walls = bench.query(
        "SELECT count(*) FROM v_samples s JOIN v_trials t USING (trial_id) WHERE s.metric = 'wall' AND t.round > 0"
    )
    assert walls == [(6,)]


def test_detach_and_attach(bench: Bench) -> None:
    bench = unprivileged(bench)
    plan = bench.home / "short.toml"
    plan.write_text(PLAN)
    run = bench("run", "--plan", str(plan), "--runs", "1", "--only", "request_shape.sequential", "--detach").out.strip()
    for _ in range(200):
        if any(row["run"] == run for row in bench.json("status")):
            break
    attached = bench("attach", run)
    assert attached.code == 0, attached.err
    assert "c_sqlite" in attached.out
