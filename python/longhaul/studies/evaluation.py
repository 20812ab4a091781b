"""Claims and how they are evaluated: a rule under conditions, on means with 95 % confidence intervals.

A condition *holds* if the whole interval is on the right side of the rule's bound, *fails* if the whole
interval is on the wrong side, and is *open* otherwise. A single measurement has no interval, and leaves its
condition open; a deterministic simulation and arithmetic have no error.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import floor, inf, log10
from typing import Any, Literal

from longhaul.analysis.estimates import estimate
from longhaul.studies.claims import Claim

Outcome = Literal["holds", "fails", "open"]

MOST_SHOWN = 4
"""Conditions with the same outcome that are listed with what was found."""


@dataclass(frozen=True)
class Measurement:
    """A number that a study found."""

    value: float
    half_width: float = 0.0
    """Of the 95 % confidence interval of the mean (Student); 0 if exact, infinite for one measurement."""
    runs: int = 1

    @property
    def low(self) -> float:
        """The lower end of the interval."""
        return self.value - self.half_width

    @property
    def high(self) -> float:
        """The upper end of the interval."""
        return self.value + self.half_width

    def shown(self, unit: str = "", *, percent: bool = False) -> str:
        """As text, with no more digits than the interval supports."""
        scale, unit = (100, "%") if percent else (1, unit)
        value, half = self.value * scale, self.half_width * scale
        if half == inf:
            return f"{_digits(value, _places(value))} {unit} (one run)".replace("  ", " ")
        if half == 0:
            return f"{_digits(value, _places(value))} {unit}".strip()
        # Two digits of the interval if it begins with a 1, else one; rounding must not make it nothing.
        places = max(0, -floor(log10(half)) + (1 if f"{half:e}"[0] == "1" else 0))
        return f"{_digits(value, places)} ±{_digits(half, places)} {unit}".strip()


def _places(value: float) -> int:
    """Decimal places that give three digits."""
    return 0 if value == 0 else max(0, 2 - floor(log10(abs(value))))


def _digits(value: float, places: int) -> str:
    return f"{value:,.{min(places, 6)}f}"


def measured(values: Iterable[float]) -> Measurement:
    """The mean of independent repetitions."""
    found = estimate(list(values))
    half = found.half_width
    return Measurement(found.mean, (0.0 if found.runs > 1 else inf) if half is None else half, found.runs)


def exact(value: float) -> Measurement:
    """What a deterministic simulation or arithmetic says."""
    return Measurement(value)


def ratios(upper: Sequence[float], lower: Sequence[float]) -> Measurement:
    """The mean ratio of pairs, measured in the same rounds."""
    return measured([one / other for one, other in zip(upper, lower, strict=True)])


@dataclass(frozen=True)
class Case:
    """A claim under one condition."""

    condition: str
    """Empty if there is only one."""
    outcome: Outcome
    found: str

    def shown(self) -> str:
        """The condition and what was found."""
        return f"{self.condition}: {self.found}" if self.condition else self.found


def holds_if(condition: str, holds: bool, found: str) -> Case:
    """A condition that needs no interval."""
    return Case(condition, "holds" if holds else "fails", found)


def at_least(
    condition: str, found: Measurement, bound: float, unit: str = "", *, percent: bool = False
) -> Case:
    """Whether a number is ``bound`` or more."""
    return between(condition, found, bound, inf, unit, percent=percent)


def at_most(
    condition: str, found: Measurement, bound: float, unit: str = "", *, percent: bool = False
) -> Case:
    """Whether a number is ``bound`` or less."""
    return between(condition, found, -inf, bound, unit, percent=percent)


def between(
    condition: str, found: Measurement, low: float, high: float, unit: str = "", *, percent: bool = False
) -> Case:
    """Whether a number is within bounds."""
    outcome: Outcome = "open"
    if low <= found.low and found.high <= high:
        outcome = "holds"
    elif found.high < low or found.low > high:
        outcome = "fails"
    return Case(condition, outcome, found.shown(unit, percent=percent))


def near(
    condition: str, found: Measurement, target: float, within: float, unit: str = "", *, percent: bool = False
) -> Case:
    """Whether a number differs from ``target`` by at most the share ``within`` of it."""
    low, high = (1 - within) * target, (1 + within) * target
    return between(condition, found, low, high, unit, percent=percent)


Word = Literal["reproduced", "depends", "not reproduced", "undecided", "not measured"]
WORDS: tuple[Word, ...] = ("reproduced", "depends", "not reproduced", "undecided", "not measured")
"""The verdicts on a claim."""


def word_of(cases: Sequence[Case]) -> Word:
    """The verdict of a claim that was evaluated under these conditions."""
    outcomes = {case.outcome for case in cases}
    if not outcomes:
        return "not measured"
    if outcomes == {"holds"}:
        return "reproduced"
    if outcomes == {"fails"}:
        return "not reproduced"
    return "depends" if {"fails", "holds"} <= outcomes else "undecided"


@dataclass(frozen=True)
class EvaluatedClaim:
    """A claim with what was found under each condition; without conditions it is not measured."""

    claim: Claim
    cases: tuple[Case, ...] = ()

    @property
    def word(self) -> Word:
        """The verdict in a word or two."""
        return word_of(self.cases)

    @property
    def verdict(self) -> str:
        """The verdict in full, such as ``reproduced`` or ``depends on the delay``."""
        match self.word:
            case "depends":
                return f"depends on {self.claim.over or 'the condition'}"
            case "undecided":
                return "undecided: the interval includes the limit"
            case word:
                return word

    def found(self) -> str:
        """What was found under each condition, the failing ones first and in full."""
        parts = []
        several = len({case.outcome for case in self.cases}) > 1
        for outcome, word in (("fails", "fails"), ("open", "open"), ("holds", "holds")):
            cases = [case for case in self.cases if case.outcome == outcome]
            if not cases:
                continue
            if len(cases) <= MOST_SHOWN or outcome == "fails":
                text = "; ".join(case.shown() for case in cases)
            else:
                text = f"{cases[0].shown()}; ...; {cases[-1].shown()} ({len(cases)} conditions)"
            parts.append(f"{word}: {text}" if several else text)
        return ". ".join(parts)

    def as_result(self) -> dict[str, Any]:
        """For ``claims.json``, which has results only."""
        return {"id": self.claim.id, "verdict": self.word, "cases": [vars(case) for case in self.cases]}

    def as_json(self) -> dict[str, Any]:
        """For programs: the claim and its result."""
        found = {"verdict": self.verdict, "word": self.word, "cases": [vars(case) for case in self.cases]}
        return {**self.claim.as_json(), **found}
