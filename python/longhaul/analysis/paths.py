"""Paths from probes, and the link delays that fit them: docs/models/paths.md."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from statistics import median

from longhaul.analysis.traces import Answers, Pings, Trace, both, by_path, foremost, merged

FEWEST = 3
"""Answers that an estimate of jitter needs."""


@dataclass(frozen=True)
class Station:
    """A place on a path."""

    key: str
    """Its address; its name, if that is not known."""
    name: str | None = None
    end: bool = False
    """Whether paths begin or end there."""
    others: tuple[str, ...] = ()
    """Addresses that answered from the same distance, less often."""


@dataclass(frozen=True)
class Stretch:
    """Two places that followed one another: one link or, where routers were silent, several."""

    ends: tuple[str, str]
    delay_ns: int
    """One way: half of what it adds to the round trip."""
    jitter_ns: int | None
    """The mean of what is added to that, one way; None if there were too few answers."""
    round_trips_ns: tuple[int, int]
    """To its first and second end, as taken; from the first source that saw it."""
    slow: tuple[int | None, int | None] = (None, None)
    """What was measured at an end, where answers came slower than from farther away."""
    answers: int = 0
    """At its second end."""
    silent: int = 0
    """Distances in between from which nothing came."""
    seen_ns: tuple[int, ...] = ()
    """The delay as each source saw it."""
    known: bool = True
    """Whether its second end ever answered."""


@dataclass(frozen=True)
class PathMap:
    """All paths together."""

    stations: Mapping[str, Station]
    stretches: tuple[Stretch, ...]
    paths: Mapping[tuple[str, str], tuple[str, ...]]
    """The places from each source to each target."""
    pings: Mapping[tuple[str, str], Pings]
    notes: tuple[str, ...] = ()


@dataclass
class _Seen:
    """What one source knows of one place."""

    answers: Answers | None = None
    after: set[str] = field(default_factory=set)


def map_paths(traces: Sequence[Trace]) -> PathMap:
    """One map of all ``traces``; places are the same if their addresses are."""
    aliases = {trace.target: trace.address for trace in traces if trace.address}
    notes: list[str] = []
    stations: dict[str, Station] = {}
    paths: dict[tuple[str, str], tuple[str, ...]] = {}
    silent: dict[tuple[str, str], int] = {}
    views: dict[str, dict[str, _Seen]] = defaultdict(lambda: defaultdict(_Seen))
    pings: dict[tuple[str, str], Pings] = {}
    for (source, target), together in by_path(traces, aliases).items():
        trace = merged(together)
        source_name, target_name = together[0].source, together[0].target
        stations[source] = replace(stations.get(source, Station(source)), name=source_name, end=True)
        view = views[source]
        places, gaps = _places(trace, source, target, notes)
        for hop in trace.hops:
            best = foremost(hop)
            for answers in hop.answers:
                key = target if answers.address == trace.address else answers.address
                seen = view[key]
                seen.answers = both(seen.answers, answers)
            if best and best.address in places:
                others = tuple(each.address for each in hop.answers if each.address != best.address)
                known = stations.get(best.address, Station(best.address))
                every = tuple(dict.fromkeys((*known.others, *others)))
                stations[best.address] = replace(known, name=known.name or best.name, others=every)
        end = stations.get(target, Station(target))
        name = end.name if target_name == target and end.name else target_name
        stations[target] = replace(end, name=name, end=True)
        if trace.pings:
            pings[source, target] = trace.pings
            if trace.pings.answers:
                seen = view[target]
                seen.answers = both(seen.answers, trace.pings.answers)
        paths[source, target] = places
        for pair, gap in gaps.items():
            silent[pair] = min(gap, silent.get(pair, gap))
        for here, there in pairwise(places):
            view[here].after.add(there)
        if not trace.reached and not (trace.pings and trace.pings.received):
            last = places[-2] if len(places) > 2 else None
            where = f"; the last that did is {last}" if last else ""
            notes.append(f"{target_name} did not answer{where}; what lies behind is not known")
        notes += [f"{target_name}: {note}" for note in trace.notes]
    stretches = _stretches(paths, views, silent)
    return PathMap(stations, stretches, paths, pings, tuple(dict.fromkeys(notes)))


def _places(
    trace: Trace, source: str, target: str, notes: list[str]
) -> tuple[tuple[str, ...], dict[tuple[str, str], int]]:
    """The places from ``source`` to ``target``, each once, and how many were silent between two."""
    steps = [(source, 0)]
    for hop in trace.hops:
        best = foremost(hop)
        if best is None:
            continue
        key = target if best.address == trace.address else best.address
        again = next((position for position, (name, _at) in enumerate(steps) if name == key), None)
        if again is not None:
            if again < len(steps) - 1:
                notes.append(
                    f"{trace.target}: {key} answers from {steps[again][1]} and {hop.distance} hops away"
                )
            steps = steps[: again + 1]
            steps[again] = (key, hop.distance if again else 0)
        else:
            steps.append((key, hop.distance))
    if steps[-1][0] != target:
        beyond = max((hop.distance for hop in trace.hops), default=0) + (0 if trace.reached else 1)
        steps.append((target, beyond))
    gaps = {
        (here, there): max(0, there_at - here_at - 1)
        for (here, here_at), (there, there_at) in pairwise(steps)
    }
    return tuple(name for name, _distance in steps), gaps


def _stretches(
    paths: Mapping[tuple[str, str], tuple[str, ...]],
    views: Mapping[str, Mapping[str, _Seen]],
    silent: Mapping[tuple[str, str], int],
) -> tuple[Stretch, ...]:
    found: dict[frozenset[str], list[Stretch]] = defaultdict(list)
    levels = {
        source: (
            lower_envelope({source: 0, **_shortest(view)}, _after(view)),
            lower_envelope({source: 0, **_excess(view)}, _after(view)),
        )
        for source, view in views.items()
    }
    done = set()
    for (source, _target), places in paths.items():
        for here, there in pairwise(places):
            if (source, here, there) not in done:
                done.add((source, here, there))
                trips, excess = levels[source]
                stretch = _stretch(here, there, views[source], trips, excess)
                found[frozenset((here, there))].append(replace(stretch, silent=silent.get((here, there), 0)))
    return tuple(_agreed(every) for every in found.values())


def _stretch(
    here: str,
    there: str,
    view: Mapping[str, _Seen],
    trips: Mapping[str, float],
    excess: Mapping[str, float],
) -> Stretch:
    start = trips.get(here, 0.0)
    end = trips.get(there, start)
    measured = _shortest(view)
    slow = tuple(
        round(measured[key]) if key in measured and measured[key] > trips[key] else None
        for key in (here, there)
    )
    jitter = None
    if here in excess and there in excess:
        jitter = round((excess[there] - excess[here]) / 2)
    answers = view[there].answers
    return Stretch(
        (here, there),
        round((end - start) / 2),
        jitter,
        (round(start), round(end)),
        slow=(slow[0], slow[1]),
        answers=answers.count if answers else 0,
        known=there in trips,
    )


def lower_envelope(measured: Mapping[str, float], after: Mapping[str, Iterable[str]]) -> dict[str, float]:
    """The largest values that nowhere exceed ``measured`` and nowhere fall from a place to one after it.

    What is measured at a place can only be too large, since an answer may be made slowly, and never too
    small; so no place is farther away than any of those behind it. Places without a value take that of what
    is behind them, and are left out if nothing is.
    """
    levels = dict(measured)
    for _round in range(len(after) + 1):
        changed = False
        for here, following in after.items():
            least = min((levels[there] for there in following if there in levels), default=None)
            if least is not None and (here not in levels or levels[here] > least):
                levels[here] = least
                changed = True
        if not changed:
            break
    return levels


def _after(view: Mapping[str, _Seen]) -> dict[str, set[str]]:
    return {key: seen.after for key, seen in view.items()}


def _shortest(view: Mapping[str, _Seen]) -> dict[str, float]:
    return {key: float(seen.answers.shortest_ns) for key, seen in view.items() if seen.answers}


def _excess(view: Mapping[str, _Seen]) -> dict[str, float]:
    """By how much the mean lies above the shortest that there can be, there and back.

    The shortest of n is itself above it: by an nth of the mean for exponential jitter, which is added.
    """
    found = {}
    for key, seen in view.items():
        answers = seen.answers
        if answers and answers.count >= FEWEST:
            over = answers.mean_ns - answers.shortest_ns
            found[key] = over * answers.count / (answers.count - 1)
    return found


def _agreed(every: Sequence[Stretch]) -> Stretch:
    """One stretch of what several sources saw: the median of their delays."""
    if len(every) == 1:
        return every[0]
    known = [each for each in every if each.known] or list(every)
    jitters = [each.jitter_ns for each in known if each.jitter_ns is not None]
    return replace(
        known[0],
        delay_ns=round(median(each.delay_ns for each in known)),
        jitter_ns=round(median(jitters)) if jitters else None,
        seen_ns=tuple(each.delay_ns for each in known),
        silent=min(each.silent for each in every),
    )
