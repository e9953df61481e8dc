"""The store's views as data frames: opened read-only, nothing but views is read."""

from __future__ import annotations

import json
import math
import sqlite3
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pandas as pd

from benchctl_analysis.stats import middle

MAX_ROWS = 5_000_000  # of one view; a run of ten thousand trials has a tenth of it
MAX_JSON_BYTES = 16 << 20

# Rounds that measure nothing: what the runners do and are (controller/fleet/evidence.h).
EVIDENCE_ROUNDS = {-1000: "traces", -999: "infos"}


class LoadError(Exception):
    """What cannot be read, and what to do; goes to the user as it stands."""


@dataclass(frozen=True)
class Schedule:
    """What the plan says about rounds and noise; None where the plan's text is not at hand."""

    rounds: int | None = None
    order: str = ""
    seed: int | None = None
    max_steal_percent: float = 1.0  # above: flagged
    repeat_steal_percent: float = 5.0  # above: the point's round is repeated
    max_repeats_share: float = 0.2  # of all point-rounds; beyond it the session is quarantined


@dataclass
class RunData:
    run: str
    info: dict[str, Any]  # the row of v_runs, empty for an older store
    schedule: Schedule
    machines: pd.DataFrame
    trials: pd.DataFrame  # with `scored`, `left_out` (why a trial of a scored round is not) and `over` (too much steal)
    samples: pd.DataFrame  # one row a trial, case and metric: with `case`, the name without its runner
    traces: pd.DataFrame
    bundles: pd.DataFrame
    probes: pd.DataFrame
    left_out: pd.DataFrame  # arms of the plan that a machine did not run, and why
    bad_rows: list[str] = field(default_factory=list)  # refused values, each row named


def records(frame: pd.DataFrame) -> list[Any]:
    """The rows as named tuples; untyped, as a row's columns are the view's."""
    return list(frame.itertuples(index=False))


def parse_json(text: object) -> dict[str, Any]:
    """A JSON object, or {} for anything else: machine documents are hostile and optional."""
    if not isinstance(text, str) or not text or len(text) > MAX_JSON_BYTES:
        return {}
    try:
        value = json.loads(text, parse_constant=lambda _: None)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def open_store(path: Path) -> sqlite3.Connection:
    if not path.is_file():
        raise LoadError(f"{path}: no such store")
    connection: sqlite3.Connection | None = None
    try:
        connection = sqlite3.connect(f"file:{quote(str(path.absolute()))}?mode=ro", uri=True)
        connection.execute("PRAGMA query_only = ON")
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    except sqlite3.Error as error:
        if connection is not None:
            connection.close()
        raise LoadError(f"{path}: cannot be opened as a store: {error}") from error
    return connection


def _views(connection: sqlite3.Connection) -> set[str]:
    return {row[0] for row in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'view'")}


def _query(connection: sqlite3.Connection, sql: str, *parameters: object) -> pd.DataFrame:
    cursor = connection.execute(sql, parameters)
    columns = [column[0] for column in cursor.description]
    rows = cursor.fetchmany(MAX_ROWS + 1)
    if len(rows) > MAX_ROWS:
        raise LoadError(f"the run has more than {MAX_ROWS:,} rows in a view: too large for one report")
    return pd.DataFrame.from_records(rows, columns=columns)


def _share(value: object) -> float | None:
    """ "1%" or 0.01 -> percent."""
    try:
        if isinstance(value, str):
            text = value.strip()
            return float(text[:-1]) if text.endswith("%") else 100 * float(text)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return 100 * float(value)
    except ValueError:
        pass
    return None


def read_schedule(plan_text: str) -> Schedule:
    try:
        plan = tomllib.loads(plan_text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return Schedule()
    schedule, noise = plan.get("schedule", {}), plan.get("noise", {})
    if not isinstance(schedule, dict) or not isinstance(noise, dict):
        return Schedule()
    rounds, seed = schedule.get("runs"), schedule.get("seed")
    steal, repeat, repeats = (_share(noise.get(key)) for key in ("max_steal", "repeat_steal", "max_repeats"))
    default = Schedule()
    return Schedule(
        rounds=rounds if isinstance(rounds, int) else None,
        order=str(schedule.get("order", "")),
        seed=seed if isinstance(seed, int) else None,
        max_steal_percent=default.max_steal_percent if steal is None else steal,
        repeat_steal_percent=default.repeat_steal_percent if repeat is None else repeat,
        max_repeats_share=default.max_repeats_share if repeats is None else repeats / 100,
    )


def case_key(case: str, arm: str) -> str:
    """The case without the runner that it starts with, so that arms can be compared.

    "c_sqlite/app_request/edit" -> "app_request/edit"; "rust_rusqlite_query_only/app_request/edit" of the arm
    rust_rusqlite is a case that only this arm has: "app_request/edit (query_only)".
    """
    head, slash, rest = case.partition("/")
    if slash and head == arm:
        return rest
    if slash and head.startswith(arm + "_"):
        return f"{rest} ({head[len(arm) + 1 :]})"
    return case


def mark_scored(trials: pd.DataFrame) -> pd.DataFrame:
    """Adds `scored` and `left_out`.

    Scored: round > 0, verdict ok, and of the newest attempt of its round. The newest attempt is the newest of the
    whole round of that point, not of the arm alone: arms of different attempts share no block. It is the slot's newest,
    on whichever machine: a round that a resumed run began anew elsewhere counts there alone.
    """
    marked = trials.copy()
    newest = marked.groupby(["fleet", "slot", "point_hash", "round"])["attempt"].transform("max")
    warm_up, old, bad = marked["round"] <= 0, marked["attempt"] < newest, marked["verdict"] != "ok"
    marked["left_out"] = ""
    marked.loc[old, "left_out"] = "round repeated"
    marked.loc[bad, "left_out"] = marked.loc[bad, "verdict"]
    marked.loc[warm_up, "left_out"] = "warm-up"
    marked["scored"] = ~(warm_up | old | bad)
    return marked


LEAST_STOLEN_TICKS = 10  # agent/exec/repeat_rule.h: fewer are what the counter's grain can feign


def mark_over(trials: pd.DataFrame, schedule: Schedule) -> pd.DataFrame:
    """Adds `over`: what the agent's rule calls too much steal, in any round. NaN, not measured, is over no bound."""
    over = trials["steal_percent"].astype(float) > schedule.repeat_steal_percent
    for row in records(trials[over]):
        ticks = parse_json(row.record).get("steal_jiffies")
        if isinstance(ticks, int) and ticks < LEAST_STOLEN_TICKS:
            over[trials["trial_id"] == row.trial_id] = False
    return trials.assign(over=over)


def _collapse(samples: pd.DataFrame) -> pd.DataFrame:
    """Iteration 0 is the run itself; where a runner gave only iterations, their median stands for the run."""
    keys = ["trial_id", "case_name", "metric"]
    own = samples[samples["iteration"] == 0]
    inner = samples[samples["iteration"] > 0].merge(own[keys], on=keys, how="left", indicator=True)
    inner = inner[inner["_merge"] == "left_only"].drop(columns="_merge")
    if inner.empty:
        return own.drop(columns="iteration")
    grouped = inner.groupby(keys, as_index=False).agg(
        {"unit": "first", "better": "first", "value": "median", "check_text": "first"}
    )
    huge = grouped["value"].map(math.isinf)
    if bool(huge.any()):  # two middle values whose sum is beyond a double
        middles = inner.groupby(keys)["value"].agg(middle).reset_index()["value"]
        grouped.loc[huge, "value"] = middles[huge]
    return pd.concat([own.drop(columns="iteration"), grouped], ignore_index=True)


def _refuse_bad(samples: pd.DataFrame, trials: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Rows whose value is no finite number go, each named; null is "not measured" and stays."""
    values = pd.to_numeric(samples["value"], errors="coerce").astype(float)
    infinite = values.map(math.isinf)
    no_number = values.isna() & samples["value"].notna()
    bad = samples[infinite | no_number].merge(trials[["trial_id", "number", "attempt"]], on="trial_id")
    named = [
        f"trial {row.number} attempt {row.attempt}, case {row.case_name}, {row.metric}: {row.value} is no finite number"
        for row in records(bad)
    ]
    kept = samples.assign(value=values)[~(infinite | no_number)]
    return kept, named


def load(store: Path, run: str) -> RunData:
    connection = open_store(store)
    try:
        return _load(connection, run)
    except sqlite3.Error as error:
        raise LoadError(f"{store}: {error}; is this store of the same version as the analysis?") from error
    finally:
        connection.close()


def _load(connection: sqlite3.Connection, run: str) -> RunData:
    connection.execute("BEGIN")  # all views of one moment, whoever writes meanwhile
    views = _views(connection)
    missing = {"v_machines", "v_trials", "v_samples", "v_traces", "v_probes"} - views
    if missing:
        raise LoadError(f"the store lacks the views {', '.join(sorted(missing))}: written by an older benchctl")
    info: dict[str, Any] = {}
    if "v_runs" in views:
        rows = _query(connection, "SELECT * FROM v_runs WHERE run = ?", run).to_dict("records")
        if not rows:
            raise LoadError(f"the store has no run {run!r}")
        info = {str(key): value for key, value in rows[0].items()}
    machines = _query(connection, "SELECT * FROM v_machines WHERE run = ? ORDER BY fleet, slot, machine_id", run)
    trials = _query(connection, "SELECT * FROM v_trials WHERE run = ? ORDER BY machine_id, started_ms, trial_id", run)
    if machines.empty and not info:
        raise LoadError(f"the store has no run {run!r}")
    trials["aa_copy"] = trials["aa_copy"].astype(bool)
    trials = trials.merge(machines[["machine_id", "fleet", "slot"]], on="machine_id", how="left")
    samples = _query(
        connection,
        "SELECT x.* FROM v_samples x WHERE x.trial_id IN (SELECT trial_id FROM v_trials WHERE run = ?)",
        run,
    )
    samples, bad = _refuse_bad(samples, trials)
    samples = _collapse(samples).merge(
        mark_scored(trials)[
            [
                "trial_id",
                "machine_id",
                "suite",
                "mode",
                "point_hash",
                "point",
                "baseline",
                "arm",
                "aa_copy",
                "round",
                "attempt",
                "verdict",
                "scored",
                "number",
            ]
        ],
        on="trial_id",
    )
    samples["case"] = [case_key(c, a) for c, a in zip(samples["case_name"], samples["arm"], strict=True)]
    bundles = pd.DataFrame(columns=["bundle", "workload", "build", "manifest"])
    if "v_bundles" in views:
        bundles = _query(
            connection,
            "SELECT * FROM v_bundles WHERE bundle IN (SELECT bundle FROM v_trials WHERE run = ?) ORDER BY bundle",
            run,
        )
    left_out = pd.DataFrame(columns=["run", "machine_id", "machine", "suite", "arm", "kind", "reason"])
    if "v_left_out" in views:
        left_out = _query(connection, "SELECT * FROM v_left_out WHERE run = ? ORDER BY suite, arm, machine_id", run)
    schedule = read_schedule(str(info.get("plan_text", "")))
    return RunData(
        run=run,
        info=info,
        schedule=schedule,
        machines=machines,
        trials=mark_over(mark_scored(trials), schedule),
        samples=samples,
        traces=_query(connection, "SELECT * FROM v_traces WHERE run = ? ORDER BY suite, arm", run),
        bundles=bundles,
        probes=_query(connection, "SELECT * FROM v_probes WHERE run = ? ORDER BY machine_id, taken_ms", run),
        left_out=left_out,
        bad_rows=bad,
    )
