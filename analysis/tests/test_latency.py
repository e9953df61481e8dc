"""Percentiles in the report: over all requests of all runs or refused, and of which kind of load."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from store_maker import example
from test_report import page

Report = Callable[..., dict[str, Any]]


def test_merged_percentile_needs_enough_requests(tmp_path: Path, report: Report) -> None:
    maker = example(tmp_path / "store.db", machines=("small-1",))
    query = "SELECT folder, arm, params FROM v_trials WHERE suite = 'concurrent'"
    for folder, arm, params in maker.db.execute(query).fetchall():
        out = tmp_path / folder / "out"
        out.mkdir(parents=True)
        scale = 100 if json.loads(params)["workers"] == 1 else 1
        content = f"bucket_us,count\n50.0,{15 * scale}\n200.0,{4 * scale}\n910.0,{scale}\n"
        (out / f"{arm}_app_request_read.hist.csv").write_text(content)
    store = maker.close()
    report(store)
    html = page(store, "small-1")
    assert "p99, merged" in html
    for point in ("workers=1", "workers=2", "workers=4"):
        assert f"<figcaption>concurrent {point} app_request/read: share of requests that took longer" in html
    assert "app_request/write: share of requests" not in html
    # What is refused for the same reason is said once.
    assert html.count("p99, merged, refused: ") == 1
    assert "workers=2 c_sqlite; workers=2 c_sqlite (A/A copy); workers=2 rust_rusqlite and 3 more" in html


def test_an_open_loop_is_not_called_a_closed_one(tmp_path: Path, report: Report) -> None:
    maker = example(tmp_path / "store.db", machines=("small-1",))
    maker.db.execute("UPDATE name SET text = replace(text, 'app_request/read', 'app_request/open_read')")
    store = maker.close()
    report(store)
    html = page(store, "small-1")
    assert html.count("Open loop: ") == 1
    assert html.count("Closed loop: ") == 1  # the writes'
