"""Configured quantities as text, with four digits: 42.25 ms is what a scenario says, and 42.3 ms is not."""

from longhaul.units.text import bytes_text, rate_text, share_text, time_text

_DIGITS = 4


def span(ns: float) -> str:
    """A time: ``38 ms``, ``15 µs``."""
    return time_text(ns, digits=_DIGITS)


def rate(bits_per_s: float | None) -> str:
    """A rate; ``None`` is no limit."""
    return "unlimited" if bits_per_s is None else rate_text(bits_per_s, digits=_DIGITS)


def size(count: float | None) -> str:
    """Bytes, in decimal units as rates are; a dash for nothing."""
    return bytes_text(count, digits=_DIGITS)


def share(value: float) -> str:
    """A share in per cent."""
    return share_text(value, digits=_DIGITS)
