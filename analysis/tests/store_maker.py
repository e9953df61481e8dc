"""Small stores for tests, made from the real schema; values come from a seed or from the test."""

from __future__ import annotations

import json
import random
import sqlite3
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

STORE = Path(__file__).parents[2] / "controller" / "store"
SCHEMA = [STORE / "schema.sql", STORE / "migration_2.sql", STORE / "migration_3.sql"]
START_MS = 1_790_000_000_000
PLAN = """schema = 1
name = "example"
[schedule]
order = "latin"
seed = 42
warmup_rounds = 1
runs = {runs}
[noise]
max_steal = "1%"
repeat_steal = "5%"
max_repeats = "20%"
"""
METRICS = {
    "total": ("us", "lower"),
    "per_item": ("us", "lower"),
    "requests": ("count", "none"),
    "requests_per_second": ("1/s", "higher"),
    "p50": ("us", "lower"),
    "p95": ("us", "lower"),
    "p99": ("us", "lower"),
    "max": ("us", "lower"),
    "errors": ("count", "lower"),
}


def facts(**cpu: Any) -> dict[str, Any]:
    return {
        "version": 1,
        "taken_unix_ms": START_MS,
        "cpu": {
            "architecture": "x86_64", "vendor": "GenuineIntel", "family": 6, "model": 85, "stepping": 7,
            "model_name": "Intel(R) Xeon(R) Platinum 8168 CPU @ 2.70GHz", "microcode": "0x5003605", "online": "0-3",
            "cpus_usable": 4, "sockets": 1, "cores": 2, "threads": 2, "numa_nodes": 1, "flags": ["avx2", "aes", "fpu"],
            "caches": {"L1d": {"bytes": 32768, "instances": 2}, "L3": {"bytes": 34603008, "instances": 1}}, "governor": None, "no_turbo": None, "boost": None,
            "why": {"governor": "no cpufreq in this virtual machine", "no_turbo": "no intel_pstate"}, **cpu,
        },
        "virt": {"kind": "systemd-nspawn", "hypervisor": "KVM", "clocksource": "kvm-clock", "dmi_vendor": None,
                 "dmi_product": None, "why": {"dmi_vendor": "no DMI tables in a container"}},
        "memory": {"total_bytes": 4 << 30, "thp": "madvise", "swap_bytes": 0},
        "kernel": {"release": "6.1.0-18-amd64", "version": "#1 SMP", "cmdline": "root=UUID=secret", "boot_id": "b1"},
        "disk": {"filesystem": "ext4", "mount_options": "rw,relatime", "fsync_p50_us": 4120.0, "fsync_p99_us": 9310.0},
        "os": {"pretty_name": "Debian GNU/Linux 12 (bookworm)", "libc": "glibc 2.36"},
        "state": {"hostname": "secret-host"},
    }  # fmt: skip


@dataclass
class StoreMaker:
    path: Path
    run: str = "r1"
    rounds: int = 7
    folder: Path | None = None
    names: dict[str, int] = field(default_factory=dict)
    metrics: dict[str, int] = field(default_factory=dict)
    slots: dict[int, int] = field(default_factory=dict)  # machine -> its slot
    _number: int = 0
    _events: int = 0
    _clock: int = START_MS

    def __post_init__(self) -> None:
        self.db = sqlite3.connect(self.path)
        self.db.execute("PRAGMA journal_mode = WAL")  # as the real store
        for script in SCHEMA:
            self.db.executescript(script.read_text())
        self.folder = self.folder or self.path.parent
        self.db.execute(
            "INSERT INTO run (id, plan_name, plan_sha256, plan_text, seed, created_ms, outcome, folder, controller_version)"
            " VALUES (?, 'example', ?, ?, 42, ?, 'good', ?, '0.1.0')",
            (self.run, "ab" * 32, PLAN.format(runs=self.rounds), START_MS, str(self.folder)),
        )
        for metric, (unit, better) in METRICS.items():
            self.metric(metric, unit, better)

    def name(self, text: str) -> int:
        if text not in self.names:
            self.names[text] = self.db.execute("INSERT INTO name (text) VALUES (?)", (text,)).lastrowid or 0
        return self.names[text]

    def metric(self, name: str, unit: str, better: str) -> None:
        """Samples of this name have that unit from now on."""
        made = self.db.execute(
            "INSERT INTO metric (name, unit, better) VALUES (?, ?, ?)", (self.name(name), unit, better)
        ).lastrowid
        self.metrics[name] = made or 0

    def machine(
        self,
        name: str,
        isolated: bool = False,
        before: Any = None,
        after: Any = None,
        reason: str = "",
        state: str = "gone",
        slot: int | None = None,
        hardened: Any = "",
        hardening: Any = "",
    ) -> int:
        """`slot` of an earlier machine: a resumed run went on here."""
        count = self.db.execute("SELECT count(*) FROM machine").fetchone()[0]
        slot = count if slot is None else slot
        self.db.execute(
            "INSERT INTO lease VALUES (?, ?, 'nspawn', 'small', ?, ?, ?, ?, ?)",
            (f"lease-{count}", self.run, slot, name, json.dumps({"size": "2cpu-4GiB", "image": "debian-12"}), 0, 0),
        )
        before = facts() if before is None else before
        after = before if after is None else after
        made = self.db.execute(
            "INSERT INTO machine (lease, run, name, provider, state, isolated, fingerprint, hardware, facts_before,"
            " facts_after, reason, facts_hardened, hardening) VALUES (?, ?, ?, 'nspawn', ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (f"lease-{count}", self.run, name, state, int(isolated), "f1" * 32, "e2" * 32,
             *(doc if isinstance(doc, str) else json.dumps(doc) for doc in (before, after)), reason,
             *(doc if isinstance(doc, str) else json.dumps(doc) for doc in (hardened, hardening))),
        ).lastrowid or 0  # fmt: skip
        self.slots[made] = slot
        self.db.execute("INSERT OR IGNORE INTO site (run, fleet, slot) VALUES (?, 'small', ?)", (self.run, slot))
        return made

    def probe(self, machine: int, round_: int, **values: float | None) -> None:
        self._events += 1
        row = {"busy": 0.01, "spin_p50_ns": 1000, "spin_p99_ns": 1010, "spin_max_ns": 1500, "steal_jiffies": 0,
               "psi_cpu_some": 0.0, **values}  # fmt: skip
        self.db.execute(
            "INSERT INTO probe (machine, event, round, taken_ms, busy, spin_p50_ns, spin_p99_ns, spin_max_ns,"
            " steal_jiffies, psi_cpu_some) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (machine, self._events, round_, self._clock, *row.values()),
        )

    def point(
        self, suite: str, label: str = "", params: Any = None, mode: str = "sequential", baseline: str = "c_sqlite"
    ) -> str:
        digest = f"{suite}|{label}"
        self.db.execute(
            "INSERT OR IGNORE INTO point VALUES (?, ?, 'request_shape', ?, ?, ?, ?)",
            (digest, suite, mode, label, baseline, json.dumps(params or {})),
        )
        return digest

    def trial(
        self, machine: int, point: str, arm: str, round_: int, samples: dict[str, dict[str, float | None]] | None = None,
        *, aa: bool = False, position: int = 0, attempt: int = 1, verdict: str = "ok", reason: str = "",
        steal: float | None = 0.0, checks: dict[str, str] | None = None, seconds: float = 2.0, bundle: str = "b" * 64,
    ) -> int:  # fmt: skip
        """`samples`: case without its runner -> metric -> value; the runner is put in front as the contract has it."""
        self._number += 1
        self._clock += int(seconds * 1000) + 300
        suite, params = self.db.execute("SELECT suite, params FROM point WHERE hash = ?", (point,)).fetchone()
        site = self.db.execute("SELECT rowid FROM site WHERE slot = ?", (self.slots[machine],)).fetchone()[0]
        made = self.db.execute(
            "INSERT INTO trial (site, number, suite, point_hash, arm, aa_copy, round, position, attempt, definition_hash,"
            " bundle, params, state, verdict, reason, evidence, folder) VALUES (?,?,?,?,?,?,?,?,?,'d',?,?,'ingested',?,?,'',?)",
            (site, self._number, self.name(suite), point, self.name(arm), int(aa), round_, position, attempt, bundle, params,
             verdict, reason, f"trials/{self._number:06d}/a{attempt}"),
        ).lastrowid  # fmt: skip
        self.db.execute(
            "INSERT INTO trial_machine VALUES (?, 'main', ?, ?, ?, ?, ?, '{}')",
            (made, machine, self._clock, seconds, steal, "" if steal is not None else "too short to say"),
        )
        for case, metrics in (samples or {}).items():
            for metric, value in metrics.items():
                full = case if case.startswith("=") else f"{arm}/{case}"
                check = (checks or {}).get(case)
                self.db.execute(
                    "INSERT INTO sample VALUES (?, ?, ?, 0, ?, ?)",
                    (made, self.name(full), self.metrics[metric], value, check),
                )
        return made or 0

    def trace(self, suite: str, arm: str, digest: str = "77" * 32, **info: Any) -> None:
        info = {"runner": arm, "language": "C", "language_version": "gcc 12.2.0", "driver": "SQLite C API", "driver_version": "3.51.0", "sqlite_version": "3.51.0", "sqlite_source_id": "2025-11-04 19:38:17 fb2c931ae597",
                "compile_options": ["THREADSAFE=1", "OMIT_LOAD_EXTENSION"], "statement_cache_size": 32, **info}  # fmt: skip
        self.db.execute(
            "INSERT INTO trace VALUES (?, ?, ?, ?, ?)",
            (self.run, self.name(suite), self.name(arm), digest, json.dumps(info)),
        )

    def leave_out(self, machine: int, suite: str, arm: str, reason: str, kind: str = "not built") -> None:
        self.db.execute(
            "INSERT INTO left_out VALUES (?, ?, ?, ?, ?)", (machine, self.name(suite), self.name(arm), kind, reason)
        )

    def bundle(self, sha: str = "b" * 64, **manifest: Any) -> None:
        manifest = {"arch": "x86_64", "isa": "x86-64-v2", "min_glibc": "2.34", "git": {"commit": "5f87e60aa0", "dirty": False, "diff": None},
                    "toolchains": {"c": {"CC_VERSION": "gcc 12.2.0"}, "rust": {"RUSTC_VERSION": "1.96.0"}}, **manifest}  # fmt: skip
        self.db.execute("INSERT INTO bundle VALUES (?, 'request_shape', 'main', ?)", (sha, json.dumps(manifest)))

    def __del__(self) -> None:
        self.db.close()  # a test that failed on its way did not; closing twice is nothing

    def close(self) -> Path:
        self.db.commit()
        self.db.close()
        return self.path


CASES = {"app_request/seed_dummy_data": 9.4, "app_request/admin_item_edit": 61.3, "app_request/admin_item_update": 23.8}
CHECKS = {case: str(1000 + i) for i, case in enumerate(CASES)}


def sequential_samples(rng: random.Random, factor: float, noise: float = 0.01) -> dict[str, dict[str, float | None]]:
    made: dict[str, dict[str, float | None]] = {}
    for case, base in CASES.items():
        value = base * factor * rng.lognormvariate(0, noise)
        made[case] = {"total": value * 10000, "per_item": value}
    return made


def concurrent_samples(
    rng: random.Random, factor: float, workers: int, noise: float = 0.015
) -> dict[str, dict[str, float | None]]:
    made: dict[str, dict[str, float | None]] = {}
    for case, base, scales in (("app_request/read", 15800.0, 0.86), ("app_request/write", 9100.0, 0.12)):
        rate = base / factor * workers**scales * rng.lognormvariate(0, noise)
        p50 = 1e6 * workers / rate * 0.92
        made[case] = {
            "requests": rate * 5, "requests_per_second": rate, "p50": p50,
            "p95": p50 * 1.6 * rng.lognormvariate(0, noise), "p99": p50 * 2.9 * rng.lognormvariate(0, 3 * noise),
            "max": p50 * 40 * rng.lognormvariate(0, 0.3), "errors": float(rng.random() < 0.04),
        }  # fmt: skip
    return made


def example(
    path: Path, rounds: int = 7, machines: tuple[str, ...] = ("small-1", "small-2"), seed: int = 7
) -> StoreMaker:
    """Two machines, sequential and concurrent at 1, 2, 4 workers, one warm-up, the baseline's duplicate."""
    rng = random.Random(seed)
    store = StoreMaker(path, rounds=rounds)
    store.bundle()
    points = [(store.point("sequential"), 0)]
    points += [(store.point("concurrent", f"workers={w}", {"workers": w}, "concurrent"), w) for w in (1, 2, 4)]
    for suite in ("sequential", "concurrent"):
        store.trace(suite, "c_sqlite")
        store.trace(
            suite,
            "rust_rusqlite",
            language="Rust",
            language_version="1.96.0",
            driver="rusqlite",
            driver_version="0.37.0",
        )
    arms = [("c_sqlite", False, 1.0), ("c_sqlite", True, 1.0), ("rust_rusqlite", False, 1.065)]
    for name in machines:
        machine = store.machine(name)
        for round_ in range(rounds + 1):
            for point, workers in rng.sample(points, len(points)):
                first = rng.randrange(3)
                for position in range(3):
                    arm, aa, factor = arms[(first + position) % 3]
                    if workers:
                        samples, checks = concurrent_samples(rng, factor, workers), None
                    else:
                        samples, checks = sequential_samples(rng, factor), CHECKS
                    steal = 0.0 if rng.random() < 0.97 else round(rng.uniform(0.1, 1.6), 2)
                    store.trial(
                        machine, point, arm, round_, samples, aa=aa, position=position, checks=checks, steal=steal
                    )
    return store
