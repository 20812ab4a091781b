"""Many damaged run directories: results, reports, comparisons and the page refuse them in one line."""

import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from page.asgi import PORT, TOKEN, ask

import longhaul
from faults.test_damage import DAMAGES, SHORT, files
from longhaul.errors import LonghaulError
from longhaul.page.application import application
from longhaul.report.comparison_runs import sides
from longhaul.report.html import write_report
from longhaul.results.comparison import check_comparable, find_all
from longhaul.results.run_files import reading
from longhaul.results.summary import write_results

pytestmark = pytest.mark.usefixtures("no_sync")

CASES = 77
GOOD, BAD = "20260101T000000Z-sim-00000001", "20260101T000001Z-sim-00000002"
OTHER_VALUES = (None, {}, [], -1, "x", 1e300, True, "", [None], {"a": 1})
OTHER_CELLS = ("", "x", "-1", "1e400", '"', "\x00", "nan")


def change_value(path: Path, chance: random.Random) -> None:
    """Another value, or none, somewhere in a JSON file."""
    content = json.loads(path.read_text())
    places: list[tuple[Any, Any]] = []

    def walk(node: Any) -> None:
        keys = list(node) if isinstance(node, dict) else range(min(len(node), 20))
        for key in keys:
            places.append((node, key))
            if isinstance(node[key], dict | list):
                walk(node[key])

    walk(content)
    if places:
        node, key = chance.choice(places)
        if chance.random() < 0.3:
            del node[key]
        else:
            node[key] = chance.choice(OTHER_VALUES)
    path.write_text(json.dumps(content))


def change_cell(path: Path, chance: random.Random) -> None:
    """Another value in a CSV file."""
    lines = path.read_text().splitlines()
    line = chance.randrange(min(len(lines), 50))
    cells = lines[line].split(",")
    cells[chance.randrange(len(cells))] = chance.choice(OTHER_CELLS)
    lines[line] = ",".join(cells)
    path.write_text("\n".join(lines) + "\n")


def damage(run: Path, name: str, chance: random.Random) -> str:
    own = {".json": [change_value] * 8, ".csv": [change_cell] * 6}.get(Path(name).suffix, [])
    chosen: Callable[[Path, random.Random], None] = chance.choice([*DAMAGES, *own])
    chosen(run / name, chance)
    return chosen.__name__


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("whole")
    (place / "short.yaml").write_text(SHORT)
    return longhaul.run_sim(place / "short.yaml", runs=place / "runs", report=False).directory


def compared(good: Path, bad: Path) -> None:
    groups = find_all((good, bad))
    check_comparable(groups)
    sides([(group.name, group.runs) for group in groups])


def refusal(use: Callable[[], object]) -> LonghaulError | None:
    try:
        use()
    except LonghaulError as error:
        return error
    return None


def test_no_damaged_run_is_an_internal_error(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A summary that nothing vouches for is shown as it is.
    monkeypatch.setattr("page.asgi.check_answer", lambda *_answer: None)
    good, bad = tmp_path / "runs" / "short" / GOOD, tmp_path / "runs" / "short" / BAD
    shutil.copytree(whole, good)
    app = application(tmp_path, token=TOKEN, port=PORT)
    chance = random.Random(77)
    names = list(files(whole))
    refused = read = 0
    for case in range(CASES):
        shutil.rmtree(bad, ignore_errors=True)
        shutil.copytree(whole, bad)
        name = chance.choice(names)
        kind = damage(bad, name, chance)
        if chance.random() < 0.6:
            # A run that was killed, or is older than manifests are.
            (bad / "manifest.json").unlink(missing_ok=True)
        about = f"case {case}: {kind} of {name}"
        paths = [f"/api/runs/short~{BAD}"]
        paths += [f"{paths[0]}/series?table={table}" for table in ("links", "flows", "probes")]
        for path in ("/api/runs", *paths):
            answer = ask(app, path)
            assert answer.status < 500, (about, path, answer.body)
            assert path != "/api/runs" or GOOD in answer.body.decode(), about
        uses: list[Callable[[], object]] = [lambda: compared(good, bad), lambda: write_results(bad)]
        for use in (*uses, lambda: write_report(bad)) if case % 25 == 0 else uses:
            error = refusal(use)
            if error is None:
                read += 1
                continue
            refused += 1
            assert error.exit_code == 2, about
            assert error.remedy, about
            assert "\n" not in str(error), about
    assert min(refused, read) > 10


def test_an_error_of_a_run_that_is_as_it_was_written_is_a_defect(whole: Path) -> None:
    with pytest.raises(KeyError), reading(whole):
        raise KeyError("mean_ns")
