"""One request in, one answer out, mismatches refused loudly."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from store_maker import StoreMaker, example

Send = Callable[[str], dict[str, Any]]


@pytest.mark.parametrize(
    ("request_text", "words"),
    [
        ("", "no JSON"),
        ("[]", "no JSON object"),
        ("{}", "speaks protocol None, this analysis speaks 1"),
        ('{"protocol": 2, "verb": "report"}', "speaks protocol 2, this analysis speaks 1"),
        ('{"protocol": true, "verb": "report"}', "speaks protocol True"),
        ('{"protocol": 1}', "unknown verb None"),
        ('{"protocol": 1, "verb": "drop"}', "unknown verb 'drop'"),
        ('{"protocol": 1, "verb": "report"}', "lacks store, run, out"),
        ('{"protocol": 1, "verb": "report", "store": 1}', "'store' has the wrong type"),
        ('{"protocol": 1, "verb": "report", "width": true}', "'width' has the wrong type"),
        ('{"protocol": 1, "verb": "report", "colr": true}', "unknown member 'colr'"),
        ('{"protocol": 1, "verb": "report", "store": "/s", "run": "r", "out": "/o", "margin": -1}', "margin"),
        ("[" * 100_000, "no JSON"),
        (" " * (1 << 20) + "{}", "too long"),
    ],
)
def test_bad_requests_are_refused(send: Send, request_text: str, words: str) -> None:
    answer = send(request_text)
    assert answer["protocol"] == 1
    assert answer["ok"] is False
    assert words in answer["error"]


def request(store: Path, run: str = "r1") -> str:
    return json.dumps({"protocol": 1, "verb": "report", "store": str(store), "run": run, "out": str(store.parent)})


def test_stores_that_cannot_be_read(send: Send, tmp_path: Path) -> None:
    assert "no such store" in send(request(tmp_path / "none.db"))["error"]
    (tmp_path / "text.db").write_text("hello, this is no database at all")
    assert "cannot be opened" in send(request(tmp_path / "text.db"))["error"]
    sqlite3.connect(tmp_path / "empty.db").execute("CREATE TABLE x (y)").connection.close()
    assert "lacks the views v_machines" in send(request(tmp_path / "empty.db"))["error"]
    store = StoreMaker(tmp_path / "store.db").close()
    assert "no run 'other'" in send(request(store, "other"))["error"]


def test_version_names_the_packages(send: Send) -> None:
    assert set(send('{"protocol": 1, "verb": "version"}')["packages"]) >= {"numpy", "pandas", "scipy"}


def test_as_a_program_in_a_bare_environment(tmp_path: Path) -> None:
    store = example(tmp_path / "a b?#%.db", machines=("small-1",), rounds=6).close()
    package = Path(__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-P", "-s", "-m", "benchctl_analysis"],
        input=request(store), capture_output=True, text=True, timeout=300, cwd="/", check=False,
        env={"PATH": os.defpath, "PYTHONPATH": str(package), "PYTHONDONTWRITEBYTECODE": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["ok"] is True
    assert done.stderr == ""
