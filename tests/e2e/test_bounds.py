"""What the operator, the computer and the state of our own folders allow: said at once, with advice, exit code 2."""

from __future__ import annotations

import os
import sqlite3
import subprocess
from pathlib import Path

import pytest
from conftest import ONE_ROW, Bench, needs_root, unprivileged

PLAN = """schema = 1
name = "bounds"
[fleet.m]
provider = "{provider}"
{fleet}
[schedule]
runs = 1
warmup_rounds = 0
[[suite]]
name = "one"
command = ["./one"]
format = "generic"
"""


def plan(bench: Bench, provider: str = "local", fleet: str = "") -> Path:
    bench.program("one", ONE_ROW)
    path = bench.home / "plan.toml"
    path.write_text(PLAN.format(provider=provider, fleet=fleet))
    return path


def trusted(bench: Bench, path: Path, *words: str):
    return bench("run", "--plan", str(path), "--trust-plan", bench.sha256_of(path), *words)


def policy(bench: Bench, text: str) -> Path:
    path = bench.home / ".config/benchctl/policy.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("schema = 1\n" + text)
    path.chmod(0o600)
    return path


def test_a_policy_bounds_run_check_and_try(bench: Bench) -> None:
    path = plan(bench)
    where = policy(bench, '[allow]\nproviders = ["nspawn"]\n')
    said = f'{path}:4:12: provider in [fleet.m] "local" is not allowed: {where}:3 (providers in [allow]) allows nspawn'
    for words in (
        ["plan", "check", str(path)],
        ["run", "--plan", str(path)],
        ["run", "--plan", str(path), "--dry-run"],
    ):
        done = bench(*words)
        assert done.code == 2, words
        assert said in done.err
    tried = bench("try", "--", "./one")
    assert tried.code == 2
    assert "is not allowed" in tried.err
    assert bench.json("status") == []
    policy(bench, '[allow]\nproviders = ["local"]\n')
    assert trusted(bench, path).code == 0


def test_a_policy_that_is_broken_or_open_is_never_no_policy(bench: Bench) -> None:
    path = plan(bench)
    where = policy(bench, "[alow]\n")
    assert 'did you mean "allow"' in bench("plan", "check", str(path)).err
    policy(bench, "").chmod(0o666)
    done = bench("plan", "check", str(path))
    assert done.code == 2
    assert f"chmod go-w {where}" in done.err
    where.unlink()
    assert bench("plan", "check", str(path)).code == 0
    bench.environment["BENCHCTL_POLICY"] = str(where)
    assert bench("plan", "check", str(path)).code == 2


def test_strangers_plans(bench: Bench) -> None:
    path = plan(bench)
    done = bench("run", "--plan", str(path), "--untrusted")
    assert done.code == 2
    assert "there is no policy" in done.err
    policy(bench, '[untrusted]\nproviders = ["local", "nspawn"]\nmax_count = 1\nmax_ttl = "3h"\n')
    done = bench("run", "--plan", str(path), "--untrusted")
    assert done.code == 2
    assert f"{path}:11:11: suite one runs a program of its own on this computer" in done.err
    assert bench("run", "--plan", str(path), "--untrusted", "--trust-plan", "0" * 64).code == 2
    bench.environment["BENCHCTL_UNTRUSTED"] = "1"
    for words in (["run", "--plan", str(path)], ["try", "--", "./one"], ["plan", "check", str(path)]):
        assert bench(*words).code == 2, words
    assert bench.json("status") == []
    # On a machine of its own it may.
    path.write_text(path.read_text().replace('"local"', '"nspawn"'))
    assert bench("plan", "check", str(path)).code == 0


@needs_root
@pytest.mark.parametrize(
    ("fleet", "words"),
    [
        ('disk = "60TiB"', "are free below"),
        ('disk = "1PiB"', "must be a size"),
        ('memory = "40TiB"', "more than this computer has"),
        (f"cpus = {(os.cpu_count() or 1) + 1}", "this computer has no CPU"),
    ],
)
def test_more_than_this_computer_has(bench: Bench, fleet: str, words: str) -> None:
    done = bench("run", "--plan", str(plan(bench, "nspawn", fleet)))
    assert done.code == 2
    assert words in done.err
    assert bench.json("status") == []


def test_an_unknown_run_points_to_the_list(bench: Bench) -> None:
    done = bench("status", "nothing")
    assert done.code == 2
    assert "benchctl status lists them" in done.err


def test_a_home_that_cannot_be_ours(bench: Bench) -> None:
    bench = unprivileged(bench)
    state = bench.home / "state"

    def refused(words: str) -> None:
        done = bench("status")
        assert done.code == 2, done.err
        assert words in done.err
        assert "set BENCHCTL_HOME" in done.err

    if os.geteuid() == 0:  # the test is root; benchctl is nobody
        state.mkdir()
        refused("belongs to user 0")
        state.rmdir()
    subprocess.run([*bench.prefix, "mkdir", "-m", "500", str(state)], check=True)
    refused("Permission denied")
    subprocess.run([*bench.prefix, "chmod", "777", str(state)], check=True)
    refused("chmod o-w")
    subprocess.run([*bench.prefix, "rmdir", str(state)], check=True)
    subprocess.run([*bench.prefix, "touch", str(state)], check=True)
    refused("not a folder")
    bench.environment["BENCHCTL_HOME"] = "/proc/nowhere"
    refused("/proc/nowhere")
    del bench.environment["BENCHCTL_HOME"]
    del bench.environment["HOME"]
    done = bench("status")
    assert done.code == 2
    assert "neither HOME nor BENCHCTL_HOME" in done.err


@needs_root
def test_a_read_only_home(bench: Bench) -> None:
    state = bench.home / "state"
    state.mkdir(mode=0o700)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "ro,mode=700", "tmpfs", str(state)], check=True)
    try:
        done = bench("status")
    finally:
        subprocess.run(["umount", str(state)], check=True)
    assert done.code == 2
    assert "Read-only file system" in done.err
    assert "BENCHCTL_HOME" in done.err


def test_planted_links_are_not_followed(bench: Bench) -> None:
    """In the place of the run's folder, of the store, of its lock and of the log of a detached run."""
    path = plan(bench)
    victim = bench.home / "victim"
    victim.mkdir()
    (victim / "file").write_text("untouched")
    runs = bench.home / "elsewhere"
    runs.mkdir()
    for target in (victim, bench.home / "dangling"):
        (runs / "r1").symlink_to(target)
        done = trusted(bench, path, "--out", str(runs), "--id", "r1")
        assert done.code == 2, done.err
        assert "is there already" in done.err
        (runs / "r1").unlink()
    assert bench.json("status") == []
    (bench.home / "state/runs").mkdir(exist_ok=True)
    (bench.home / "state/runs/r2.log").symlink_to(victim / "file")
    trusted(bench, path, "--id", "r2", "--detach")
    for _ in range(300):
        if any(row["run"] == "r2" for row in bench.json("status")):
            break
    assert bench("attach", "r2").code == 0
    store = bench.home / "state/store.sqlite3"
    for name in ("store.sqlite3", "store.sqlite3.lock"):
        place = bench.home / "state" / name
        place.unlink()
        place.symlink_to(victim / "file")
        done = trusted(bench, path)
        assert done.code != 0
        assert "Too many levels of symbolic links" in done.err, done.err
        place.unlink()
    assert (victim / "file").read_text() == "untouched"
    assert [entry.name for entry in victim.iterdir()] == ["file"]
    assert not (bench.home / "dangling").exists()
    assert store.parent.stat().st_mode & 0o077 == 0


def test_a_damaged_store_is_named_and_never_written(bench: Bench) -> None:
    path = plan(bench)
    assert trusted(bench, path).code == 0
    store = bench.home / "state/store.sqlite3"
    with sqlite3.connect(store) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    data = bytearray(store.read_bytes())
    data[4096 : 4096 * 6] = os.urandom(4096 * 5)
    store.write_bytes(data)
    done = bench("status")
    assert done.code == 1
    assert "is damaged" in done.err
    assert "raw files in the run folders hold every result" in done.err
    assert store.read_bytes() == data


def test_a_cache_that_nobody_can_fill_is_named_by_its_variable(bench: Bench) -> None:
    bench.environment["BENCHCTL_CACHE"] = "/proc/nowhere"
    path = plan(bench)
    for words in (
        ["workloads", "build"],
        ["workloads", "check", "request_shape"],
        ["workloads", "trace", "request_shape", "c_sqlite"],
    ):
        done = bench(*words)
        assert done.code == 2, done.err
        assert "cache folder /proc/nowhere" in done.err
        assert "BENCHCTL_CACHE" in done.err
    done = trusted(bench, path)
    assert done.code == 2
    assert "BENCHCTL_CACHE" in done.err
    assert "LOOK  cache /proc/nowhere" in bench("doctor").out


@pytest.mark.parametrize("name", ["BENCHCTL_POLICY", "XDG_CONFIG_HOME", "BENCHCTL_CACHE", "BENCHCTL_HOME"])
def test_a_path_that_means_another_one_from_another_folder_is_refused(bench: Bench, name: str) -> None:
    bench.environment[name] = "there"
    done = bench("plan", "check", str(plan(bench)))
    assert done.code == 2
    assert f"{name} " in done.err
    assert "absolute" in done.err


def test_files_that_cannot_be_written_and_roots_that_are_none_are_mistakes_of_use(bench: Bench) -> None:
    done = bench("plan", "init", "/proc/nowhere/p.toml")
    assert done.code == 2
    assert "/proc/nowhere/p.toml cannot be written" in done.err
    bench.environment["BENCHCTL_ROOT"] = "/proc/nowhere"
    assert bench("doctor").code == 2


def test_one_workload_is_listed_by_its_name(bench: Bench) -> None:
    assert [one["name"] for one in bench.json("workloads", "list", "json_encode", "--json")] == ["json_encode"]
    done = bench("workloads", "list", "json_encod")
    assert done.code == 2
    assert 'did you mean "json_encode"' in done.err
