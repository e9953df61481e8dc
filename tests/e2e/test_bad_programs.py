"""Programs that misbehave: each its own message and exit code, other results intact, the machine gone."""

from __future__ import annotations

import pytest
from conftest import FIXTURES, Bench, needs_root

# name -> (verdict, words of the reason, exit code of the run)
BAD = {
    "hang": ("timeout", "descendant", 6),
    "killed": ("signal", "SIGKILL", 6),
    "exit9": ("exit", "9", 6),
    "half_row": ("malformed", "line end", 6),
    "decimal_comma": ("malformed", ":2", 6),
    "not_a_number": ("malformed", ":2", 6),
    "flood": ("output_limit", "MiB", 6),
    "unsupported": ("unsupported", "needs a CPU", 6),
    "missing": ("missing", "No such file", 6),
    "crash": ("signal", "SIGSEGV", 6),
}


def plan_with(names: list[str], provider: str, home) -> str:
    text = f'schema = 1\nname = "bad"\n[fleet.m]\nprovider = "{provider}"\n'
    text += '[limits]\ntrial_timeout = "3s"\n[schedule]\nruns = 2\nwarmup_rounds = 0\n'
    for name in names:
        program = home / name
        program.write_text((FIXTURES / f"{name}.sh").read_text())
        program.chmod(0o755)
        text += f'[[suite]]\nname = "{name.replace("_", "-")}"\ncommand = ["./{name}"]\nformat = "generic"\n'
    return text


@needs_root
def test_all_of_them_beside_a_good_one(bench: Bench, nothing_left: None) -> None:
    done, run, _ = bench.run_plan(plan_with([*BAD, "one_row"], "nspawn", bench.home))
    assert done.code == 6, done.err
    trials = bench.query("SELECT suite, verdict, reason FROM v_trials WHERE run = ?", run)
    assert len(trials) == 2 * (len(BAD) + 1)
    for name, (verdict, words, _) in BAD.items():
        mine = [(v, reason) for suite, v, reason in trials if suite == name.replace("_", "-")]
        assert len(mine) == 2
        for found, reason in mine:
            assert found == verdict, (name, found, reason)
            assert words in reason, (name, reason)
        assert f"{name.replace('_', '-')}" in done.err
    assert [v for suite, v, _ in trials if suite == "one-row"] == ["ok", "ok"]
    values = bench.query("SELECT value FROM v_samples s JOIN v_trials t USING (trial_id) WHERE t.suite = 'one-row'")
    assert values == [(42.0,), (42.0,)]
    assert bench.query("SELECT state FROM v_machines WHERE run = ?", run) == [("gone",)]


@pytest.mark.parametrize("name", sorted(BAD))
def test_each_alone_has_its_exit_code(bench: Bench, name: str) -> None:
    done, _run, _ = bench.run_plan(plan_with([name], "local", bench.home), "--runs", "1")
    verdict, words, code = BAD[name]
    assert done.code == code, done.err
    assert verdict in done.err
    assert words in done.err
    assert bench.query("SELECT count(*) FROM v_samples") == [(0,)]
