"""The verb `report`: summaries beside the raw files of a run, a report a machine, a text for the terminal."""

from __future__ import annotations

import csv
import io
import os
import re
import tempfile
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from benchctl_analysis import (
    blocks,
    caveats,
    claims_section,
    machine_facts,
    numbers,
    pages,
    side_by_side,
    tables,
    terminal,
    troubles,
)
from benchctl_analysis.claims import judge, read_claims
from benchctl_analysis.compare import Comparison, Row, across_machines, compare
from benchctl_analysis.load import LoadError, RunData, load, parse_json, records
from benchctl_analysis.parts import Table, cells, plural
from benchctl_analysis.quiet_section import smallest_difference
from benchctl_analysis.results import suite_order
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
    "median_with_left_out",
    "ratio_with_left_out",
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
    claims: list[dict[str, Any]] = field(default_factory=list)


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
                "" if row.median_with_left_out is None else row.median_with_left_out,
                "" if row.ratio_with_left_out is None else row.ratio_with_left_out.estimate,
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


def _shared_tables(data: RunData, comparison: Comparison, isolated: dict[int, bool]) -> list[Table]:
    usable = {key: alone and key not in comparison.faults for key, alone in isolated.items()}
    rows = across_machines(comparison.rows, usable)
    if not rows:
        return []
    body = [
        cells(
            " ".join(filter(None, (row.suite, row.point))),
            row.case,
            row.arm,
            row.metric,
            f"{numbers.factor(ratio)} ({numbers.digits(i.low)} to {numbers.digits(i.high)})",
        )
        for row, ratio, i in rows
    ]
    columns = [("Point", "l"), ("Case", "l"), ("Runner", "l"), ("Metric", "l"), ("Ratio, 95 % interval", "l")]
    notes = ["From the machines' own ratios, three or more of them."]
    if comparison.faults:
        notes.append(f"Left out: {plural(len(comparison.faults), 'machine')} whose session decides nothing.")
    return [Table("Across machines", columns, body, False, notes)]


def _machine_tables(
    data: RunData, comparison: Comparison, machine_id: int, functional: bool, clean: caveats.Clean
) -> list[Table]:
    rows = [row for row in comparison.rows if row.machine_id == machine_id]
    made: list[Table] = []
    for suite in suite_order(rows):
        own = [row for row in rows if row.suite == suite]
        first = len(made)
        sequential = [row for row in own if row.metric == tables.SEQUENTIAL_METRIC]
        if sequential:
            made.append(tables.sequential_table(suite, sequential, functional))
        for case in tables.concurrent_cases(own)[0]:
            errors = tables.error_totals(data, machine_id, suite, case)
            made.append(tables.throughput_table(suite, case, [r for r in own if r.case == case], errors, functional))
        other = [row for row in own if not tables.is_known(row.metric)]
        if other:
            made.append(tables.generic_table(suite, other, functional))
        beside = side_by_side.table(data, suite, own, functional)
        if beside is not None:
            made.append(beside)
        if len(made) > first:
            made[first].notes += caveats.left_out_notes(data, suite, clean, machine_id)
    return made


def report(request: ReportRequest) -> dict[str, Any]:
    if not request.out.is_dir():
        raise LoadError(f"{request.out}: no such run folder")
    if not (request.templates / "machine.html.j2").is_file():
        raise LoadError(f"{request.templates}: the report templates are missing; is the installation whole?")
    data = load(request.store, request.run)
    comparison = compare(data, request.margin)
    judged = judge(data, comparison, read_claims(request.claims))
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

    clean_text = scrub if request.redact else sanitize
    idle = {machine.machine_id: machine for machine in blocks.idle_machines(data, clean_text)}
    quarantined = {key for key, noise in comparison.noise.items() if noise.quarantine}
    lines = []
    overview = []
    for machine in machines:
        key = int(machine.machine_id)
        if key in idle:
            page = pages.build_idle(data, machine, idle[key], request.redact)
        else:
            own = [one for one in judged if one.machine_id == key]
            page = pages.build(data, comparison, machine, request.out, request.redact, own)
        put(f"reports/{stems[key]}.html", html.get_template("machine.html.j2").render(page=page, style=style))
        markdown_text = text.get_template("machine.md.j2").render(page=page)
        put(f"reports/{stems[key]}.md", re.sub(r"\n{3,}", "\n\n", markdown_text))
        if key in idle:
            continue
        trials = data.trials[data.trials["machine_id"] == key]
        clean, flagged, failed, warm = pages.counts(trials, data.schedule.max_steal_percent)
        lines.append(
            terminal.MachineLine(
                machine_id=key,
                name=names[key],
                cpu=machine_facts.cpu_name(parse_json(machine.facts_before)),
                functional=not isolated[key],
                quiet="quarantined" if key in quarantined else pages.grade_of(data, comparison, machine).letter,
                clean=clean,
                flagged=flagged,
                failed=failed,
                warm_up=warm,
                smallest=smallest_difference(comparison, key),
                report=f"reports/{stems[key]}.html",
            )
        )
        shown = _machine_tables(data, comparison, key, not isolated[key], clean_text)
        if own:
            shown.append(claims_section.claims_table(own, not isolated[key]))
        overview.append((page, stems[key], shown))
    put("summary.csv", summary_csv(comparison.rows, names, {key: not value for key, value in isolated.items()}))
    trouble_lines = troubles.troubles(data, comparison, clean_text)
    on_top = troubles.quarantines(data, comparison)
    summary = text.get_template("summary.md.j2").render(
        run=sanitize(data.run, 80),
        info=data.info,
        when=numbers.utc(data.info.get("created_ms")),
        machines=lines,
        overview=overview,
        quarantines=on_top,
        refusals=comparison.refusals,
        troubles=trouble_lines,
        across=_shared_tables(data, comparison, isolated),
        idle=[table] if (table := blocks.idle_table(list(idle.values()), not all(isolated.values()))) else [],
        slots=[blocks.slots_note(told) for _, told in blocks.shared_slots(data)],
    )
    put("summary.md", re.sub(r"\n{3,}", "\n\n", summary))
    plan = sanitize(data.info.get("plan_name", ""), 60)
    outcome = sanitize(data.info.get("outcome", ""), 20)
    title = f"run {sanitize(data.run, 70)}" + (f", plan {plan}" if plan else "") + (f": {outcome}" if outcome else "")
    where = [str(request.out / line.report) for line in lines] or [str(request.out / "summary.md")]
    of_claims = claims_section.by_machine(data.machines, judged)
    said = claims_section.summary(of_claims, min(max(request.width, 40), 200))
    text_shown = terminal.render(
        title, lines, comparison, on_top, trouble_lines, where, request.width, request.colour, said
    )
    return {
        "terminal": text_shown,
        "files": files,
        "refusals": [{key: sanitize(value, 600) for key, value in asdict(r).items()} for r in comparison.refusals],
        "checks_disagree": bool(comparison.refusals),
        "claims": claims_section.answers(of_claims),
    }
