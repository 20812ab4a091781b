"""Quantities as people read them: three digits and a unit."""

from collections.abc import Sequence


def time_text(ns: float | None) -> str:
    """``12.3 us``; a dash for nothing."""
    if ns is None:
        return "-"
    for unit, factor in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if abs(ns) >= factor:
            return f"{ns / factor:.3g} {unit}" if ns / factor < 1000 else f"{ns / factor:.0f} {unit}"
    return f"{ns:.3g} ns" if ns else "0"


def range_text(bounds_ns: Sequence[float | None]) -> str:
    """``38-60 ms`` for two bounds, ``38 ms`` where they are equal."""
    low, high = time_text(bounds_ns[0]), time_text(bounds_ns[-1])
    if low == high:
        return low
    number, _, unit = low.partition(" ")
    return f"{number}-{high}" if high.endswith(unit) else f"{low} - {high}"


def rate_text(bits_per_s: float | None) -> str:
    """``9.41 Gbit/s``; a dash for nothing."""
    if bits_per_s is None:
        return "-"
    for unit, factor in (("Gbit/s", 1e9), ("Mbit/s", 1e6), ("kbit/s", 1e3)):
        if bits_per_s >= factor:
            return f"{bits_per_s / factor:.3g} {unit}"
    return f"{bits_per_s:.3g} bit/s" if bits_per_s else "0"


def share_text(share: float | None) -> str:
    """``0.02 %``; a dash for nothing."""
    if share is None:
        return "-"
    return f"{share * 100:.3g} %" if share else "0"


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
