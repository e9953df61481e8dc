"""Numbers in words: units always, three significant digits, the interval with every median."""

from __future__ import annotations

import math
from datetime import UTC, datetime

from benchctl_analysis.stats import Interval, Median, Ratio

_TIME_SCALES = (("s", 1e9), ("ms", 1e6), ("us", 1e3), ("ns", 1.0))
_TIME_UNITS = {"ns": 1.0, "us": 1e3, "µs": 1e3, "micros": 1e3, "ms": 1e6, "s": 1e9, "seconds": 1e9}
_BYTE_SCALES = (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1))
_WORDS = {"1/s": "req/s", "requests/s": "req/s", "us": "µs"}


def digits(value: float, significant: int = 3) -> str:
    """Three significant digits without an exponent: 0.00512, 5.12, 5,120."""
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else str(value)
    if abs(value) >= 1e15:  # no rounding: it may lead beyond a double
        return f"{value:.{significant - 1}e}"
    places = significant - 1 - math.floor(math.log10(abs(value)))
    rounded = round(value, places)
    if rounded != 0:
        places = significant - 1 - math.floor(math.log10(abs(rounded)))
    if abs(rounded) >= 1e15 or abs(rounded) < 1e-9:
        return f"{value:.{significant - 1}e}"
    return f"{rounded:,.{max(places, 0)}f}"


def scale_for(value: float, unit: str) -> tuple[float, str]:
    """(divisor, unit to print) that makes `value` readable."""
    if unit in _TIME_UNITS:
        nanos = abs(value) * _TIME_UNITS[unit]
        for name, size in _TIME_SCALES:
            if nanos >= size:
                return size / _TIME_UNITS[unit], _WORDS.get(name, name)
        return (1.0 / _TIME_UNITS[unit], "ns") if nanos else (1.0, _WORDS.get(unit, unit))
    if unit in ("bytes", "B"):
        for name, size in _BYTE_SCALES:
            if abs(value) >= size:
                return float(size), name
        return 1.0, "B"
    return 1.0, _WORDS.get(unit, unit)


def quantity(value: float | None, unit: str, like: float | None = None) -> str:
    """ "5.12 ms"; with `like`, in the unit that suits that other value."""
    if value is None or math.isnan(value):
        return "not measured"
    divisor, name = scale_for(value if like is None else like, unit)
    return f"{digits(value / divisor)} {name}".rstrip()


def interval_text(interval: Interval | None, unit: str, like: float) -> str:
    if interval is None:
        return "no interval (n = 1)"
    divisor, name = scale_for(like, unit)
    return f"{digits(interval.low / divisor)} to {digits(interval.high / divisor)} {name}".rstrip()


def percent(share: float, significant: int = 3) -> str:
    return f"{digits(100 * share, significant)} %"


def coverage_text(median: Median) -> str:
    return "none" if median.interval is None else f"{100 * median.interval.coverage:.1f} %"


def factor(value: float) -> str:
    return f"{digits(value)}x"


def direction(call: str, better: str, unit: str) -> str:
    """The word for higher or lower: a time or a rate is slower or faster, other things better or worse."""
    if call not in ("higher", "lower"):
        return call
    if better not in ("lower", "higher"):
        return call
    good = call == better
    if unit in _TIME_UNITS or unit.endswith("/s"):
        return "faster" if good else "slower"
    return "better" if good else "worse"


def ratio_text(ratio: Ratio, better: str, unit: str, margin: float) -> str:
    """ "1.23x slower (1.21 to 1.25)"."""
    if ratio.interval is None:
        return f"{factor(ratio.estimate)}, no verdict"
    word = direction(ratio.verdict, better, unit)
    low, high, estimate = ratio.interval.low, ratio.interval.high, ratio.estimate
    if ratio.verdict == "same":
        return f"same within ±{percent(margin)} ({digits(low)} to {digits(high)})"
    if ratio.verdict not in ("higher", "lower"):
        # Beside "1.22x slower" a bare 0.93x of a rate would read as faster.
        what = " rate," if better == "higher" else ""
        return f"{factor(estimate)}{what} inconclusive ({digits(low)} to {digits(high)})"
    if estimate < 1:  # "1.25x faster" reads better than "0.8x"
        estimate, low, high = 1 / estimate, 1 / high, 1 / low
    return f"{factor(estimate)} {word} ({digits(low)} to {digits(high)})"


def utc(unix_ms: float | None) -> str:
    if unix_ms is None or not math.isfinite(unix_ms) or abs(unix_ms) > 4e12 * 10:
        return "unknown"
    return datetime.fromtimestamp(unix_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
