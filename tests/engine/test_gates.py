"""Right answers in every build, and gates that see wrong ones."""

from __future__ import annotations

import shutil
from pathlib import Path

import builds
import pytest
from builds import BENCHMARKS, ENGINE, ISA

VARIANTS = ("baseline", "tuned", "best")


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_variant_gives_the_committed_answers(variant: str, tmp_path: Path) -> None:
    folder = builds.bundle(variant)
    for benchmark in BENCHMARKS:
        for durability in ("neutral", "deployment"):
            ran = builds.engine(
                folder, tmp_path, "--benchmark", benchmark, "--size", "quick", "--durability", durability
            )
            assert ran.code == 0, ran.err
            assert ran.rows()[f"{benchmark}/total", "wall"][0] > 0
    # Golden files were there to be compared with, and nothing of the run is left.
    assert {path.stem for path in (folder / "golden").glob("*-quick*")} == {
        "speedtest1-quick",
        *(f"{benchmark}-quick-{seed}" for benchmark in ("tatp", "ssb") for seed in (1, 2)),
    }
    assert list(tmp_path.iterdir()) == []


def test_other_seeds_have_other_answers_and_other_checks(tmp_path: Path) -> None:
    folder = builds.bundle("baseline")
    for benchmark in ("tatp", "ssb"):
        checks = set()
        for seed in ("1", "2", "3"):  # 3 has no golden values
            ran = builds.engine(folder, tmp_path, "--benchmark", benchmark, "--size", "quick", "--seed", seed)
            assert ran.code == 0, ran.err
            checks |= {check for _, check in ran.rows().values()}
        assert len(checks) == 3


def mutant(tmp_path: Path, name: str, source: Path, before: str, after: str) -> Path:
    """A bundle of the baseline whose program `name` was built from a changed source."""
    folder = builds.bundle("baseline")
    changed = tmp_path / "mutant"
    shutil.copytree(folder, changed)
    code = source.read_text()
    assert code.count(before) == 1, f"{source.name} has {code.count(before)} times {before!r}"
    target = tmp_path / source.name
    target.write_text(code.replace(before, after))
    work = builds.FOLDER / "baseline/work"
    objects = [path for path in (work / "programs" / name).glob("*.o") if path.stem != source.stem]
    if name in ("tatp", "ssb"):
        objects.append(work / "programs/common/database.o")
    tree = builds.tree()
    argv = ["gcc", "-O1", "-static", f"-I{tree}", f"-I{ENGINE}/common", f"-I{ENGINE}/{name}", target, *objects]
    argv += [work / ISA / "sqlite3.o", "-lm", "-o", changed / "programs" / ISA / name]
    builds.must(argv, tmp_path)
    return changed


MUTANTS = [
    ("tatp", "tatp/transactions.c", "cf.start_time <= ?3", "cf.start_time < ?3"),
    ("tatp", "tatp/transactions.c", "good ? session->commit : session->rollback", "session->commit"),
    ("tatp", "tatp/transactions.c", "{35, 10, 35, 2, 14, 2, 2}", "{35, 10, 34, 3, 14, 2, 2}"),
    ("tatp", "tatp/transactions.c", "SET vlr_location = ?2", "SET vlr_location = ?2 + 1"),
    ("tatp", "tatp/populate.c", "<= 85", "<= 84"),
    ("ssb", "ssb/queries.c", "BETWEEN 1 AND 3", "BETWEEN 1 AND 4"),
    ("ssb", "ssb/queries.c", 'd_year, revenue DESC, c_" place ", s_"', 'd_year, revenue ASC, c_" place ", s_"'),
    ("ssb", "ssb/facts.c", "customer % 3 == 0", "customer % 3 == 1"),
]


@pytest.mark.parametrize(("name", "source", "before", "after"), MUTANTS)
def test_a_mutant_of_our_programs_is_caught(tmp_path: Path, name: str, source: str, before: str, after: str) -> None:
    folder = mutant(tmp_path, name, ENGINE / source, before, after)
    ran = builds.engine(folder, tmp_path / "scratch", "--benchmark", name, "--size", "quick")
    assert ran.code == 6, ran.out + ran.err
    assert "WRONG ANSWER, the trial is void" in ran.err
    assert ran.out == ""


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("speedtest1", "group_concat(a) FROM z2", "group_concat(b) FROM z2"),
        ("kvtest", "randomblob(remember(length(v),?2))", "randomblob(remember(length(v)-1,?2))"),
    ],
)
def test_a_mutant_of_sqlites_programs_is_caught(tmp_path: Path, name: str, before: str, after: str) -> None:
    folder = mutant(tmp_path, name, builds.tree() / f"{name}.c", before, after)
    ran = builds.engine(folder, tmp_path / "scratch", "--benchmark", name, "--size", "quick")
    assert ran.code == 6, ran.out + ran.err
    assert ran.out == ""


def test_a_damaged_database_is_caught(tmp_path: Path) -> None:
    folder = tmp_path / "bundle"
    shutil.copytree(builds.bundle("baseline"), folder)
    kvtest = folder / "programs" / ISA / "kvtest"
    kvtest.rename(kvtest.with_name("kvtest.real"))
    # Before the look at the end: two pages of the table's middle are filled with zeros (a blob has two; its last ends in zeros anyway).
    kvtest.write_text(
        '#!/bin/sh\nif [ "$1" = stat ]; then dd if=/dev/zero of="$2" bs=4096 seek=100 count=2 conv=notrunc status=none; fi\n'
        'exec "$0.real" "$@"\n'
    )
    kvtest.chmod(0o755)
    ran = builds.engine(folder, tmp_path / "scratch", "--benchmark", "kvtest", "--size", "quick")
    assert ran.code == 6, ran.out + ran.err
    assert ran.out == ""


def test_the_star_schema_answers_the_same_without_indexes(tmp_path: Path) -> None:
    program = builds.bundle("baseline") / "programs" / ISA / "ssb"
    builds.must([program, "populate", "bare.db", "5", "1", "bare"], tmp_path)
    assert builds.must([program, "run", "bare.db", "1"], tmp_path) == (ENGINE / "golden/ssb-quick-1.txt").read_text()
