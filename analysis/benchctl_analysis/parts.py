"""What a page is made of, as values: the templates print them, and escape every text on the way."""

from __future__ import annotations

from dataclasses import dataclass, field

from markupsafe import Markup


@dataclass(frozen=True)
class Cell:
    text: str
    kind: str = ""  # good | bad | soft | strong


@dataclass
class Table:
    caption: str
    columns: list[tuple[str, str]]  # heading, "l" or "r"
    rows: list[list[Cell]]
    functional: bool
    notes: list[str] = field(default_factory=list)
    kind: str = ""  # "pairs": names and values, printed in two columns where there is room


@dataclass
class Plot:
    title: str
    svg: Markup
    note: str = ""


@dataclass
class Section:
    heading: str
    anchor: str
    paragraphs: list[Cell] = field(default_factory=list)  # kind "bad" prints red
    tables: list[Table] = field(default_factory=list)
    plots: list[Plot] = field(default_factory=list)


@dataclass
class Page:
    machine: str
    functional: bool
    run: str
    plan: str
    when: str
    summary: list[tuple[str, str]]
    alarms: list[str]
    sections: list[Section]


def cells(*texts: str) -> list[Cell]:
    return [Cell(text) for text in texts]


def plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
