"""Latency over all requests of all runs: the histograms that runners left, merged; never averages of percentiles."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from benchctl_analysis import histograms, numbers
from benchctl_analysis.compare import Row
from benchctl_analysis.histograms import Histogram
from benchctl_analysis.load import RunData, records

NO_HISTOGRAM = "no histogram"
_STEPS = 200  # points of a drawn curve; more than a page shows
_KEPT = 64  # merged histograms, so that table and plot of a case read its files once


class Histograms:
    """Files are looked for below the run's folder, and read when a row asks; what is wrong with one is noted once."""

    def __init__(self, data: RunData, root: Path, notes: list[str]) -> None:
        self._folders = {int(t.trial_id): str(t.folder) for t in records(data.trials)}
        self._names = {(int(s.trial_id), s.case): str(s.case_name) for s in records(data.samples)}
        self._root, self._notes = root, notes
        self._known: dict[tuple[tuple[int, ...], str], list[Histogram]] = {}

    def of(self, row: Row) -> list[Histogram]:
        key = (row.trials, row.case)
        if key not in self._known:
            if len(self._known) >= _KEPT:
                self._known.pop(next(iter(self._known)))
            self._known[key] = self._read(row)
        return self._known[key]

    def _read(self, row: Row) -> list[Histogram]:
        found: list[Histogram] = []
        for trial in row.trials:
            name = histograms.file_for(self._folders[trial], self._names[trial, row.case])
            try:
                content = histograms.read_beneath(self._root, name)
                if content is not None:
                    found.append(histograms.parse(content, name))
            except (histograms.HistogramError, OSError) as error:
                note = f"histogram left out: {error}"
                if note not in self._notes:
                    self._notes.append(note)
        return found

    def quantile(self, row: Row, q: float) -> str:
        found = self.of(row)
        if not found:
            return NO_HISTOGRAM
        value, why = histograms.merged_quantile(found, q)
        return f"refused: {why}" if value is None else numbers.quantity(value, "us")


def tail(found: Sequence[Histogram]) -> list[tuple[float, float]]:
    """(microseconds, share of all requests that took longer), at most _STEPS of them, evenly in the logarithm.

    The last point has the share of a single request: a logarithm has no zero.
    """
    merged = histograms.merge(found)
    total = histograms.total(merged)
    if not total:
        return []
    points: list[tuple[float, float]] = []
    buckets = [bucket for bucket in merged if bucket > 0]
    if not buckets:
        return []
    least = (math.log(buckets[-1]) - math.log(buckets[0])) / _STEPS
    seen, last = 0, -math.inf
    for bucket, count in merged.items():
        seen += count
        if bucket <= 0:
            continue
        if bucket == buckets[-1] or math.log(bucket) - last >= least:
            points.append((bucket, max(total - seen, 1) / total))
            last = math.log(bucket)
    return points
