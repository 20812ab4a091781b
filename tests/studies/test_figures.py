"""Figures of studies follow from committed tables and from the values that papers state."""

import re
import shutil
from collections.abc import Iterator, Mapping
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from longhaul.studies import Figures, Part, StudyFolder
from longhaul.studies.catalogue import studies_in
from longhaul.studies.figures import cells, redraw
from longhaul.studies.results_files import read_results

from .conftest import STUDIES

WITH_PAPER = [study for study in studies_in(STUDIES) if study.paper.figures]
PAGES = STUDIES.parent / "docs" / "studies"
PICTURE = re.compile(r"^!\[[^\]]+\]\(\.\./images/study-[\w-]+\.png\)$", re.MULTILINE)
Rows = list[dict[str, Any]]


@pytest.fixture(params=WITH_PAPER, ids=lambda study: study.name)
def study(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> StudyFolder:
    monkeypatch.syspath_prepend(str(request.param.folder))
    return request.param


def drawing_parts(study: StudyFolder) -> Mapping[str, Part]:
    program = import_module(study.folder.name)
    if study.name == "teragrid":
        return {"trials": Part(lambda _study, _given: None, draw=import_module("pictures").draw)}
    return program.PARTS


# What parts without committed results would write: so many rows that each curve has two rounds.


def linux_cases() -> Rows:
    def values(run: Any) -> Mapping[str, float | None]:
        return {"mbits": 400.0, "jain": 0.99 if len(run.trial.flows) > 1 else None}

    return [
        {
            "figure": run.figure,
            "control": run.control,
            **{
                f"{hosts}_{name}": value
                for hosts in ("linux", "simulated")
                for name, value in values(run).items()
            },
        }
        for run in import_module("on_linux").runs()
    ]


def linux_rates() -> Rows:
    return [
        {"run": run.key, "hosts": hosts, "flow": flow, "t_s": time + 0.5, "mbits": 300.0}
        for run in import_module("on_linux").runs()
        for hosts, flow, time in product(("Linux", "simulated"), run.trial.flows, range(3))
    ]


def linux_spacing() -> dict[str, Rows]:
    links = import_module("spacing").LABELS
    return {
        "linux-spacing-rates": [
            {"link": link, "t_ms": time / 10, "mbits": 100.0} for link, time in product(links, range(9))
        ],
        "linux-spacing-packets": [
            {"link": link, "event": event, "t_us": 120.0 * number}
            for link, event, number in product(links, ("arrive", "leave"), range(9))
        ],
    }


def file_systems() -> Rows:
    module = import_module("file_systems")
    return [
        {"delay_ms": delay, "read_ahead_kib": ahead, "system": system, "task": task}
        | {"operations": 200, "bytes": 64 * 2**20, "seconds": 1 + delay / 5}
        for delay, ahead in product(module.DELAYS_MS, (module.READ_AHEAD_KIB, module.MORE_KIB))
        for system, task in product(module.SYSTEMS, (*module.SMALL_TASKS, *module.LARGE_TASKS))
    ]


def pingpong(column: str, names: tuple[str, ...]) -> Rows:
    sizes = import_module("pingpong").SIZES
    return [
        {column: name, "round": number, "bytes": size, "mean_ms": 5 + size / 1e3 + number}
        for name, number, size in product(names, (0, 1), sizes)
    ]


def gateway() -> Rows:
    return [
        {
            "algorithm": algorithm,
            "connections": each,
            "round": number,
            "max_ms": 9,
            "p99_ms": 8 + number,
            "median_ms": 7,
        }
        for algorithm, each, number in product(("one-thread", "paper"), (2, 40), (0, 1))
    ]


def steps() -> dict[str, Rows]:
    points = list(product(range(3), import_module("agreement").SIZES))
    hows = ("expected", "live", "relay", "simulated")
    return {
        "agreement": [
            {"step": step, "bytes": size, **{f"{how}_ms": 10 + size / 1e3 for how in hows}}
            for step, size in points
        ],
        "agreement-rounds": [
            {"how": how, "round": number, "step": step, "bytes": size, "ms": 10 + number + size / 1e3}
            for how, number, (step, size) in product(("live", "relay"), (0, 1), points)
        ],
    }


def paced_live() -> Rows:
    kinds = ("unpaced", "host paces", "socket paces")
    return [
        {"algorithm": algorithm, "sender": kind, "round": number, "mbit": 30 + number}
        for algorithm, kind, number in product(("reno", "cubic"), kinds, (0, 1))
    ]


def goodputs() -> Rows:
    trials = import_module("trials")
    every = [*trials.ALGORITHMS, *trials.STOCHASTIC_ONE, *trials.PARALLEL]
    names = {
        "readings": ["SACK"],
        "alone": [name for name, _flow in every],
        **{
            sweep: [name for name, _flow in (*trials.ALGORITHMS, *trials.STOCHASTIC_N)]
            for sweep in ("long", "short")
        },
    }
    return [
        {
            "sweep": sweep,
            "reading": reading,
            "round_trip_ms": 65,
            "variant": name,
            "trials": 2,
            "mbits": 300 + 10 * place,
            "sd_mbits": 20,
            "others_mbits": 400 if sweep in ("long", "short") else 0,
            "others_sd_mbits": 30,
            "taken_share": 0.1,
            "taken_half_width": 0.02,
        }
        for sweep, every_name in names.items()
        for reading in ("minutes", "seconds")
        for place, name in enumerate(every_name)
    ]


def unmeasured(study: StudyFolder, part: str) -> dict[str, Rows]:
    """Tables of a part that has no committed results."""
    if study.name == "longcut":
        kinds = ("nws", "eventspace", "constant")
        return {
            "precision": lambda: {"figure4": pingpong("path", ("real", "emulated"))},
            "kinds-relayed": lambda: {"figure5-relayed": pingpong("kind", kinds)},
            "scalability": lambda: {"figure7": gateway()},
            "agreement": steps,
        }[part]()
    return {
        ("ewan", "linux"): lambda: {"on-linux": linux_cases(), "on-linux-rates": linux_rates()},
        ("ewan", "linux-spacing"): linux_spacing,
        ("ewan", "file-systems"): lambda: {"file-systems": file_systems()},
        ("pacing", "live"): lambda: {"live": paced_live()},
        ("teragrid", "trials"): lambda: {
            "goodput": goodputs(),
            "validation": [{"mbits": 400 + number} for number in range(83)],
        },
    }[study.name, part]()


def drawn(study: StudyFolder) -> Iterator[tuple[str, Figures]]:
    """The figures of every part: from committed tables, or of such as a part would write."""
    for name, part in drawing_parts(study).items():
        assert part.draw, f"{name} draws nothing"
        tables = {} if name in study.measured_parts else unmeasured(study, name)
        figures = Figures(study, tables)
        part.draw(figures)
        yield name, figures


def test_every_figure_of_the_paper_is_drawn_or_has_a_reason_why_not(study: StudyFolder) -> None:
    names = {name for _part, figures in drawn(study) for name in figures.drawn}
    wanted = {name for figure in study.paper.figures for name in figure.ours}
    assert wanted <= names, wanted - names


def test_committed_figures_are_those_that_the_tables_give(study: StudyFolder, tmp_path: Path) -> None:
    copy = tmp_path / "studies" / study.folder.name
    shutil.copytree(study.folder, copy)
    again = StudyFolder(copy)
    before = read_results(again.results)
    for name, part in drawing_parts(study).items():
        assert part.draw
        made = redraw(again, name, part.draw)
        assert made == list(study.measured_parts.get(name, {}).get("figures", {}))
        for figure in made:
            assert (again.figures / f"study-{study.name}-{figure}.png").is_file()
    # Nothing else has changed.
    assert read_results(again.results) == before


def test_a_figure_whose_values_the_paper_states_shows_them(study: StudyFolder) -> None:
    """A diamond, a dashed line or a mark in the paper's black, somewhere in the figure."""
    stated = {name for figure in study.paper.figures if figure.values for name in figure.ours}
    for _part, figures in drawn(study):
        for name in stated & set(figures.drawn):
            made = figures.drawn[name][0]
            labels = {text for axes in made.axes for text in axes.get_legend_handles_labels()[1]}
            assert any(label.startswith("paper") for label in labels), name


def numbers_of_claims(study: StudyFolder) -> dict[float, str]:
    """Each number that a claim shows as the paper's own."""
    found = {}
    for claim in study.claims.claims:
        stated = " ".join(claim.paper)
        for name in claim.numbers:
            for each in claim.numbers.all(name):
                forms = f"{re.escape(f'{each:,}')}|{re.escape(f'{100 * each:g} %')}"
                if re.search(rf"(?<![\d.])({forms})(?![\d.])", stated):
                    found[float(each)] = f"{claim.id}.{name}"
    return found


def literals(study: StudyFolder) -> list[float]:
    """Numbers in ``y`` and ``spread`` that stand in ``paper.yaml`` itself."""
    text = (study.folder / "paper.yaml").read_text(encoding="utf-8")
    found = []
    for values in re.findall(r"\b(?:y|spread): (\[[^\]]*\]|[^,}\n]+)", text):
        found += [float(each) for each in re.findall(r"(?<![\w.-])\d+(?:\.\d+)?(?![\w-])", values)]
    return found


def test_a_number_of_a_claim_has_no_second_copy(study: StudyFolder) -> None:
    claimed = numbers_of_claims(study)
    copies = {each: claimed[each] for each in literals(study) if each in claimed}
    assert copies == {}, "name them in paper.yaml as CLAIM.NUMBER"


def test_numbers_in_the_claims_of_the_table_are_those_of_the_table() -> None:
    (study,) = (each for each in WITH_PAPER if each.name == "pacing")
    table = {value.y for value in study.paper.values("table")}
    quoted = 0
    for claim in study.claims.claims:
        for text in claim.paper if claim.part == "table" else ():
            numbers = re.findall(r"(?<![\d.])\d[\d,]*(?:\.\d+)?(?= (?:and|to|drops|MB/s)|, \d)", text)
            quoted += len(numbers)
            assert {float(each.replace(",", "")) for each in numbers} <= table, text
    assert quoted >= 16


def test_every_picture_of_a_page_has_a_caption_that_says_what_is_whose(study: StudyFolder) -> None:
    text = (PAGES / f"{study.name}.md").read_text(encoding="utf-8")
    pictures = list(PICTURE.finditer(text))
    assert len(pictures) == sum(len(part["figures"]) for part in study.measured_parts.values())
    for each in pictures:
        assert text[each.end() :].startswith("\n\n<sub>Ours: "), each[0]


def test_cells_are_what_their_texts_say_whether_measured_now_or_read() -> None:
    fresh = {"a": 1, "b": 2.5, "c": True, "d": None, "e": "1 ms", "f": "", "g": "(1, 2)"}
    read = {name: "" if each is None else str(each) for name, each in fresh.items()}
    expected = {"a": 1, "b": 2.5, "c": True, "d": None, "e": "1 ms", "f": None, "g": "(1, 2)"}
    assert cells(fresh) == cells(read) == expected
