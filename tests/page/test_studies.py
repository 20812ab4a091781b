"""Studies and other long commands on the page: claims, figures, runs with progress, Stop and resume."""

import shutil
import time
from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from longhaul.studies.headlines import PartBegun, headline, read_headline

from .served import Served, is_alive, serving, until

ROOT = Path(__file__).parents[2]
STUDY = Path(__file__).parent / "study" / "halves"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("page")
    shutil.copytree(STUDY, folder / "studies" / "halves")
    with serving(folder) as served:
        yield served


def job(server: Served, name: str, *, after: int = 0) -> Any:
    status, told = server.ask(f"/api/jobs/{name}?after={after}")
    assert status == 200, told
    return told


def ended(server: Served, name: str) -> Any:
    until(lambda: job(server, name)["job"]["ended_unix_s"] is not None)
    return job(server, name)


def test_a_study_runs_and_its_claims_have_verdicts(server: Served) -> None:
    (before,) = server.ask("/api/studies")[1]["studies"]
    assert before["counts"] == {"not measured": 3}
    begun = server.ask("/api/studies/halves/runs", {"only": ["quick"]})[1]
    assert begun["command"].startswith("longhaul study run halves --only quick")
    told = ended(server, begun["id"])
    assert (told["job"]["state"], told["job"]["exit_code"]) == ("done", 0)
    assert told["job"]["progress"]["text"] == "part 1 of 1: quick"
    assert told["said"] == len(told["lines"]) > 3
    assert job(server, begun["id"], after=told["said"] - 1)["lines"] == told["lines"][-1:]
    after = server.ask("/api/studies/halves")[1]
    assert after["counts"] == {"reproduced": 1, "depends": 1, "not measured": 1}
    half, double, _patience = after["claims"]
    assert (half["verdict"], half["place"], half["paper"]) == ("reproduced", "figure 3", ["50 %"])
    assert double["verdict"] == "depends on the whole"
    assert [case["outcome"] for case in double["cases"]] == ["holds", "fails"]
    assert after["parts"][0]["measured"]


def test_a_study_is_stopped_and_resumed(server: Served) -> None:
    begun = server.ask("/api/studies/halves/runs", {"only": ["slow"]})[1]
    until(lambda: job(server, begun["id"])["job"]["progress"])
    status, told = server.ask("/api/studies/halves/runs", {})
    assert (status, told["error"]["message"]) == (409, "study halves is running")
    assert server.ask("/api/jobs")[1]["jobs"][0]["state"] == "running"
    assert server.ask(f"/api/jobs/{begun['id']}/stop", {})[0] == 200
    told = ended(server, begun["id"])
    assert told["job"]["state"] == "stopped"
    assert "--resume" in told["lines"][-1]
    assert server.ask(f"/api/jobs/{begun['id']}/stop", {})[0] == 409
    again = server.ask("/api/studies/halves/runs", {"only": ["slow"], "resume": True, "small": True})[1]
    assert "--small --resume" in again["command"]
    server.ask(f"/api/jobs/{again['id']}/stop", {})
    ended(server, again["id"])


def test_the_server_ends_what_it_has_started(tmp_path: Path) -> None:
    shutil.copytree(STUDY, tmp_path / "studies" / "halves")
    with serving(tmp_path) as server:
        begun = server.ask("/api/studies/halves/runs", {"only": ["slow"]})[1]
        until(lambda: job(server, begun["id"])["job"]["progress"])
        programs = [int(each.name) for each in Path("/proc").iterdir() if _runs(each, tmp_path)]
        assert programs
    deadline = time.monotonic() + 20
    while any(map(is_alive, programs)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not any(map(is_alive, programs))


def _runs(entry: Path, folder: Path) -> bool:
    try:
        return (
            entry.name.isdigit() and f"{folder}/studies/halves".encode() in (entry / "cmdline").read_bytes()
        )
    except OSError:
        return False


def test_what_is_not_there_is_refused(server: Served) -> None:
    for path, body, status in (
        ("/studies/absent", None, 400),
        ("/studies/halves/figures/absent", None, 404),
        ("/studies/halves/runs", {"only": ["absent"]}, 400),
        ("/studies/halves/runs", {"rounds": 0}, 400),
        ("/jobs/absent", None, 404),
        ("/jobs/absent/stop", {}, 404),
    ):
        got, told = server.ask(f"/api{path}", body)
        assert got == status, path
        assert told["error"]["message"]


def test_studies_of_the_checkout_have_their_figures(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("checkout")
    for name in ("studies/longcut", "docs/images"):
        shutil.copytree(ROOT / name, folder / name)
    shutil.copy(ROOT / "studies/studies.toml", folder / "studies")
    with serving(folder / "docs") as server:
        told = server.ask("/api/studies/longcut")[1]
        figure = next(each for part in told["parts"] for each in part["figures"] if each["repeats"])
        picture = server.ask(f"/api/studies/longcut/figures/{figure['name']}")[1]
        assert b64decode(picture["base64"]).startswith(b"\x89PNG")


def test_without_studies_the_page_says_where_they_are_looked_for(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        told = server.ask("/api/studies")[1]
        assert (told["studies"], told["directory"]) == ([], None)
        assert "--directory" in told["why"]["remedy"]


@pytest.mark.parametrize(
    ("lasting_s", "left"),
    [([60.0, 60.0], "about 2 min left"), ([60.0, None], "about 60 s left"), ([None], "")],
)
def test_a_headline_is_read_as_it_was_written(lasting_s: list[float | None], left: str) -> None:
    line = headline(2, 5, "live-part", "live", lasting_s)
    assert read_headline(f"{line}\n") == PartBegun(2, 5, "live-part", left)
    assert read_headline("== part of something") is None
