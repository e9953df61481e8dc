"""What ran, in which order, built of what: the tables that say what the results are results of."""

from __future__ import annotations

from typing import Any

import pandas as pd

from benchctl_analysis.compare import natural
from benchctl_analysis.load import EVIDENCE_ROUNDS, RunData, parse_json, records
from benchctl_analysis.parts import Cell, Table, cells
from benchctl_analysis.tables import MAX_TABLE_ROWS
from benchctl_analysis.text import sanitize


def order_table(trials: pd.DataFrame, functional: bool) -> Table | None:
    """The order really used: by start time, arms as letters, a cell a point."""
    if trials.empty:
        return None
    arms = sorted(trials["arm"].unique(), key=natural)
    baselines = set(trials["baseline"])
    arms.sort(key=lambda arm: arm not in baselines)
    letters = {arm: chr(ord("A") + i) if i < 26 else f"Z{i}" for i, arm in enumerate(arms)}
    rows = []
    by_round = trials.sort_values("started_ms").groupby("round")
    for number, group in by_round:
        parts: list[tuple[str, list[str]]] = []
        for trial in records(group):
            name = f"{trial.suite} {trial.point}".strip() + (
                "" if trial.attempt == 1 else f" (attempt {trial.attempt})"
            )
            letter = letters[trial.arm] + ("'" if trial.aa_copy else "")
            if not parts or parts[-1][0] != name:
                parts.append((name, []))
            parts[-1][1].append(letter)
        label = EVIDENCE_ROUNDS.get(int(str(number))) or f"{number}{' (warm-up)' if int(str(number)) <= 0 else ''}"
        rows.append(cells(label, " · ".join(f"{name}: {' '.join(order)}" for name, order in parts)))
    legend = ", ".join(f"{letter} = {arm}" for arm, letter in letters.items())
    copy = "; ' marks the baseline's duplicate" if bool(trials["aa_copy"].any()) else ""
    return Table("Order really used", [("Round", "r"), ("Order", "l")], rows, functional, [legend + copy + "."])


_INFO_KEYS = (
    ("Language", ("language", "language_version")),
    ("Driver", ("driver", "driver_version")),
    ("SQLite", ("sqlite_version",)),
    ("Source id", ("sqlite_source_id",)),
    ("Statement cache", ("statement_cache_size",)),
    ("Compile options", ("compile_options",)),
)


def _info(info: dict[str, Any], keys: tuple[str, ...]) -> str:
    said: list[str] = []
    for key in keys:
        value = info.get(key)
        if isinstance(value, list):
            said.append(f"{len(value)} set")
        elif value is not None and value != "" and sanitize(value, 100) not in said:
            said.append(sanitize(value, 100))
    return " ".join(said) or "not given"


def runner_table(data: RunData, functional: bool) -> Table | None:
    if data.traces.empty:
        return None
    rows: dict[str, list[Cell]] = {}
    sources: set[str] = set()
    options: set[str] = set()
    for trace in records(data.traces):
        info = parse_json(trace.info)
        row = [_info(info, keys) for _, keys in _INFO_KEYS]
        if info:
            sources.add(row[3])
            options.add(str(info.get("compile_options", "")))
        rows.setdefault(f"{trace.arm}\0{row}", cells(str(trace.arm), *row, str(trace.sha256)[:12]))
    notes = []
    if len(sources) > 1:
        notes.append("The runners do not all use the same SQLite: part of a difference can come from it.")
    elif len(options) > 1:
        notes.append(
            "The same SQLite source, but compiled with different options: part of a difference can come from it."
        )
    elif sources:
        notes.append("All runners use the same SQLite source.")
    columns = [("Runner", "l"), *((name, "l") for name, _ in _INFO_KEYS), ("Trace", "l")]
    return Table("Runners and the SQLite each really used", columns, list(rows.values()), functional, notes)


def options_table(data: RunData, functional: bool) -> Table | None:
    """SQLite's compile options that not every runner has, each with those that have it."""
    have: dict[str, set[str]] = {}
    for trace in records(data.traces):
        options = parse_json(trace.info).get("compile_options")
        if isinstance(options, list):
            have.setdefault(str(trace.arm), set()).update(sanitize(one, 100) for one in options[:400])
    every = [option for options in have.values() for option in options]
    differing = sorted(option for option in set(every) if every.count(option) < len(have))
    if not differing:
        return None
    rows = [
        [Cell(option), Cell(", ".join(arm for arm, options in have.items() if option in options), "wrap")]
        for option in differing[:MAX_TABLE_ROWS]
    ]
    notes = [f"Of {len(have)} runners: {', '.join(have)}. Options that all of them have are not listed."]
    columns = [("Compile option", "l"), ("Runners whose SQLite has it", "l")]
    return Table("SQLite compile options that differ", columns, rows, functional, notes)


def _versions(said: object) -> str:
    """What a toolchain says of itself: {"CC_VERSION": "12.2.0"} -> "12.2.0", or name=value where there are several."""
    if not isinstance(said, dict):
        return sanitize(said, 60)
    values = [(sanitize(k, 40), sanitize(v, 60)) for k, v in list(said.items())[:6]]
    return values[0][1] if len(values) == 1 else ", ".join(f"{k}={v}" for k, v in values)


def bundle_table(data: RunData, functional: bool) -> Table | None:
    if data.bundles.empty:
        return None
    rows = []
    for bundle in records(data.bundles):
        manifest = parse_json(bundle.manifest)
        tools = manifest.get("toolchains")
        names = list(tools.items())[:12] if isinstance(tools, dict) else []
        tool_text = "; ".join(f"{sanitize(name, 40)} {_versions(said)}".rstrip() for name, said in names) or "not given"
        target = ", ".join(sanitize(manifest[k], 40) for k in ("arch", "isa") if manifest.get(k)) or "not given"
        glibc = sanitize(manifest["min_glibc"], 20) if manifest.get("min_glibc") else "none"
        git = manifest.get("git")
        git = git if isinstance(git, dict) else {}
        commit = sanitize(git.get("commit") or "not given", 12) + (" (dirty)" if git.get("dirty") is True else "")
        origin = manifest.get("built_from")
        where = f"on the machine, from {sanitize(str(origin)[:12])}" if origin else "before the run"
        row = (
            str(bundle.bundle)[:12],
            str(bundle.workload),
            str(bundle.build),
            where,
            target,
            glibc,
            tool_text,
            commit,
        )
        rows.append(cells(*row))
    columns = [
        ("Bundle", "l"),
        ("Workload", "l"),
        ("Build", "l"),
        ("Built", "l"),
        ("Target", "l"),
        ("Needs glibc", "l"),
        ("Toolchains", "l"),
        ("Commit", "l"),
    ]
    return Table("Bundles", columns, rows, functional)
