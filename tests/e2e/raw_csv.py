"""An independent reader of a run's raw files, to hold against the store: only the standard library, no code of ours."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path

UNITS = {
    "sequential": {"micros": "total", "us_per_item": "per_item"},
    "concurrent": {
        "requests": "requests",
        "requests_per_second": "requests_per_second",
        "p50_us": "p50",
        "p95_us": "p95",
        "p99_us": "p99",
        "max_us": "max",
        "errors": "errors",
    },
}


def samples(folder: Path) -> Counter:
    """(machine, trial, attempt, case, metric, value, check) of every trial with verdict ok."""
    found: Counter = Counter()
    for record_path in sorted(folder.glob("machines/*/round-*/trials/*/a*/trial.json")):
        record = json.loads(record_path.read_text())
        spec = record["spec"]
        if record["verdict"] != "ok" or spec["format"] not in UNITS:
            continue
        machine = record_path.relative_to(folder).parts[1]
        with (record_path.parent / "stdout").open(newline="") as file:
            for row in csv.DictReader(file):
                for column, metric in UNITS[spec["format"]].items():
                    key = (
                        machine,
                        spec["trial"],
                        spec["attempt"],
                        row["case"],
                        metric,
                        float(row[column]),
                        row.get("check"),
                    )
                    found[key] += 1
    return found
