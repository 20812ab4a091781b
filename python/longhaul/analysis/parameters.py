"""The parameters in which runs differ, with short names, and names of runs that are made of them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from longhaul.analysis.differences import ABSENT, Difference, Facts, differences

Json = Mapping[str, Any]

MOST_NAMED = 3
"""Parameters in a name."""
_SHORT = {"congestion control": "cc"}
_MOST_CHARACTERS = 32
"""Of a value in a name."""


@dataclass(frozen=True)
class Parameter:
    """A property that is not the same in all runs."""

    name: str
    """``cc``, or ``delay of link wan`` where the delays of several links differ independently."""
    values: tuple[str, ...]
    """As text, in the order of the runs."""


def parameters(runs: Sequence[Facts]) -> list[Parameter]:
    """What differs between runs, traffic first; see :func:`longhaul.analysis.differences.differences`."""
    found = sorted(differences(_touched(runs)), key=lambda each: not each.subjects[0].startswith("traffic "))
    counts = Counter(each.what for each in found if ABSENT not in each.values)
    return [Parameter(_name(each, is_alone=counts[each.what] == 1), each.values) for each in found]


def _name(difference: Difference, *, is_alone: bool) -> str:
    if ABSENT in difference.values:
        return difference.subject
    what = _SHORT.get(difference.what, difference.what)
    return what if is_alone else f"{what} of {difference.subject}"


def _touched(runs: Sequence[Facts]) -> list[Facts]:
    """The facts about subjects that differ in any run."""
    if not runs:
        return []
    distinct = list({id(each): each for each in runs}.values())
    first = distinct[0]
    subjects = set()
    for other in distinct[1:]:
        if other.keys() != first.keys():
            subjects |= {subject for subject, _ in other.keys() ^ first.keys()}
        subjects |= {key[0] for key, fact in other.items() if key in first and first[key].exact != fact.exact}
    reduced = {id(each): {key: each[key] for key in each if key[0] in subjects} for each in distinct}
    return [reduced[id(each)] for each in runs]


def algorithms(facts: Facts) -> str | None:
    """The congestion-control algorithms of a run's traffic: ``cubic+reno``; ``None`` without any."""
    found = {
        str(fact)
        for (subject, what), fact in facts.items()
        if what == "congestion control" and subject.startswith("traffic ") and fact.exact != "null"
    }
    return "+".join(sorted(found)) or None


def distinguishing(found: Sequence[Parameter], count: int, *, most: int = MOST_NAMED) -> list[Parameter]:
    """The parameters, ``most`` at most, that distinguish most of ``count`` runs, in their order."""
    chosen: list[int] = []
    groups: list[tuple[str, ...]] = [()] * count
    while len(chosen) < most and len(set(groups)) < count:
        rest = [place for place in range(len(found)) if place not in chosen]
        best = max(rest, key=lambda place: len(set(_refined(groups, found[place]))), default=None)
        if best is None or len(set(_refined(groups, found[best]))) == len(set(groups)):
            break
        chosen.append(best)
        groups = _refined(groups, found[best])
    return [found[place] for place in sorted(chosen)]


def _refined(groups: Sequence[tuple[str, ...]], by: Parameter) -> list[tuple[str, ...]]:
    return [(*group, value) for group, value in zip(groups, by.values, strict=True)]


def names(
    found: Sequence[Parameter],
    count: int,
    *,
    further: Sequence[Parameter] = (),
    beside: Sequence[str] | None = None,
) -> list[str]:
    """A name for each of ``count`` runs, made of what differs: ``cc=reno, seed=2``.

    ``further`` parameters, such as the seed, are named where the others leave runs alike. Runs that are alike
    in everything, and in what stands ``beside`` their names, are numbered from the second on. The only run,
    and one like no other, has an empty name.
    """
    chosen = distinguishing(found, count)
    labels = [_joined(chosen, place) for place in range(count)]
    apart = beside or [""] * count
    for each in further:
        alike: dict[tuple[str, str], set[str]] = {}
        for key, value in zip(zip(labels, apart, strict=True), each.values, strict=True):
            alike.setdefault(key, set()).add(value)
        labels = [
            ", ".join(filter(None, (name, f"{each.name}={value}"))) if len(alike[name, other]) > 1 else name
            for name, other, value in zip(labels, apart, each.values, strict=True)
        ]
    seen: Counter[tuple[str, str]] = Counter()
    numbered = []
    for name, other in zip(labels, apart, strict=True):
        seen[name, other] += 1
        number = seen[name, other]
        numbered.append(f"{name} ({number})".strip() if number > 1 else name)
    return numbered


def _joined(chosen: Sequence[Parameter], place: int) -> str:
    return ", ".join(f"{each.name}={_short(each.values[place])}" for each in chosen)


def _short(value: str) -> str:
    return value if len(value) <= _MOST_CHARACTERS else f"{value[: _MOST_CHARACTERS - 1]}…"
