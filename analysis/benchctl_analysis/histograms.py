"""Latency histograms of the runs: merged, never averaged. The files come from a machine: hostile input."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from pathlib import Path

MAX_BYTES = 8 << 20
MAX_BUCKETS = 200_000
MAX_COUNT = 1 << 53
MIN_EXCEEDANCES = 10  # expected in each run; a quantile with fewer is refused

Histogram = dict[float, int]  # bucket's upper bound in microseconds -> count


class HistogramError(Exception):
    """Which file, which line, what is wrong."""


def read_beneath(root: Path, relative: str) -> bytes | None:
    """A regular file below root, no link followed on the way; None when there is none."""
    parts = Path(relative).parts
    if not parts or Path(relative).is_absolute() or ".." in parts:
        return None
    folder = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in parts[:-1]:
            inner = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
            os.close(folder)
            folder = inner
        handle = os.open(parts[-1], os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    except OSError:
        return None
    finally:
        os.close(folder)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        return None
    with os.fdopen(handle, "rb") as file:
        content = file.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise HistogramError(f"{relative}: more than {MAX_BYTES >> 20} MiB")
    return content


def parse(content: bytes, name: str) -> Histogram:
    """`bucket_us,count` with rising buckets."""
    try:
        lines = content.decode("ascii").split("\n")
    except UnicodeDecodeError as error:
        raise HistogramError(f"{name}: not ASCII") from error
    if lines[0] != "bucket_us,count" or lines[-1] != "":
        raise HistogramError(f"{name}: needs the header bucket_us,count and a line end after every row")
    if len(lines) > MAX_BUCKETS:
        raise HistogramError(f"{name}: more than {MAX_BUCKETS} buckets")
    histogram: Histogram = {}
    last = -1.0
    for number, line in enumerate(lines[1:-1], start=2):
        bucket_text, comma, count_text = line.partition(",")
        plain = bucket_text.replace(".", "", 1).isdigit() and count_text.isdigit() and len(line) < 60
        if not comma or not plain:
            raise HistogramError(f"{name}:{number}: not a bucket and a count")
        bucket, count = float(bucket_text), int(count_text)
        if bucket <= last or count > MAX_COUNT:
            raise HistogramError(f"{name}:{number}: buckets must rise and counts stay below 2^53")
        last = bucket
        if count:
            histogram[bucket] = count
    return histogram


def file_for(trial_folder: str, case_name: str) -> str:
    return f"{trial_folder}/out/{case_name.replace('/', '_')}.hist.csv"


def merge(histograms: Iterable[Histogram]) -> Histogram:
    merged: Histogram = {}
    for histogram in histograms:
        for bucket, count in histogram.items():
            merged[bucket] = merged.get(bucket, 0) + count
    return dict(sorted(merged.items()))


def total(histogram: Histogram) -> int:
    return sum(histogram.values())


def quantile(histogram: Histogram, q: float) -> float:
    """The least bucket with at least q of all counts at or below it (inverse of the empirical distribution)."""
    need = q * total(histogram)
    seen = 0
    for bucket, count in sorted(histogram.items()):
        seen += count
        if seen >= need:
            return bucket
    raise HistogramError("an empty histogram has no quantile")


def merged_quantile(histograms: list[Histogram], q: float) -> tuple[float | None, str]:
    """The quantile of the merged runs, or None with the reason of the refusal."""
    filled = [histogram for histogram in histograms if total(histogram)]
    if not filled:
        return None, "no histogram"
    expected = min(total(histogram) for histogram in filled) * (1 - q)
    if expected < MIN_EXCEEDANCES:
        return None, f"{expected:.3g} requests expected above it in a run, {MIN_EXCEEDANCES} needed"
    return quantile(merge(filled), q), ""
