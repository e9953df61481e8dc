from __future__ import annotations

import pytest

from benchctl_analysis.plots import Strip, dot_plot


def test_labels_are_text_and_colours_are_the_pages() -> None:
    svg = str(dot_plot([Strip("$x^2$ <b>", 0, [1.0, 2.0, 3.0], 2.0, 1.0, 3.0)], "ms", 'a "title"', "salt"))
    assert "$x^2$ &lt;b&gt;" in svg
    assert "var(--s0)" in svg
    assert "#0b0100" not in svg
    assert "aria-label='a \"title\"'" in svg
    assert "xmlns" not in svg
    assert "xlink" not in svg


def _dot_plot_of(*values: float) -> str:
    return str(dot_plot([Strip("arm", 0, values, values[0], min(values), max(values))], "s", "title", "salt"))


@pytest.mark.parametrize("values", [(1e308, 1e308), (1e308, 1e-308), (1e200, 1.0)])
def test_values_that_no_axis_can_hold_are_said_and_not_drawn(values: tuple[float, float]) -> None:
    plot = _dot_plot_of(*values)
    assert "not drawn" in plot
    assert "<svg" not in plot


@pytest.mark.parametrize("values", [(0.0, 0.0), (1e-308, 1e-308), (5e-324, 1.0), (1e15, 1.0)])
def test_small_values_are_drawn(values: tuple[float, float]) -> None:
    assert _dot_plot_of(*values).startswith("<svg")
