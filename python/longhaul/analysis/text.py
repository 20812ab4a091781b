"""Quantities as people read them: three digits and a unit."""

from collections.abc import Sequence

_SPANS = ((1e9, "s"), (1e6, "ms"), (1e3, "us"), (1.0, "ns"))
_RATES = ((1e12, "Tbit/s"), (1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s"), (1.0, "bit/s"))
_SIZES = ((1e15, "PB"), (1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B"))


def time_text(ns: float | None) -> str:
    """``12.3 us``; a dash for nothing."""
    return _scaled(ns, _SPANS)


def range_text(bounds_ns: Sequence[float | None]) -> str:
    """``38-60 ms`` for two bounds, ``38 ms`` where they are equal."""
    low, high = time_text(bounds_ns[0]), time_text(bounds_ns[-1])
    if low == high:
        return low
    number, _, unit = low.partition(" ")
    return f"{number}-{high}" if high.endswith(unit) else f"{low} - {high}"


def rate_text(bits_per_s: float | None) -> str:
    """``9.41 Gbit/s``; a dash for nothing."""
    return _scaled(bits_per_s, _RATES)


def bytes_text(size: float | None) -> str:
    """``40 GB``; a dash for nothing."""
    return _scaled(size, _SIZES)


def share_text(share: float | None) -> str:
    """``0.02 %``; a dash for nothing."""
    if share is None:
        return "-"
    return f"{_three_digits(share * 100)} %" if share else "0"


def _scaled(value: float | None, units: Sequence[tuple[float, str]]) -> str:
    """In the largest unit of which there is one, after rounding: 999.7 is 1 of the next."""
    if value is None:
        return "-"
    if not value:
        return "0"
    factor, unit = next(
        ((factor, unit) for factor, unit in units if abs(value) >= 0.9995 * factor), units[-1]
    )
    return f"{_three_digits(value / factor)} {unit}"


def _three_digits(value: float) -> str:
    """At least three significant digits, never as a power of ten but for less than 0.0001."""
    return f"{value:.0f}" if abs(value) >= 999.5 else f"{value:.3g}"


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
    return f"{value:g}" + (" bytes" if unit == "bytes" else "")
