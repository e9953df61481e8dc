#!/usr/bin/env python3
"""Enforces the include rules of docs/ARCHITECTURE.md.

1. Layers go one way: a folder may include only its own headers and those of the folders below it.
2. A heavy library is included by its own few .cc files and by no header, so that a change elsewhere does not pay for it.

usage: check_layers.py SOURCE_ROOT      prints each violation as file:line; exit 1 when there is one
"""

import re
import sys
from pathlib import Path

# folder -> what it may include beside itself. The longest matching folder counts.
BELOW: dict[str, list[str]] = {
    "lib": [],
    "lib/wire": ["lib"],
    "agent": ["lib", "lib/wire", "agent/facts", "agent/quiet", "agent/exec"],
    "agent/facts": ["lib", "lib/wire"],
    "agent/quiet": ["lib", "lib/wire", "agent/facts"],
    "agent/exec": ["lib", "lib/wire", "agent/facts", "agent/quiet"],
    "provisioning": ["lib", "lib/wire"],
    "provisioning/providers": ["lib", "lib/wire", "provisioning", "provisioning/cloud_init"],
    "provisioning/cloud_init": ["lib", "lib/wire", "provisioning"],
    "provisioning/ssh": ["lib", "lib/wire", "provisioning"],
    "provisioning/testing": ["lib", "lib/wire", "provisioning"],
    "controller/toml": ["lib"],
    "controller/harden": ["lib", "lib/wire", "controller/toml"],
    "controller/workloads": ["lib", "lib/wire", "provisioning", "controller/toml"],
    "controller/plan": ["lib", "lib/wire", "provisioning", "controller/toml", "controller/workloads"],
    "controller/policy": [
        "lib",
        "lib/wire",
        "provisioning",
        "controller/toml",
        "controller/workloads",
        "controller/plan",
    ],
    "controller/claims": [
        "lib",
        "lib/wire",
        "provisioning",
        "controller/toml",
        "controller/workloads",
        "controller/plan",
    ],
    "controller/store": ["lib", "lib/wire", "provisioning"],
    "controller/remote": ["lib", "lib/wire", "provisioning"],
    "controller/analysis": ["lib", "lib/wire", "provisioning"],
    "controller/fleet": [
        "lib",
        "lib/wire",
        "provisioning",
        "provisioning/cloud_init",
        "controller/workloads",
        "controller/plan",
        "controller/store",
        "controller/remote",
    ],
    # Only the command line names concrete classes.
    "controller/cli": ["lib", "provisioning", "controller", "agent/facts"],
    "tests": ["lib", "agent", "provisioning", "controller"],
    "bench": ["lib", "agent", "provisioning", "controller"],
}

OPEN = {"controller/cli", "tests", "bench"}

# C programs that the tests compile as a workload's recipe would, against the workloads' own SQLite: no part of the build.
APART = ("tests/workloads/shim/",)

# include prefix -> the files that may include it
HEAVY: dict[str, list[str]] = {
    "nlohmann/": ["lib/json.cc"],
    "toml++/": ["controller/toml/toml.cc"],
    "CLI/": ["controller/cli/command_line.cc"],
    "boost/": ["provisioning/command.cc"],
    "sqlite3.h": ["controller/store/sqlite.cc"],
    "libssh/": ["provisioning/ssh/"],
    "re2/": ["controller/plan/pattern.cc"],
    "openssl/": [],
}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def layer_of(folder: str, known: list[str]) -> str | None:
    matches = [name for name in known if folder == name or folder.startswith(name + "/")]
    return max(matches, key=len) if matches else None


def violations(root: Path) -> list[str]:
    found = []
    tops = {"lib", "agent", "provisioning", "controller", "tests", "bench"}
    files = [p for top in sorted(tops) for p in sorted((root / top).rglob("*")) if p.suffix in {".h", ".cc"}]
    for path in files:
        name = path.relative_to(root).as_posix()
        if name.startswith(APART):
            continue
        own = layer_of(str(Path(name).parent), list(BELOW))
        test = name.endswith(("_test.cc", "_fuzz.cc"))
        if own is None:
            found.append(f"{name}:1: this folder has no layer; add it to {Path(__file__).name}")
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            quote, target = match.groups()
            heavy = next((prefix for prefix in HEAVY if target.startswith(prefix)), None)
            if heavy and not any(name == ok or (ok.endswith("/") and name.startswith(ok)) for ok in HEAVY[heavy]):
                found.append(f"{name}:{number}: only {HEAVY[heavy]} may include <{target}>")
            if heavy and name.endswith(".h"):
                found.append(f"{name}:{number}: a header must not include <{target}>")
            if quote != '"' or "/" not in target:
                continue
            layer = layer_of(str(Path(target).parent), list(BELOW))
            allowed = [own, *BELOW[own], *(["provisioning/testing"] if test else [])]
            whole = [name for name in allowed if own in OPEN]  # these may include everything below a named folder
            if layer not in allowed and not any(str(layer).startswith(name + "/") for name in whole):
                found.append(f'{name}:{number}: {own} may not include "{target}" (layer {layer})')
    return found


def main() -> int:
    found = violations(Path(sys.argv[1]))
    print("\n".join(found) if found else "layers: clean")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
