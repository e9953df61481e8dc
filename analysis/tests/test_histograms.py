from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchctl_analysis import histograms as h
from benchctl_analysis.latency import tail

HEAD = b"bucket_us,count\n"


def test_merged_quantile_is_that_of_all_samples() -> None:
    rng = np.random.default_rng(1)
    runs = [np.ceil(rng.lognormal(4, 0.4, 3000)) for _ in range(3)]
    made = [
        h.parse(
            HEAD + b"".join(b"%d,%d\n" % (v, c) for v, c in zip(*np.unique(r, return_counts=True), strict=True)), "x"
        )
        for r in runs
    ]
    for q in (0.5, 0.95, 0.99):
        value, why = h.merged_quantile(made, q)
        assert value == np.quantile(np.concatenate(runs), q, method="inverted_cdf")
        assert why == ""


def test_merging_is_the_histogram_of_the_concatenation() -> None:
    """With the buckets of the contract: n nanoseconds of b bits end at n with its lowest b - 9 bits set."""
    rng = np.random.default_rng(2)
    runs = [[int(n) for n in rng.lognormal(mean, 1.5, 2000)] for mean in (6, 11, 17)]

    def histogram(latencies: list[int]) -> h.Histogram:
        bounds = sorted(n | ((1 << max(0, n.bit_length() - 9)) - 1) for n in latencies)
        rows = [b"%d.%03d,%d\n" % (*divmod(n, 1000), bounds.count(n)) for n in sorted(set(bounds))]
        return h.parse(HEAD + b"".join(rows), "x")

    merged = h.merge([histogram(run) for run in runs])
    assert merged == histogram([n for run in runs for n in run])
    assert h.total(merged) == 6000
    assert merged != h.merge([histogram(run) for run in runs[:2]])


def test_too_few_exceedances_are_refused() -> None:
    value, why = h.merged_quantile([{1.0: 999}], 0.99)
    assert value is None
    assert "10 needed" in why
    assert h.merged_quantile([{1.0: 1001}], 0.99)[0] == 1.0
    assert h.merged_quantile([{}], 0.5) == (None, "no histogram")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "header"),
        (b"bucket,count\n1,2\n", "header"),
        (HEAD + b"1,2", "line end"),
        (HEAD + b"1;2\n", ":2: not a bucket"),
        (HEAD + b"nan,2\n", ":2: not a bucket"),
        (HEAD + b"-1,2\n", ":2: not a bucket"),
        (HEAD + b"1e3,2\n", ":2: not a bucket"),
        (HEAD + b"1,2,3\n", ":2: not a bucket"),
        (HEAD + b"1,\n", ":2: not a bucket"),
        (HEAD + b"2,1\n1,1\n", ":3: buckets must rise"),
        (HEAD + b"1,99999999999999999999\n", ":2: buckets"),
        (HEAD + b"9" * 70 + b",1\n", ":2: not a bucket"),
        (HEAD + "\uff11,2\n".encode(), "ASCII"),
        (HEAD + b"1,1\n" * (h.MAX_BUCKETS + 1), "more than"),
    ],
)
def test_hostile_histograms_are_refused(content: bytes, words: str) -> None:
    with pytest.raises(h.HistogramError, match=words):
        h.parse(content, "file")


def test_only_regular_files_below_the_folder_are_read(tmp_path: Path) -> None:
    root, outside = tmp_path / "run", tmp_path / "outside"
    (root / "a").mkdir(parents=True)
    outside.mkdir()
    (outside / "f").write_text("secret")
    (root / "a" / "f").write_text("mine")
    (root / "link").symlink_to(outside)
    (root / "a" / "flink").symlink_to(outside / "f")
    (root / "a" / "folder").mkdir()
    assert h.read_beneath(root, "a/f") == b"mine"
    for bad in ("link/f", "a/flink", "a/folder", "../outside/f", str(outside / "f"), "a/none", "none/f", ""):
        assert h.read_beneath(root, bad) is None
    (root / "a" / "big").write_bytes(b"x" * (h.MAX_BYTES + 1))
    with pytest.raises(h.HistogramError, match="more than"):
        h.read_beneath(root, "a/big")


def test_a_tail_is_the_share_of_requests_above() -> None:
    assert tail([{1.0: 90, 10.0: 5}, {10.0: 4, 100.0: 1}]) == [(1.0, 0.1), (10.0, 0.01), (100.0, 0.01)]
    assert tail([]) == []
    assert tail([{0.0: 5}]) == []


def test_a_drawn_tail_is_short_and_keeps_its_end() -> None:
    rng = np.random.default_rng(3)
    values, counts = np.unique(np.ceil(rng.lognormal(8, 1.0, 200_000)), return_counts=True)
    whole = dict(zip(values.tolist(), counts.tolist(), strict=True))
    points = tail([whole])
    assert 100 < len(points) <= 202
    assert points[-1] == (values[-1], 1 / 200_000)
    for bucket, share in points:
        exact = float(counts[values > bucket].sum()) / 200_000
        assert share == max(exact, 1 / 200_000)
