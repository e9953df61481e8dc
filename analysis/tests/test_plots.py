from __future__ import annotations

from benchctl_analysis.plots import Strip, dot_plot


def test_labels_are_text_and_colours_are_the_pages() -> None:
    svg = str(dot_plot([Strip("$x^2$ <b>", 0, [1.0, 2.0, 3.0], 2.0, 1.0, 3.0)], "ms", 'a "title"', "salt"))
    assert "$x^2$ &lt;b&gt;" in svg
    assert "var(--s0)" in svg
    assert "#0b0100" not in svg
    assert "aria-label='a \"title\"'" in svg
    assert "xmlns" not in svg
    assert "xlink" not in svg
