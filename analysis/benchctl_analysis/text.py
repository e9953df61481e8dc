"""Text from a machine is hostile: one function for each place that it is printed in."""

from __future__ import annotations

import html
import re
import unicodedata

LIMIT = 300


def sanitize(value: object, limit: int = LIMIT) -> str:
    """Control, bidi, format, private and unassigned characters become visible escapes; at most `limit` characters."""
    out: list[str] = []
    text = str(value)
    for char in text[:limit]:
        category = unicodedata.category(char)
        if category[0] == "C" or category in ("Zl", "Zp"):
            code = ord(char)
            out.append(f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}")
        else:
            out.append(char)
    return "".join(out) + ("…" if len(text) > limit else "")


_SCRUBS = (
    (re.compile(r"\b(?:[0-9a-fA-F]{2}:){5}[0-9a-fA-F]{2}\b"), "<mac>"),
    (re.compile(r"\b(?:\d{1,3}\.){3}\d{1,3}\b"), "<address>"),
    (
        re.compile(
            r"(?<![\w:])(?:[0-9a-fA-F]{1,4}(?::[0-9a-fA-F]{1,4}){7}|(?=[0-9a-fA-F:]*::)[0-9a-fA-F:]{3,39})(?![\w:])"
        ),
        "<address>",
    ),
    (re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)*"), "<user>"),
    # Where a system keeps its own things says nothing about a person, and a reader needs it: /etc/cron.d/new.
    (re.compile(r"(?<![\w/<.])/(?!(?:etc|sys|proc|lib|usr/lib)/)(?:[\w.+@~-]+/)*[\w.+@~-]+"), "<path>"),
)


def scrub(value: object) -> str:
    """Redaction of free text (reasons, notes): addresses, user@host and absolute paths become placeholders."""
    text = sanitize(value)
    for pattern, placeholder in _SCRUBS:
        text = pattern.sub(placeholder, text)
    return text


_MD_SPECIAL = re.compile(r"([\\`*\[\]|~#])")
_MD_EDGE_UNDERSCORE = re.compile(r"(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")


def markdown(value: object, limit: int = LIMIT) -> str:
    """Inert in GitHub's Markdown: no markup, HTML, table break, automatic link or mention comes through."""
    text = html.escape(sanitize(value, limit), quote=False)
    text = _MD_SPECIAL.sub(r"\\\1", text)
    text = _MD_EDGE_UNDERSCORE.sub(r"\\_", text)
    return text.replace("://", "&#58;//").replace("www.", "www&#46;").replace("@", "&#64;")


def csv_cell(value: object) -> str:
    """A text cell that no spreadsheet takes for a formula."""
    text = sanitize(value)
    return "'" + text if text[:1] in ("=", "+", "-", "@") else text


def file_stem(name: str, fallback: str) -> str:
    """A name for a file: the machine's own when it is harmless, else the fallback."""
    return name if re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", name) else fallback


def width(text: str) -> int:
    """Terminal cells."""
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(char) in ("W", "F") for char in text)
    return len(text) + wide - sum(unicodedata.combining(char) > 0 for char in text)


def fit(text: str, cells: int, right: bool = False) -> str:
    """Padded or cut (with "…") to exactly `cells`."""
    if width(text) > cells:
        kept = ""
        for char in text:
            if width(kept + char) > max(cells - 1, 0):
                break
            kept += char
        text = kept + "…"[:cells]
    pad = " " * (cells - width(text))
    return pad + text if right else text + pad
