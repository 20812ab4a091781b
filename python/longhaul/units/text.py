"""Quantities as text for people: three digits and a unit, or more digits where a caller asks for them.

Every surface formats its quantities here. What a scenario configures is in :mod:`longhaul.units.configured`.
"""

from collections.abc import Sequence

_SPANS = ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns"))
_DURATIONS = ((3600.0, "h"), (60.0, "min"), (1.0, "s"))
_RATES = ((1e12, "Tbit/s"), (1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s"), (1.0, "bit/s"))
_SIZES = ((1e15, "PB"), (1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B"))


def count_text(number: int, noun: str) -> str:
    """``1 run``, ``2 runs``."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def time_text(ns: float | None, *, digits: int = 3) -> str:
    """``12.3 µs``; a dash for nothing."""
    return _scaled(ns, _SPANS, digits)


def duration_text(seconds: float) -> str:
    """``40 s``, ``12 min``, ``2.5 h``: how long people wait."""
    return _lasting(seconds, _duration_unit(seconds))


def duration_range_text(low_s: float, high_s: float) -> str:
    """``2 to 3 min``, in one unit unless the shorter duration is less than one of it."""
    unit = _duration_unit(high_s)
    low, high = _lasting(low_s, unit), _lasting(high_s, unit)
    if low == high:
        return high
    if low_s < unit[0]:
        low = duration_text(low_s)
    return f"{low.removesuffix(f' {unit[1]}')} to {high}"


def _duration_unit(seconds: float) -> tuple[float, str]:
    """The largest unit of which there are two, before rounding: 119 s are not yet minutes."""
    return next(((factor, unit) for factor, unit in _DURATIONS if seconds >= 2 * factor), _DURATIONS[-1])


def _lasting(seconds: float, unit: tuple[float, str]) -> str:
    factor, name = unit
    value = max(seconds, 0.0) / factor
    digits = 1 if name == "h" and value < 9.95 else 0
    return f"{value:.{digits}f}".removesuffix(".0") + f" {name}"


def few_text(names: Sequence[str], most: int = 3) -> str:
    """``a, b, c and 4 more``."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


def rate_text(bits_per_s: float | None, *, digits: int = 3) -> str:
    """``9.41 Gbit/s``; a dash for nothing."""
    return _scaled(bits_per_s, _RATES, digits)


def bytes_text(size: float | None, *, digits: int = 3) -> str:
    """``40 GB``; a dash for nothing."""
    return _scaled(size, _SIZES, digits)


def share_text(share: float | None, *, digits: int = 3) -> str:
    """``0.02 %``; a dash for nothing."""
    if share is None:
        return "-"
    return f"{_number(share * 100, digits)} %" if share else "0"


def _scaled(value: float | None, units: Sequence[tuple[float, str]], digits: int) -> str:
    """In the largest unit of which there is one, after rounding: 999.7 is 1 of the next."""
    if value is None:
        return "-"
    if not value:
        return "0"
    one = 1 - 0.5 * 10.0**-digits
    factor, unit = next(((factor, unit) for factor, unit in units if abs(value) >= one * factor), units[-1])
    return f"{_number(value / factor, digits)} {unit}"


def _number(value: float, digits: int) -> str:
    """At least so many significant digits, never as a power of ten but for less than 0.0001."""
    return f"{value:.0f}" if abs(value) >= 10**digits - 0.5 else f"{value:.{digits}g}"


def number_text(value: float | None, unit: str = "") -> str:
    """``1250 it/s``: a number of a program in its own unit; a dash for nothing."""
    return "-" if value is None else f"{value:.6g} {unit}".rstrip()


def quantity_text(value: float | str, unit: str | None) -> str:
    """A value in one of the units of metrics: ns, bit/s, share, bytes, count, text."""
    if isinstance(value, str):
        return value
    match unit:
        case "ns":
            return time_text(value)
        case "bit/s":
            return rate_text(value)
        case "share":
            return share_text(value)
        case "number":
            return number_text(value)
        case "index":
            return f"{value:.3f}"
    return f"{value:g}" + (" bytes" if unit == "bytes" else "")
