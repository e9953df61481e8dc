#!/usr/bin/env python3
"""Gives SQLite's virtual machine a computed goto: computed_goto.py SQLITE3.C OUTPUT.

sqlite3VdbeExec() is a loop around one switch over the opcode. Compilers make of it one indirect jump, which every opcode
shares, behind a check of the range. With a label for each case and the jump repeated at the end of each, the processor
predicts the successor of every opcode by itself. The amalgamation is transformed as it is built; SQLite stays as it is.

Each `break` that leaves the switch becomes the jump; breaks of loops and switches inside a case stay. In builds that look at
every step (debug, profile, test, scan status) the macro is `break` again. A source that has another shape than this expects
is refused, never transformed by half.
"""

import re
import sys
from dataclasses import dataclass, field

FUNCTION = re.compile(r"^SQLITE_PRIVATE int sqlite3VdbeExec\(\n[^;{]*\)\{", re.M)
SWITCH = re.compile(r"switch\( pOp->opcode \)\{")
CONDITIONAL = re.compile(r"[ \t]*#[ \t]*(if|ifdef|ifndef|else|elif|endif)\b[ \t]*(.*)")
TOKEN = re.compile(r"[{}]|\bbreak\s*;|\bcontinue\s*;|\bcase\s+(OP_\w+)\s*:|\bcase\b|\bdefault\s*:|^[ \t]*#[^\n]*", re.M)

# What needs the loop's head or tail at every step has to go there.
STEPWISE = (
    "defined(SQLITE_DEBUG) || defined(VDBE_PROFILE) || defined(SQLITE_TEST) || defined(SQLITE_ENABLE_STMT_SCANSTATUS)"
)


class UnexpectedSourceError(Exception):
    """The source is not what this was written for."""


def mask(source: str) -> str:
    """The same text with comments, strings and characters blanked, length and lines kept."""

    def blank(match: re.Match[str]) -> str:
        return re.sub(r"[^\n]", " ", match.group(0))

    return re.sub(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", blank, source, flags=re.S)


def takes_break(masked: str, brace: int) -> bool:
    """Whether the brace at this place opens a loop or a switch, so that a break inside belongs to it."""
    at = brace - 1
    while masked[at].isspace():
        at -= 1
    if masked[at] != ")":
        return re.search(r"\bdo$", masked[at - 2 : at + 1]) is not None
    depth = 0
    while True:
        depth += (masked[at] == ")") - (masked[at] == "(")
        if depth == 0:
            return re.search(r"\b(for|while|switch)\s*$", masked[max(0, at - 20) : at]) is not None
        at -= 1


@dataclass
class Switch:
    """What was found in the switch: edits as (start, end, text) into the source, and its cases with their #if guards."""

    end: int = 0
    edits: list[tuple[int, int, str]] = field(default_factory=list)
    cases: list[tuple[str, list[str]]] = field(default_factory=list)
    has_default: bool = False


def follow_conditional(guards: list[str], line: str) -> None:
    match = CONDITIONAL.match(line)
    if not match:
        return
    word, condition = match.group(1), match.group(2).strip()
    if word in ("if", "ifdef", "ifndef"):
        guards.append(
            {"if": f"({condition})", "ifdef": f"defined({condition})", "ifndef": f"!defined({condition})"}[word]
        )
    elif not guards:
        raise UnexpectedSourceError(f"#{word} without #if inside the switch")
    elif word == "else":
        guards[-1] = f"!({guards[-1]})"
    elif word == "elif":
        raise UnexpectedSourceError("#elif inside the switch")
    else:
        guards.pop()


def read_switch(masked: str, start: int) -> Switch:
    """Follows the switch whose opening brace is the first from `start` on, up to its closing one."""
    found = Switch()
    braces: list[bool] = []
    guards: list[str] = []
    for match in TOKEN.finditer(masked, start):
        token = match.group(0)
        outer = sum(braces) == 1
        if token.lstrip().startswith("#"):
            follow_conditional(guards, token)
        elif token == "{":
            braces.append(takes_break(masked, match.start()))
        elif token == "}":
            braces.pop()
            if not braces:
                found.end = match.end()
                break
        elif not outer:
            continue
        elif token.startswith("break"):
            found.edits.append((match.start(), match.end(), "VDBE_DISPATCH;"))
        elif token.startswith("continue"):
            raise UnexpectedSourceError("a continue of the opcode loop")
        elif token.startswith("default"):
            found.has_default = True
            found.edits.append((match.end(), match.end(), " L_default:"))
        elif match.group(1):
            found.cases.append((match.group(1), list(guards)))
            found.edits.append((match.end(), match.end(), f" L_{match.group(1)}:"))
        else:
            raise UnexpectedSourceError("a case that is no opcode")
    if not found.end or guards:
        raise UnexpectedSourceError("the switch has no end")
    if not found.has_default or not found.cases:
        raise UnexpectedSourceError("the switch has no default, or no case")
    return found


def jump_table(cases: list[tuple[str, list[str]]]) -> str:
    lines = [
        f"#if defined(__GNUC__) && !({STEPWISE})",
        '#pragma GCC diagnostic ignored "-Woverride-init"',
        '#pragma GCC diagnostic ignored "-Wpedantic"',
        "    static const void *const aVdbeLabel[256] = { [0 ... 255] = &&L_default,",
    ]
    for opcode, guards in cases:
        entry = f"      [{opcode}] = &&L_{opcode},"
        lines += ["#if " + " && ".join(guards), entry, "#endif"] if guards else [entry]
    lines += [
        "    };",
        "# define VDBE_DISPATCH do{ pOp++; nVmStep++; goto *aVdbeLabel[pOp->opcode]; }while(0)",
        "    goto *aVdbeLabel[pOp->opcode];",
        "#else",
        "# define VDBE_DISPATCH break",
        "#endif",
        "    ",
    ]
    return "\n".join(lines)


def transform(source: str) -> str:
    masked = mask(source)
    functions = list(FUNCTION.finditer(masked))
    if len(functions) != 1:
        raise UnexpectedSourceError(f"sqlite3VdbeExec is defined {len(functions)} times")
    switch = SWITCH.search(masked, functions[0].end())
    following = re.compile(r"^}", re.M).search(masked, functions[0].end())
    if not switch or not following or switch.start() > following.start():
        raise UnexpectedSourceError("sqlite3VdbeExec has no switch over pOp->opcode")
    found = read_switch(masked, switch.start())
    parts: list[str] = [source[: switch.start()], jump_table(found.cases)]
    at = switch.start()
    for start, end, text in found.edits:
        parts += [source[at:start], text]
        at = end
    return "".join(parts) + source[at:]


def main(arguments: list[str]) -> int:
    if len(arguments) != 2:
        print("usage: computed_goto.py SQLITE3.C OUTPUT", file=sys.stderr)
        return 2
    try:
        with open(arguments[0], encoding="utf-8") as file:
            transformed = transform(file.read())
        with open(arguments[1], "w", encoding="utf-8") as file:
            file.write(transformed)
    except (OSError, UnexpectedSourceError) as error:
        print(f"computed_goto: {arguments[0]}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
