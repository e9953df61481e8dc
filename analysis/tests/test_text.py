from __future__ import annotations

import pytest

from benchctl_analysis.numbers import digits, quantity, ratio_text
from benchctl_analysis.stats import paired_ratio
from benchctl_analysis.text import csv_cell, file_stem, fit, markdown, sanitize, scrub, width


def test_sanitize_shows_what_it_removes() -> None:
    assert sanitize("a\x1b[0m\n\u202e\u2028\U000e0001ü") == "a\\x1b[0m\\x0a\\u202e\\u2028\\U000e0001ü"
    assert sanitize("x" * 400) == "x" * 300 + "…"
    assert sanitize("\ud800") == "\\ud800"


def test_markdown_keeps_names_readable() -> None:
    assert markdown("c_sqlite admin_item_edit") == "c_sqlite admin_item_edit"
    assert markdown("_em_ a|b <x> `c` [t](u)") == "\\_em\\_ a\\|b &lt;x&gt; \\`c\\` \\[t\\](u)"
    assert markdown("https://x.y www.z @me") == "https&\\#58;//x.y www&\\#46;z &\\#64;me" or "://" not in markdown(
        "https://x.y"
    )


@pytest.mark.parametrize("evil", ["=1+1", "+1", "-1", "@x", "\t=1"])
def test_csv_cells_are_no_formulas(evil: str) -> None:
    assert csv_cell(evil)[0] in "'\\"


def test_scrub_hides_places_and_addresses() -> None:
    text = scrub("open /home/joe/x.db: refused by 10.1.2.3, fe80::1:2, 02:42:ac:11:00:02 joe@box.example 3/4 a/b")
    assert text == "open <path>: refused by <address>, <address>, <mac> <user> 3/4 a/b"


def test_file_stem_takes_only_harmless_names() -> None:
    assert file_stem("small-1", "m") == "small-1"
    for evil in ("../x", ".hidden", "a/b", "", "x" * 80, "a\nb", "-x"):
        assert file_stem(evil, "m") == "m"


def test_fit_counts_cells() -> None:
    assert width("日本") == 4
    assert fit("日本語", 5) == "日本…"
    assert fit("abc", 5, right=True) == "  abc"


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (5.1234, "5.12"), (51234, "51,200"), (0.0051234, "0.00512"), (9.999, "10.0"), (999.6, "1,000"), (1.0, "1.00"),
     (-0.3333, "-0.333"), (123456789.0, "123,000,000")],
)  # fmt: skip
def test_three_significant_digits(value: float, text: str) -> None:
    assert digits(value) == text


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [(5123.0, "us", "5.12 ms"), (0.5, "us", "500 ns"), (61.3, "us", "61.3 µs"), (2.5e6, "us", "2.50 s"), (3.0, "s", "3.00 s"),
     (14800.0, "1/s", "14,800 req/s"), (4096, "bytes", "4.00 KiB"), (7, "widgets", "7.00 widgets"), (None, "us", "not measured"),
     (0.0, "us", "0 µs")],
)  # fmt: skip
def test_units_always(value: float | None, unit: str, text: str) -> None:
    assert quantity(value, unit) == text


def test_ratio_in_words() -> None:
    base = [10.0] * 7
    slow = paired_ratio([12.3, 12.2, 12.4, 12.3, 12.1, 12.5, 12.3], base, 0.01)
    assert ratio_text(slow, "lower", "us", 0.01) == "1.23x slower (1.22 to 1.24)"
    assert ratio_text(slow, "higher", "1/s", 0.01) == "1.23x faster (1.22 to 1.24)"
    assert ratio_text(slow, "higher", "score", 0.01) == "1.23x better (1.22 to 1.24)"
    fast = paired_ratio([8.0] * 7, base, 0.01)
    assert ratio_text(fast, "lower", "us", 0.01) == "1.25x faster (1.25 to 1.25)"
    unsure = paired_ratio([9.0, 11.0, 8.5, 10.5, 9.5, 11.5, 8.8], base, 0.01)
    assert ratio_text(unsure, "lower", "us", 0.01).split(" (")[0].endswith("x inconclusive")
    assert ratio_text(unsure, "higher", "1/s", 0.01).split(" (")[0].endswith("x rate, inconclusive")
    same = paired_ratio(base, base, 0.01)
    assert ratio_text(same, "lower", "us", 0.01) == "same within ±1.00 % (1.00 to 1.00)"
