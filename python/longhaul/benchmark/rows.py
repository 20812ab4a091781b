"""A benchmark's results as rows of text: scorecard, tables of scenarios, differences."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import mean
from typing import Any

from longhaul.benchmark.suite import Score
from longhaul.units.text import rate_text, share_text, time_text

Json = Mapping[str, Any]

MODES = {"live": "live", "sim": "simulated"}


@dataclass(frozen=True)
class Cell:
    """One value as text, and whether live and simulated disagree about it."""

    text: str
    mark: str = ""
    """``certain``: statistically significant; ``unsure``: not; empty: they agree, or there is one."""
    value: float | None = None
    difference: str = ""
    """Simulated against live, where they disagree."""


@dataclass(frozen=True)
class Line:
    """A line of the scorecard: one measure of all subjects."""

    title: str
    place: str
    """Which scenario it is from."""
    cells: Mapping[tuple[str, str], Cell]
    """By subject and mode."""


@dataclass(frozen=True)
class Table:
    """One case of a scenario: a row for each subject and mode."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, str, tuple[Cell, ...]], ...]
    """Subject, mode, cells."""


def scorecard(scores: Sequence[Score], plain: Json) -> list[Line]:
    """What matters most, in a dozen lines; only lines for which something was measured."""
    results, compared, measures = _index(plain)
    lines = []
    for score in scores:
        sources, measure = score.sources, score.measure
        cells: dict[tuple[str, str], Cell] = {}
        for subject in plain["subjects"]:
            for mode in MODES:
                found = [
                    results[scenario, case, subject, mode, measure]
                    for scenario, case in sources
                    if (scenario, case, subject, mode, measure) in results
                ]
                if not found:
                    continue
                value = mean(each["mean"] for each in found)
                is_open = any(each["open_runs"] for each in found)
                text = value_text(value, measures[measure]["unit"], is_open=is_open)
                mark = ""
                if len(sources) == 1:
                    mark = _mark(compared.get((*sources[0], subject, measure)))
                cells[subject, mode] = Cell(text, mark, value)
        if cells:
            measured = {key[0] for key in results if key[:2] in sources and key[4] == measure}
            is_alone = len(sources) > 1 and len(measured) == 1
            where = measured.pop() if is_alone else score.place.format(len(measured))
            lines.append(Line(score.title, where, cells))
    return lines


def tables(plain: Json, scenario: str) -> list[Table]:
    """A table for each case of a scenario, with intervals."""
    results, compared, measures = _index(plain)
    labels = list(dict.fromkeys(each["case"] for each in plain["results"] if each["scenario"] == scenario))
    made = []
    for label in labels:
        present = {
            each["measure"]
            for each in plain["results"]
            if each["scenario"] == scenario and each["case"] == label
        }
        columns = [name for name in measures if name in present]
        rows = []
        for subject in plain["subjects"]:
            for mode, word in MODES.items():
                cells = tuple(
                    _cell(
                        results.get((scenario, label, subject, mode, name)),
                        compared.get((scenario, label, subject, name)),
                        measures[name]["unit"],
                        mode,
                    )
                    for name in columns
                )
                if any(cell.text != "-" for cell in cells):
                    rows.append((subject, word, cells))
        made.append(Table(label, tuple(measures[name]["title"] for name in columns), tuple(rows)))
    return made


def disagreements(plain: Json) -> list[Json]:
    """Where live and simulated differ by more than 15 %: significant differences first, then by size."""
    measures = {each["name"]: each for each in plain["measures"]}
    found = [
        {
            **each,
            "title": measures[each["measure"]]["title"],
            "live_text": value_text(each["live"], measures[each["measure"]]["unit"]),
            "simulated_text": value_text(each["simulated"], measures[each["measure"]]["unit"]),
            "difference_text": difference_text(each["difference"]),
            "mark": _mark(each),
        }
        for each in plain["compared"]
        if each["disagrees"]
    ]
    return sorted(found, key=lambda each: (each["mark"] != "certain", -_size(each)))


def value_text(value: float, unit: str, *, is_open: bool = False) -> str:
    """A value as people read it; ``>`` in front of times that the end of the run cut off."""
    match unit:
        case "share":
            text = share_text(float(f"{value:.3g}"))
        case "s":
            text = time_text(value * 1e9)
        case "bit/s":
            text = rate_text(value)
        case _:
            text = f"{value:.2f}"
    return f"> {text}" if is_open else text


def difference_text(difference: float | None) -> str:
    """``+34 %``."""
    return "from nothing" if difference is None else f"{difference * 100:+.0f} %"


def _cell(result: Json | None, compared: Json | None, unit: str, mode: str) -> Cell:
    if result is None:
        return Cell("-")
    text = value_text(result["mean"], unit, is_open=bool(result["open_runs"]))
    half = result["half_width"]
    if half is not None and half > 0.005 * abs(result["mean"]):
        text += f" ±{_half_text(half, result['mean'], unit)}"
    mark = _mark(compared) if mode == "sim" else ""
    told = difference_text(compared["difference"]) if compared and mark else ""
    return Cell(text, mark, result["mean"], told)


def _half_text(half: float, value: float, unit: str) -> str:
    """Half of an interval, in the unit in which the value is written."""
    factors = {"share": (0.01,), "s": (1.0, 1e-3, 1e-6), "bit/s": (1e9, 1e6, 1e3)}.get(unit)
    if factors is None:
        return f"{half:.2f}"
    scaled = half / next((each for each in factors if abs(value) >= each), factors[-1])
    return f"{scaled:.0f}" if scaled >= 9.5 else f"{scaled:.1g}"


def _mark(compared: Json | None) -> str:
    if not compared or not compared["disagrees"]:
        return ""
    return "certain" if compared["certain"] else "unsure"


def _size(each: Json) -> float:
    return float("inf") if each["difference"] is None else abs(each["difference"])


def _index(
    plain: Json,
) -> tuple[dict[tuple[str, ...], Json], dict[tuple[str, ...], Json], dict[str, Json]]:
    results: dict[tuple[str, ...], Json] = {
        (each["scenario"], each["case"], each["subject"], each["mode"], each["measure"]): each
        for each in plain["results"]
    }
    compared: dict[tuple[str, ...], Json] = {
        (each["scenario"], each["case"], each["subject"], each["measure"]): each for each in plain["compared"]
    }
    return results, compared, {each["name"]: each for each in plain["measures"]}


def subjects_in(plain: Json, mode: str) -> Sequence[str]:
    """The subjects that were run so, in the order in which they were named."""
    there = {each["subject"] for each in plain["results"] if each["mode"] == mode}
    return [each for each in plain["subjects"] if each in there]
