"""The verb `report`: summaries beside the raw files of a run, a report a machine, a text for the terminal."""

from __future__ import annotations

import csv
import io
import os
import re
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from benchctl_analysis import machine_facts, numbers, pages, tables, terminal
from benchctl_analysis.compare import Comparison, Row, across_machines, compare
from benchctl_analysis.load import LoadError, RunData, load, parse_json, records
from benchctl_analysis.text import csv_cell, file_stem, markdown, sanitize, scrub

CSV_HEADER = (
    "machine",
    "suite",
    "point",
    "case",
    "arm",
    "metric",
    "unit",
    "n",
    "left_out",
    "median",
    "low",
    "high",
    "coverage",
    "ratio",
    "ratio_low",
    "ratio_high",
    "verdict",
    "functional",
)


@dataclass(frozen=True)
class ReportRequest:
    store: Path
    run: str
    out: Path  # the run's folder
    width: int = 80
    redact: bool = True
    colour: bool = False
    margin: float = 0.01  # the smallest effect that matters to the user, as a share
    templates: Path = Path(__file__).parents[2] / "reports" / "templates"


def _environment(folder: Path, html: bool) -> jinja2.Environment:
    """Every printed value passes the escape of its format; only our own Markup does not."""

    def inert(value: Any) -> Any:
        if isinstance(value, Markup | jinja2.Undefined):
            return value
        return sanitize(value, 4000) if html else Markup(markdown(value, 4000))

    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        autoescape=html,
        finalize=inert,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def write_file(path: Path, content: str) -> None:
    """New content or old content, never half."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            os.fchmod(file.fileno(), 0o644)
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def summary_csv(rows: list[Row], names: dict[int, str], functional: dict[int, bool]) -> str:
    """Full precision; the numbers are ours, the texts are guarded against spreadsheets."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(CSV_HEADER)
    for row in rows:
        interval, ratio = row.median.interval, row.ratio
        bounds = ("", "", "") if interval is None else (interval.low, interval.high, round(interval.coverage, 6))
        ratios: tuple[object, object, object] = ("", "", "")
        verdict = "baseline" if row.is_baseline else ""
        if ratio is not None:
            low_high = ("", "") if ratio.interval is None else (ratio.interval.low, ratio.interval.high)
            ratios = (ratio.estimate, *low_high)
            verdict = numbers.direction(ratio.verdict, row.better, row.unit)
        elif row.no_ratio:
            verdict = "refused" if row.no_ratio.startswith("refused") else "none"
        texts = [names[row.machine_id], row.suite, row.point, row.case, row.label, row.metric, row.unit]
        writer.writerow(
            [
                *map(csv_cell, texts),
                row.median.n,
                row.left_out,
                row.median.value,
                *bounds,
                *ratios,
                verdict,
                int(functional[row.machine_id]),
            ]
        )
    return buffer.getvalue()


def _stems(data: RunData) -> dict[int, str]:
    """File names of the machines' reports; a second machine of the same name gets its number."""
    stems: dict[int, str] = {}
    for machine in records(data.machines):
        fallback = f"machine-{machine.machine_id}"
        stem = file_stem(str(machine.machine), fallback)
        stems[int(machine.machine_id)] = fallback if stem.lower() in (s.lower() for s in stems.values()) else stem
    return stems


def _troubles(data: RunData, comparison: Comparison, redact: bool) -> list[str]:
    """What was noisy or failed and why, the worst first; one line each."""
    clean_text = scrub if redact else sanitize
    lines: list[str] = []
    for machine in records(data.machines):
        if machine.reason:
            lines.append(f"{sanitize(machine.machine, 40)}: {clean_text(machine.reason)}")
        aa = comparison.aa.get(int(machine.machine_id))
        if aa is not None and aa.check.failed:
            lines.append(
                f"{sanitize(machine.machine, 40)}: the A/A check failed (p = {aa.check.p:.2g}), no verdict stands"
            )
    failed = data.trials[data.trials["verdict"] != "ok"]
    for (name, suite, arm, verdict), group in failed.groupby(["machine", "suite", "arm", "verdict"], sort=False):
        reason = next((clean_text(r) for r in group["reason"] if r), "")
        first = group.iloc[0]
        where = f"{sanitize(name, 40)}: {sanitize(suite, 40)} {sanitize(arm, 40)}"
        times = f"{len(group)} trials" if len(group) > 1 else f"trial {first['number']}"
        lines.append(f"{where}: {times} {verdict}" + (f": {reason}" if reason else ""))
    repeated = data.trials[data.trials["left_out"] == "round repeated"]
    for name, group in repeated.groupby("machine", sort=False):
        lines.append(f"{sanitize(name, 40)}: {len(group)} trials of repeated rounds are kept but not scored")
    limit = data.schedule.max_steal_percent
    for name, group in data.trials[data.trials["steal_percent"].fillna(0) > 0].groupby("machine", sort=False):
        above = int((group["steal_percent"] > limit).sum())
        lines.append(
            f"{sanitize(name, 40)}: steal in {len(group)} trials, at most {numbers.digits(group['steal_percent'].max())} %"
            + (f"; {above} above {numbers.digits(limit)} % flagged" if above else f" (bound {numbers.digits(limit)} %)")
        )
    rounds = {row.ratio.n for row in comparison.rows if row.ratio is not None and row.ratio.verdict == "none"}
    if rounds:
        lines.append(f"no verdicts where fewer than 6 rounds are scored (here {min(rounds)})")
    return lines + comparison.notes


def _shared_tables(data: RunData, comparison: Comparison, isolated: dict[int, bool]) -> list[tables.Table]:
    rows = across_machines(comparison.rows, isolated)
    if not rows:
        return []
    body = [
        tables.cells(
            " ".join(filter(None, (row.suite, row.point))),
            row.case,
            row.arm,
            row.metric,
            f"{numbers.factor(ratio)} ({numbers.digits(i.low)} to {numbers.digits(i.high)})",
        )
        for row, ratio, i in rows
    ]
    columns = [("Point", "l"), ("Case", "l"), ("Runner", "l"), ("Metric", "l"), ("Ratio, 95 % interval", "l")]
    return [
        tables.Table("Across machines", columns, body, False, ["From the machines' own ratios, three or more of them."])
    ]


def _machine_tables(data: RunData, comparison: Comparison, machine_id: int, functional: bool) -> list[tables.Table]:
    rows = [row for row in comparison.rows if row.machine_id == machine_id]
    made = []
    for suite in pages.suite_order(rows):
        own = [row for row in rows if row.suite == suite]
        sequential = [row for row in own if row.metric == tables.SEQUENTIAL_METRIC]
        if sequential:
            made.append(tables.sequential_table(suite, sequential, functional))
        for case in dict.fromkeys(row.case for row in own if row.metric == tables.CONCURRENT_METRIC):
            errors = tables.error_totals(data, machine_id, suite, case)
            made.append(tables.throughput_table(suite, case, [r for r in own if r.case == case], errors, functional))
        other = [row for row in own if not tables.is_known(row.metric)]
        if other:
            made.append(tables.generic_table(suite, other, functional))
    return made


def report(request: ReportRequest) -> dict[str, Any]:
    if not request.out.is_dir():
        raise LoadError(f"{request.out}: no such run folder")
    if not (request.templates / "machine.html.j2").is_file():
        raise LoadError(f"{request.templates}: the report templates are missing; is the installation whole?")
    data = load(request.store, request.run)
    comparison = compare(data, request.margin)
    machines = records(data.machines)
    stems = _stems(data)
    isolated = {int(m.machine_id): bool(m.isolated) for m in machines}
    names = {int(m.machine_id): sanitize(m.machine, 80) for m in machines}
    folder = request.out / "reports"
    folder.mkdir(exist_ok=True)
    html, text = _environment(request.templates, True), _environment(request.templates, False)
    style = Markup((request.templates / "style.css").read_text("utf-8"))
    files: list[str] = []

    def put(relative: str, content: str) -> None:
        write_file(request.out / relative, content)
        files.append(relative)

    lines = []
    overview = []
    for machine in machines:
        key = int(machine.machine_id)
        page = pages.build(data, comparison, machine, request.out, request.redact)
        put(f"reports/{stems[key]}.html", html.get_template("machine.html.j2").render(page=page, style=style))
        markdown_text = text.get_template("machine.md.j2").render(page=page)
        put(f"reports/{stems[key]}.md", re.sub(r"\n{3,}", "\n\n", markdown_text))
        trials = data.trials[data.trials["machine_id"] == key]
        clean, flagged, failed, warm = pages.counts(trials, data.schedule.max_steal_percent)
        cpu = machine_facts.cpu_name(parse_json(machine.facts_before))
        smallest = pages.smallest_difference(comparison, key)
        name = f"reports/{stems[key]}.html"
        lines.append(
            terminal.MachineLine(key, names[key], cpu, not isolated[key], clean, flagged, failed, warm, smallest, name)
        )
        overview.append((page, stems[key], _machine_tables(data, comparison, key, not isolated[key])))
    put("summary.csv", summary_csv(comparison.rows, names, {key: not value for key, value in isolated.items()}))
    troubles = _troubles(data, comparison, request.redact)
    across = _shared_tables(data, comparison, isolated)
    summary = text.get_template("summary.md.j2").render(
        run=sanitize(data.run, 80),
        info=data.info,
        when=numbers.utc(data.info.get("created_ms")),
        machines=lines,
        overview=overview,
        refusals=comparison.refusals,
        troubles=troubles,
        across=across,
    )
    put("summary.md", re.sub(r"\n{3,}", "\n\n", summary))
    plan = sanitize(data.info.get("plan_name", ""), 60)
    outcome = sanitize(data.info.get("outcome", ""), 20)
    title = f"run {sanitize(data.run, 70)}" + (f", plan {plan}" if plan else "") + (f": {outcome}" if outcome else "")
    where = str(folder / (f"{stems[lines[0].machine_id]}.html" if len(lines) == 1 else "*.html"))
    shown = terminal.render(title, lines, comparison, troubles, where, request.width, request.colour)
    return {
        "terminal": shown,
        "files": files,
        "refusals": [{key: sanitize(value, 600) for key, value in asdict(r).items()} for r in comparison.refusals],
        "checks_disagree": bool(comparison.refusals),
    }
