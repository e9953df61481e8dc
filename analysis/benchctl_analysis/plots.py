"""Plots as SVG for a page: matplotlib draws, the page's CSS colours: light, dark and print all work."""

from __future__ import annotations

import io
import math
import os
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

# matplotlib keeps a font cache: beside its own installation, so that neither a home folder nor a run pays for it.
if "MPLCONFIGDIR" not in os.environ and os.access(sys.prefix, os.W_OK):
    os.environ["MPLCONFIGDIR"] = str(Path(sys.prefix) / "matplotlib-cache")

import matplotlib as mpl
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

from benchctl_analysis.text import sanitize

# Stand-ins that no default style uses; replaced by CSS variables in the SVG text.
INK, SOFT, GRID, BAD = "#0a0101", "#0a0102", "#0a0103", "#0a0104"
SERIES = tuple(f"#0b01{i:02x}" for i in range(8))
_VARIABLES = {INK: "--ink", SOFT: "--soft", GRID: "--grid", BAD: "--bad"} | {
    colour: f"--s{i}" for i, colour in enumerate(SERIES)
}
# Above this no axis is readable and the reckoning of its marks overflows.
MAX_DRAWN = 1e15
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")

_STYLE: Any = {
    "svg.fonttype": "none",
    "text.parse_math": False,
    "font.family": "DejaVu Sans",
    "font.size": 10,
    "axes.edgecolor": GRID,
    "axes.labelcolor": SOFT,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "text.color": INK,
    "xtick.color": SOFT,
    "ytick.color": SOFT,
    "legend.frameon": False,
    "legend.labelcolor": INK,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
}


@dataclass(frozen=True)
class Strip:
    """One arm of a dot plot: every sample, its median and interval, in the plot's unit."""

    label: str
    colour: int
    values: Sequence[float]
    median: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Line:
    """One arm of a scaling plot: x, median, interval and every sample."""

    label: str
    colour: int
    points: list[tuple[float, float, float | None, float | None, Sequence[float]]]


@dataclass(frozen=True)
class Tail:
    """One arm's latencies: microseconds, share of requests that took longer."""

    label: str
    colour: int
    points: list[tuple[float, float]]


@dataclass(frozen=True)
class Shot:
    """One trial on the time line."""

    seconds: float
    off_percent: float | None  # against its own series' median; None where the trial failed
    steal_percent: float | None
    warm_up: bool
    label: str
    colour: int


@dataclass(frozen=True)
class Look:
    """One probe: microseconds of the spin (median, 99th percentile, longest), CPUs busy with others, steal in ticks."""

    seconds: float
    spins: tuple[float | None, ...]
    busy: float | None
    steal: float | None


def _tick(value: float, _: object = None) -> str:
    text = f"{value:,.6f}"
    return text.rstrip("0").rstrip(".")


def _drawable(values: Iterable[float | None]) -> bool:
    """A program of the user's may print any finite number, and no plot is worth the report."""
    return all(value is None or (math.isfinite(value) and abs(value) <= MAX_DRAWN) for value in values)


def _not_drawn(title: str) -> Markup:
    return Markup("<p>{}: not drawn, a value is beyond {:.0e}; summary.csv has the numbers.</p>").format(
        title, MAX_DRAWN
    )


def _svg(figure: Figure, title: str, salt: str) -> Markup:
    """The figure as inline SVG: no prolog, metadata or fixed colours; ids made unique by `salt`."""
    buffer = io.StringIO()
    with mpl.rc_context({**_STYLE, "svg.hashsalt": salt}):
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    text = buffer.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    text = text.replace("xlink:href", "href")
    text = re.sub(r"font: (?:[\w ]+ )?([\d.]+px) [^;\"]*", r"font-size: \1", text)
    used = set(re.findall(r'(?:href="|url\()#([^")]+)', text))
    text = re.sub(r'\sid="([^"]*)"', lambda match: match[0] if match[1] in used else "", text)
    for colour, variable in _VARIABLES.items():
        text = text.replace(colour, f"var({variable})")
    size = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', text)
    assert size is not None
    opening = (
        f'<svg viewBox="0 0 {size[1]} {size[2]}" role="img" aria-label={quoteattr(title)} '
        f'style="max-width: {float(size[1]) * 1.3:.0f}px">'
    )
    return Markup(re.sub(r"<svg[^>]*>", lambda _: opening, text, count=1))


def _figure(width: float, height: float, left: float, right: float, top: float, bottom: float) -> Figure:
    """Margins in inches: a layout engine would draw everything twice."""
    figure = Figure(figsize=(width, height))
    figure.subplots_adjust(left / width, bottom / height, 1 - right / width, 1 - top / height, hspace=0.12)
    return figure


def dot_plot(strips: Sequence[Strip], unit: str, title: str, salt: str) -> Markup:
    """Every sample as a dot over its interval, an arm a line."""
    if not _drawable(v for strip in strips for v in (*strip.values, strip.median, strip.low, strip.high)):
        return _not_drawn(title)
    with mpl.rc_context(_STYLE):
        label_inches = 0.25 + 0.095 * max(len(sanitize(strip.label, 40)) for strip in strips)
        figure = _figure(6.4, 0.7 + 0.42 * len(strips), label_inches, 0.25, 0.06, 0.48)
        axes: Axes = figure.add_subplot()
        for place, strip in enumerate(strips):
            y, colour = -place, SERIES[strip.colour % 8]
            if strip.low is not None and strip.high is not None:
                axes.plot([strip.low, strip.high], [y, y], color=colour, linewidth=9, alpha=0.25, solid_capstyle="butt")
            axes.plot([strip.median] * 2, [y - 0.3, y + 0.3], color=INK, linewidth=1.6)
            offsets = [y + 0.16 * ((i % 3) - 1) for i in range(len(strip.values))]
            axes.plot(
                strip.values,
                offsets,
                MARKERS[strip.colour % 8],
                color=colour,
                markersize=4.6,
                alpha=0.85,
                markeredgewidth=0,
            )
        axes.set_yticks([-i for i in range(len(strips))], [sanitize(s.label, 40) for s in strips])
        axes.tick_params(axis="y", length=0, labelcolor=INK)
        axes.set_ylim(-len(strips) + 0.4, 0.6)
        axes.grid(visible=False, axis="y")
        axes.xaxis.set_major_locator(MaxNLocator(6))
        axes.xaxis.set_major_formatter(FuncFormatter(_tick))
        axes.set_xlabel(unit)
    return _svg(figure, title, salt)


def scaling_plot(lines: Sequence[Line], x_name: str, y_name: str, title: str, salt: str, log_y: bool = False) -> Markup:
    """Median by x with its interval, every sample as a faint dot."""
    if not _drawable(v for line in lines for *some, values in line.points for v in (*some, *values)):
        return _not_drawn(title)
    with mpl.rc_context(_STYLE):
        figure = _figure(5.6, 3.4, 0.85, 0.15, 0.15, 0.55)
        axes: Axes = figure.add_subplot()
        ticks = sorted({point[0] for line in lines for point in line.points})
        doubling = len(ticks) > 1 and ticks[0] > 0
        for index, line in enumerate(lines):
            colour, marker = SERIES[line.colour % 8], MARKERS[line.colour % 8]
            aside = 0.07 * (index - (len(lines) - 1) / 2)  # beside each other, so that no interval hides another
            xs = [p[0] * 2**aside if doubling else p[0] + aside for p in line.points]
            medians = [p[1] for p in line.points]
            label = sanitize(line.label, 40)
            axes.plot(xs, medians, marker=marker, color=colour, linewidth=1.8, markersize=6, label=label)
            for x, (_, _, low, high, values) in zip(xs, line.points, strict=True):
                if low is not None and high is not None:
                    axes.plot([x, x], [low, high], color=colour, linewidth=6, alpha=0.25, solid_capstyle="butt")
                axes.plot([x] * len(values), values, marker, color=colour, markersize=2.6, alpha=0.5, markeredgewidth=0)
        if doubling:
            axes.set_xscale("log", base=2)
        axes.set_xticks(ticks, [_tick(t) for t in ticks])
        axes.xaxis.set_minor_locator(NullLocator())
        if log_y:
            axes.set_yscale("log")
            axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
            axes.yaxis.set_minor_locator(NullLocator())
        else:
            axes.set_ylim(bottom=0)
        axes.yaxis.set_major_formatter(FuncFormatter(_tick))
        axes.set_xlabel(x_name)
        axes.set_ylabel(y_name)
        axes.legend(loc="best", fontsize=9)
    return _svg(figure, title, salt)


def tail_plot(lines: Sequence[Tail], title: str, salt: str) -> Markup:
    """Share of requests slower than x, both logarithmic: the tail is what a histogram hides."""
    if not _drawable(x for line in lines for x, _ in line.points):
        return _not_drawn(title)
    with mpl.rc_context(_STYLE):
        figure = _figure(5.6, 3.4, 0.85, 0.15, 0.15, 0.55)
        axes: Axes = figure.add_subplot()
        for line in lines:
            axes.step(
                [x / 1000 for x, _ in line.points],
                [100 * share for _, share in line.points],
                where="post",
                color=SERIES[line.colour % 8],
                linewidth=1.6,
                linestyle=("-", "--", "-.", ":")[line.colour % 4],
                label=sanitize(line.label, 40),
            )
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0), numticks=8))
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter(FuncFormatter(_tick))
            axis.set_minor_locator(NullLocator())
        axes.set_ylim(top=110)
        axes.set_xlabel("latency, ms")
        axes.set_ylabel("took longer, %")
        axes.legend(loc="best", fontsize=9)
    return _svg(figure, title, salt)


def time_plot(shots: Sequence[Shot], max_steal: float, salt: str) -> Markup:
    """Trial order against time, steal underneath."""
    title = "Each trial against its own median over time, with steal underneath"
    if not _drawable(shot.off_percent for shot in shots):
        return _not_drawn(title)
    with mpl.rc_context(_STYLE):
        figure = _figure(12.6, 4.0, 0.75, 0.15, 0.42, 0.5)
        upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=[3, 1])
        good = [shot for shot in shots if shot.off_percent is not None]
        for label, colour in sorted({(shot.label, shot.colour) for shot in good}, key=lambda pair: pair[1]):
            for warm in (False, True):
                some = [shot for shot in good if (shot.label, shot.colour) == (label, colour) and shot.warm_up == warm]
                upper.plot(
                    [s.seconds for s in some],
                    [s.off_percent for s in some],
                    MARKERS[colour % 8],
                    color=SERIES[colour % 8],
                    markersize=4.6,
                    fillstyle="none" if warm else "full",
                    alpha=0.85,
                    markeredgewidth=0.9 if warm else 0,
                    label=None if warm else sanitize(label, 40),
                )
        failed = [shot.seconds for shot in shots if shot.off_percent is None]
        if failed:
            upper.plot(failed, [0.0] * len(failed), "x", color=BAD, markersize=8, markeredgewidth=2, label="failed")
        upper.axhline(0, color=SOFT, linewidth=0.8)
        upper.set_ylabel("off its median, %")
        upper.yaxis.set_major_locator(MaxNLocator(5))
        upper.legend(
            loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=6, fontsize=9, borderaxespad=0.2, columnspacing=1.2
        )
        measured = [(s.seconds, s.steal_percent) for s in shots if s.steal_percent is not None]
        lower.vlines([x for x, _ in measured], 0, [y for _, y in measured], color=BAD, linewidth=2)
        lower.axhline(max_steal, color=SOFT, linewidth=0.8, linestyle=(0, (4, 3)))
        lower.set_ylim(0, max([max_steal * 1.5, 0.1, *(1.1 * y for _, y in measured)]))
        lower.yaxis.set_major_locator(MaxNLocator(3))
        lower.set_ylabel("steal, %")
        lower.set_xlabel("seconds since the machine's first trial (hollow: warm-up)")
    return _svg(figure, title, salt)


def probe_plot(looks: Sequence[Look], salt: str) -> Markup:
    """The spin over time, with what others used underneath."""
    title = "Probes before the rounds: the spin over time, with others' use and steal underneath"
    if not _drawable(v for look in looks for v in (*look.spins, look.busy, look.steal)):
        return _not_drawn(title)
    with mpl.rc_context(_STYLE):
        figure = _figure(12.6, 3.6, 1.0, 0.15, 0.42, 0.5)
        upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=[2, 1])
        for place, name in enumerate(("median", "99th percentile", "longest")):
            points = [(k.seconds, v) for k in looks if (v := k.spins[place]) is not None]
            xs, ys = [x for x, _ in points], [y for _, y in points]
            upper.plot(xs, ys, marker=MARKERS[place], color=SERIES[place], linewidth=1.2, markersize=4.2, label=name)
        upper.set_yscale("log")
        upper.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0), numticks=6))
        upper.yaxis.set_major_formatter(FuncFormatter(_tick))
        upper.yaxis.set_minor_locator(NullLocator())
        upper.set_ylabel("spin, µs")
        lower.plot(
            [k.seconds for k in looks if k.busy is not None],
            [k.busy for k in looks if k.busy is not None],
            marker="o",
            color=SERIES[4],
            linewidth=1.2,
            markersize=4.2,
            label="CPUs busy",
        )
        stolen = [(k.seconds, k.steal) for k in looks if k.steal is not None]
        lower.vlines([x for x, _ in stolen], 0, [y for _, y in stolen], color=BAD, linewidth=2, label="steal, ticks")
        top = max([0.1, *(1.1 * k.busy for k in looks if k.busy is not None), *(1.1 * y for _, y in stolen)])
        lower.set_ylim(0, top)
        lower.yaxis.set_major_locator(MaxNLocator(3))
        lower.set_ylabel("others")
        lower.set_xlabel("seconds since the first probe")
        handles, labels = (a + b for a, b in zip(*(x.get_legend_handles_labels() for x in (upper, lower)), strict=True))
        where = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "ncols": 6, "fontsize": 9, "borderaxespad": 0.2}
        upper.legend(handles, labels, columnspacing=1.2, **where)
    return _svg(figure, title, salt)
