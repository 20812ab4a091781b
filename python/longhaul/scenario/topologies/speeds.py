"""Rates of links as operators write them on their maps."""

import re
from fractions import Fraction

_PREFIX = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_NAMED = {
    "t1": 1_544_000,
    "ds1": 1_544_000,
    "e1": 2_048_000,
    "e3": 34_368_000,
    "t3": 44_736_000,
    "ds3": 44_736_000,
    "e4": 139_264_000,
    "fe": 100_000_000,
    "fastethernet": 100_000_000,
    "ge": 10**9,
    "gige": 10**9,
    "gbe": 10**9,
    "gigabitethernet": 10**9,
}
"""ANSI T1.107 and ITU-T G.702 (T1, E1, ...), IEEE 802.3."""
_OC_BITS = 51_840_000
"""SONET OC-1; OC-n is n times as fast (ANSI T1.105)."""
_STM_BITS = 155_520_000
"""SDH STM-1; STM-n is n times as fast (ITU-T G.707)."""

_TIMES = re.compile(r"([0-9]{1,3})[x*×](.+)")
_NUMBER = re.compile(
    r"[<>~≤≥]*([0-9]{1,9}(?:[.,][0-9]{1,6})?)([kmgt])(?:i?b(?:it|its)?(?:/s|ps|/sec)?|bits/s|ps|e|be|ige)?"
)
_LONG = re.compile(r"([0-9]{1,4}(?:\.[0-9]+)?)(giga|mega|kilo|tera)bit(?:s)?(?:/s|ps|ethernet|persecond)?")
_MULTIPLE = re.compile(r"(oc|stm)-?([0-9]{1,4})c?")


def speed(label: str) -> int | None:
    """Bits per second that ``label`` spells, such as ``OC-192c``, ``10 Gbps``, ``2xSTM-16``; None if none."""
    text = re.sub(r"\s+", "", label).lower()
    if times := _TIMES.fullmatch(text):
        each = speed(times[2])
        return None if each is None else int(times[1]) * each
    if multiple := _MULTIPLE.fullmatch(text):
        return int(multiple[2]) * (_OC_BITS if multiple[1] == "oc" else _STM_BITS) or None
    if long := _LONG.fullmatch(text):
        return int(Fraction(long[1]) * _PREFIX[long[2][0]]) or None
    if number := _NUMBER.fullmatch(text):
        return int(Fraction(number[1].replace(",", ".")) * _PREFIX[number[2]]) or None
    return _NAMED.get(text.replace("-", ""))
