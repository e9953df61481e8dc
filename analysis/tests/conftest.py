from __future__ import annotations

import io
import json
import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from store_maker import CHECKS, StoreMaker, sequential_samples

from benchctl_analysis import __main__ as protocol

Ask = Callable[..., dict[str, Any]]


class _Input:
    def __init__(self, text: str) -> None:
        self.buffer = io.BytesIO(text.encode())


@pytest.fixture
def send(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[[str], dict[str, Any]]:
    """The program as it is called: a request's text in, its one line out."""

    def run(text: str) -> dict[str, Any]:
        monkeypatch.setattr(sys, "stdin", _Input(text))
        assert protocol.main() == 0
        out = capsys.readouterr().out
        assert out.count("\n") == 1
        answer: dict[str, Any] = json.loads(out)
        return answer

    return run


@pytest.fixture
def report(send: Callable[[str], dict[str, Any]]) -> Ask:
    """The report of a store beside its files; the answer must be good."""

    def run(store: Path, **more: Any) -> dict[str, Any]:
        request = {"protocol": 1, "verb": "report", "store": str(store), "run": "r1", "out": str(store.parent), **more}
        answer = send(json.dumps(request))
        assert answer["ok"], answer
        return answer

    return run


@pytest.fixture
def small(tmp_path: Path) -> Callable[..., StoreMaker]:
    """One machine, one sequential suite, two arms and the duplicate; still open, so that a test adds its own."""

    def make(rounds: int = 7, factor: float = 1.2, isolated: bool = True, **machine: Any) -> StoreMaker:
        rng = random.Random(5)
        store = StoreMaker(tmp_path / "store.db", rounds=rounds)
        store.bundle()
        made = store.machine("m-1", isolated=isolated, **machine)
        point = store.point("sequential")
        for arm in ("c_sqlite", "rust_rusqlite"):
            store.trace("sequential", arm)
        for round_ in range(rounds + 1):
            for position, (arm, aa, f) in enumerate(
                [("c_sqlite", False, 1.0), ("c_sqlite", True, 1.0), ("rust_rusqlite", False, factor)]
            ):
                samples = sequential_samples(rng, f, 0.002)
                store.trial(made, point, arm, round_, samples, aa=aa, position=position, checks=CHECKS)
        return store

    return make
