"""How many of the instructions that callgrind collected were spent outside libsqlite3.

    outside_sqlite.py CALLGRIND_OUT LIBSQLITE3_A

What SQLite calls (memcpy, malloc, fcntl) counts as SQLite's: the instructions outside are all of them without those of
each call from a function that is none of SQLite's to one that is. Prints both as `OUTSIDE ALL`.
"""

from __future__ import annotations

import re
import subprocess
import sys


def functions_of(archive: str) -> set[str]:
    lines = subprocess.run(["nm", "--defined-only", archive], capture_output=True, text=True, check=True).stdout
    return {parts[2] for line in lines.splitlines() if len(parts := line.split()) == 3 and parts[1] in "tT"}


def outside(lines: list[str], sqlite: set[str]) -> tuple[int, int]:
    names: dict[str, str] = {}  # callgrind's numbers for names
    function, callee, after_calls = "", "", False
    everything = inside = 0
    for line in lines:
        if match := re.fullmatch(r"(c?fn)=(\(\d+\))(?: (.*))?", line):
            kind, number, name = match.groups()
            if name:
                names[number] = name.partition("'")[0]  # without the mark of recursion
            if kind == "fn":
                function = names[number]
            else:
                callee = names[number]
        elif line.startswith("calls="):
            after_calls = True
        elif re.match(r"[+*-]?\d* ?\d+", line) or line.startswith("* "):
            cost = int(line.split()[-1])
            if not after_calls:
                everything += cost
            elif callee in sqlite and function not in sqlite:
                inside += cost
            after_calls = False
    return everything - inside, everything


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        print(*outside(file.read().splitlines(), functions_of(sys.argv[2])))
