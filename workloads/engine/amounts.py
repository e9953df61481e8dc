"""Makes runner/amounts_generated.h of sizes.toml."""

import tomllib
from pathlib import Path

# In the order of struct amounts.
MEMBERS = [
    ("speedtest1", "size"),
    ("kvtest", "blobs"),
    ("kvtest", "bytes"),
    ("kvtest", "reads"),
    ("kvtest", "single_reads"),
    ("kvtest", "single_updates"),
    ("tatp", "subscribers"),
    ("tatp", "transactions"),
    ("ssb", "milli_scale"),
    ("ssb", "rounds"),
]


def header(sizes: Path) -> str:
    with sizes.open("rb") as file:
        table = tomllib.load(file)
    rows = []
    for size, benchmarks in table.items():
        values = [str(benchmarks[benchmark][member]) for benchmark, member in MEMBERS]
        rows.append(f'  {{"{size}", {", ".join(values)}}},\n')
    return "static const struct amounts all_amounts[] = {\n" + "".join(rows) + "};\n"
