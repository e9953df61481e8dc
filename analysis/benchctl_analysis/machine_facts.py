"""What a machine is, from its facts documents. An allow list decides what is printed, nothing else comes out."""

from __future__ import annotations

import re
from typing import Any

from benchctl_analysis.numbers import digits, quantity
from benchctl_analysis.text import sanitize

Facts = dict[str, Any]

# (label, group, key, kind); the order is the order of the report.
_SHOWN = (
    ("CPU", "cpu", "model_name", "text"),
    ("Architecture", "cpu", "architecture", "text"),
    ("Vendor, family, model, stepping", "cpu", "vendor family model stepping", "join"),
    ("Microcode", "cpu", "microcode", "text"),
    ("Sockets, cores, threads", "cpu", "sockets cores threads", "join"),
    ("Online CPUs", "cpu", "online", "text"),
    ("CPUs for trials", "cpu", "cpus_usable", "text"),
    ("NUMA nodes", "cpu", "numa_nodes", "text"),
    ("Caches", "cpu", "caches", "caches"),
    ("Frequency governor", "cpu", "governor", "text"),
    ("Turbo off", "cpu", "no_turbo", "text"),
    ("Boost", "cpu", "boost", "text"),
    ("Virtualisation", "virt", "kind", "text"),
    ("Hypervisor", "virt", "hypervisor", "text"),
    ("Machine", "virt", "dmi_vendor dmi_product", "join"),
    ("Clock source", "virt", "clocksource", "text"),
    ("Memory", "memory", "total_bytes", "bytes"),
    ("Memory limit", "memory", "limit_bytes", "bytes"),
    ("Transparent huge pages", "memory", "thp", "text"),
    ("Swap", "memory", "swap_bytes", "bytes"),
    ("System", "os", "pretty_name", "text"),
    ("C library", "os", "libc", "text"),
    ("Kernel", "kernel", "release", "text"),
    ("File system of the work directory", "disk", "filesystem", "text"),
    ("Mount options", "disk", "mount_options", "text"),
    ("fsync, median", "disk", "fsync_p50_us", "us"),
    ("fsync, 99th percentile", "disk", "fsync_p99_us", "us"),
)
_NOTABLE_FLAGS = (
    "avx",
    "avx2",
    "avx512f",
    "avx512_vnni",
    "amx_tile",
    "sha_ni",
    "aes",
    "asimd",
    "sve",
    "sha2",
    "atomics",
)
_SPEC_SHOWN = (("Size", "size"), ("Region", "region"), ("Image", "image"))

# Groups and keys whose change from before to after means something; others move by nature.
_WATCHED = {
    "cpu": None,
    "virt": None,
    "os": None,
    "agent": None,
    "memory": ("total_bytes", "thp", "swap_bytes"),
    "kernel": ("release", "version", "boot_id"),
    "disk": ("filesystem", "mount_options"),
}
_VOLATILE = re.compile(r"mhz|bogomips|load|uptime|free|available|_unix_ms|cpu_ns|wakeups", re.IGNORECASE)
_GENERIC_CPU = re.compile(r"qemu|kvm|virtual|common|generic|host processor", re.IGNORECASE)


def _group(facts: Facts, name: str) -> dict[str, Any]:
    group = facts.get(name)
    return group if isinstance(group, dict) else {}


def _why(facts: Facts, group: str, key: str) -> str:
    why = _group(facts, group).get("why")
    reason = why.get(key) if isinstance(why, dict) else None
    return f"not known: {sanitize(reason)}" if isinstance(reason, str) and reason else "not known"


def _plain(value: object, limit: int = 200) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return ", ".join(f"{sanitize(k, 40)} {_plain(v, 60)}" for k, v in list(value.items())[:16])
    if isinstance(value, list):
        return ", ".join(_plain(v, 60) for v in value[:32])
    if isinstance(value, float):
        return digits(value, 6)
    return sanitize(value, limit)


def _cache(name: object, cache: object) -> str:
    """{"bytes":…, "instances":…} -> "L2 1.00 MiB x 2"."""
    size = cache.get("bytes") if isinstance(cache, dict) else None
    count = cache.get("instances") if isinstance(cache, dict) else None
    text = f"{sanitize(name, 20)} {quantity(float(size), 'bytes') if isinstance(size, int) else 'of unknown size'}"
    return f"{text} x {count}" if isinstance(count, int) and count > 1 else text


def show(facts: Facts, group: str, key: str, kind: str = "text") -> str:
    if kind == "join":
        keys = key.split()
        values = [_group(facts, group).get(k) for k in keys]
        if all(value is None for value in values):
            return _why(facts, group, keys[0])
        return ", ".join("?" if value is None else _plain(value) for value in values)
    value = _group(facts, group).get(key)
    if value is None or value == "":
        return _why(facts, group, key)
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if kind == "bytes" and number:
        return quantity(float(value), "bytes") if value else "none"
    if kind == "us" and number:
        return quantity(float(value), "us")
    if kind == "caches" and isinstance(value, dict):
        return ", ".join(_cache(name, cache) for name, cache in list(value.items())[:8]) or "not known"
    return _plain(value)


def cpu_name(facts: Facts) -> str:
    return show(facts, "cpu", "model_name")


def facts_table(facts: Facts, spec: dict[str, Any], hardware: str, fingerprint: str) -> list[tuple[str, str]]:
    rows = [(label, show(facts, group, key, kind)) for label, group, key, kind in _SHOWN]
    flags = _group(facts, "cpu").get("flags")
    if isinstance(flags, list):
        known = {str(flag) for flag in flags[:1000]}
        rows.insert(4, ("CPU flags of note", ", ".join(f for f in _NOTABLE_FLAGS if f in known) or "none of note"))
    rows += [(label, _plain(spec[key])) for label, key in _SPEC_SHOWN if spec.get(key)]
    rows += [("Hardware key", hardware[:16] or "not known"), ("Fingerprint", fingerprint[:16] or "not known")]
    return rows


def generic_cpu_note(facts: Facts) -> str:
    kind = _group(facts, "virt").get("kind")
    if kind in (None, "none") or not _GENERIC_CPU.search(cpu_name(facts)):
        return ""
    return "A virtual machine may only see a generic CPU model; the hardware below it can differ."


def _leaves(value: object, path: str = "") -> dict[str, str]:
    if isinstance(value, dict):
        found: dict[str, str] = {}
        for key, inner in list(value.items())[:500]:
            if key != "why":
                found |= _leaves(inner, f"{path}.{key}" if path else str(key))
        return found
    return {path: _plain(value)}


def differing(documents: list[Facts]) -> list[tuple[str, list[str]]]:
    """(fact, its value in each document) for watched facts that differ between those that are there; "" where one is not.

    A boot id is named, not printed.
    """
    present = [i for i, document in enumerate(documents) if document]
    rows: list[tuple[str, list[str]]] = []
    for group, keys in _WATCHED.items():
        leaves = [_leaves(_group(document, group)) for document in documents]
        for name in sorted(set().union(*(leaves[i] for i in present)) if present else ()):
            if _VOLATILE.search(name) or (keys is not None and name.split(".")[0] not in keys):
                continue
            values = ["" if i not in present else leaves[i].get(name, "absent") for i in range(len(documents))]
            seen = [values[i] for i in present]
            if len(set(seen)) < 2:
                continue
            if name == "boot_id":
                values = ["first boot" if v == seen[0] else "the machine restarted" if v else "" for v in values]
            rows.append((f"{group}.{sanitize(name, 80)}", values))
    return rows[:50]
