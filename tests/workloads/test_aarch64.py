"""Every arm of request_shape that can be cross-built, built for aarch64 and run under qemu-user: it does the same there."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest
from conftest import SOURCE, Done, copy_with, workloads

# Arm -> recipe of those that say so themselves, and the languages that the documentation promises.
DECLARED = tomllib.loads((SOURCE / "workloads/request_shape/workload.toml").read_text())
ARMS = {
    name: arm["build"] for name, arm in DECLARED["arm"].items() if "aarch64" in DECLARED["build"][arm["build"]]["arch"]
}
LANGUAGES = {"c", "rust", "zig", "go"}
EM_AARCH64 = 183


def check(root: Path, *words: str) -> Done:
    return workloads(root, "check", "request_shape", "--items", "100", *words)


def fault(done: Done, wanted: set[str]) -> str:
    """Why this check is no proof that each of the arms was run and agreed; "" when it is."""
    ran = set(re.findall(r"\brequest_shape: running (\w+)$", done.err, re.MULTILINE))
    if done.code != 0:
        return f"exit code {done.code}: {done.err}"
    if ran != wanted:
        return f"not run: {sorted(wanted - ran)}, run but not asked for: {sorted(ran - wanted)}: {done.err}"
    agree = f"request_shape: checks agree ({len(wanted)} arms, 100 items, traces identical"
    return "" if done.out.startswith(agree) else done.out


@pytest.fixture(scope="module")
def built() -> dict[str, dict]:
    """Recipe -> what `workloads build --json` says of it: its folder, or why it is not built."""
    rows = json.loads(workloads(SOURCE, "build", "request_shape", "--arch", "aarch64", "--json", limit=1500).out)
    return {row["build"] if "why" in row else row["manifest"]["build"]: row for row in rows}


@pytest.fixture(scope="module")
def checked(built: dict[str, dict]) -> tuple[set[str], Done]:
    arms = {arm for arm, recipe in ARMS.items() if "folder" in built[recipe]}
    words = [word for arm in sorted(arms) for word in ("--arm", arm)]
    return arms, check(SOURCE, "--arch", "aarch64", *words)


def test_the_languages_are_those_that_can_be_cross_built() -> None:
    assert set(ARMS.values()) == LANGUAGES


@pytest.mark.parametrize("arm", sorted(ARMS))
def test_it_runs_and_agrees(arm: str, built: dict[str, dict], checked: tuple[set[str], Done]) -> None:
    bundle = built[ARMS[arm]]
    why = bundle.get("why", "")
    # A compiler without a standard library for aarch64 is no mistake of ours; a program that does not compile is.
    if ARMS[arm] == "rust" and re.match(r"(building )?toolchain[ /]rust\b", why):
        pytest.skip(f"{arm} cannot be built for aarch64 here: {why}")
    assert not why
    program = Path(bundle["folder"], DECLARED["arm"][arm]["argv"][0]).read_bytes()
    assert int.from_bytes(program[18:20], "little") == EM_AARCH64
    arms, done = checked
    assert arm in arms
    assert fault(done, arms) == ""


# What the above must find. Arms that nobody builds any more are left out by the check, which is content with the others.
def test_an_arm_that_is_left_out_is_found(tmp_path: Path, checked: tuple[set[str], Done]) -> None:
    arms, _ = checked
    root = copy_with({}, tmp_path)
    declared = root / "workloads/request_shape/workload.toml"
    targets = re.compile(r"(\[build\.(?:zig|rust)\]\n.*?\narch    = ).*?\nisa     = .*?\n", re.DOTALL)
    text, changed = targets.subn(r'\1"x86_64"\nisa     = "x86-64-v2"\n', declared.read_text())
    assert changed == 2
    declared.write_text(text)
    done = check(root, "--arch", "aarch64")
    assert done.code == 0, done.err
    left_out = sorted(arm for arm in arms if ARMS[arm] in ("zig", "rust"))
    assert "zig_sqlite" in left_out
    assert fault(done, arms).startswith(f"not run: {left_out}, run but not asked for: []")


# And that it is really that architecture's program which runs: one that goes wrong there only.
def test_a_program_that_does_something_else_on_aarch64_is_found(tmp_path: Path) -> None:
    line = "    EDIT_READ(count_tags, number(org));\n"
    root = copy_with({"request_shape/c/request.c": (line, f"#ifndef __aarch64__\n{line}#endif\n")}, tmp_path)
    both = {"c_sqlite", "zig_sqlite"}
    assert fault(check(root, "--arm", "zig_sqlite"), both) == ""
    there = check(root, "--arm", "zig_sqlite", "--arch", "aarch64")
    assert there.code == 6
    assert "zig_sqlite: its trace differs: line 5 is " in fault(there, both)
