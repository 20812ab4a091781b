"""Runs as experiments: labelled, annotated, deleted and restored, archived, repeated."""

import json
import shutil
import tarfile
import tempfile
import threading
import time
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

import longhaul
from longhaul.artifacts import checksums
from longhaul.errors import LonghaulError
from longhaul.page.application import Application, application
from longhaul.report.comparison_page import draw
from longhaul.report.comparison_runs import sides
from longhaul.results import annotations, experiments, trash
from longhaul.results.annotations import Annotations
from longhaul.results.comparison import find_all
from longhaul.scenario.model.metrics import DEFAULT_METRICS

from .asgi import OURS, PORT, TOKEN, Answer, ask

TEXT = """\
version: 1
name: pair
duration: 1s
params: {cc: cubic, far: 10ms}
nodes: {a: {kind: host}, b: {kind: host}}
links: {wan: {endpoints: [a, b], delay: $far, rate: 10Mbit}}
traffic: {bulk: {kind: tcp, from: a, to: b, cc: $cc}, probe: {kind: ping, from: a, to: b, every: 50ms}}
"""
VARIANTS: tuple[tuple[dict[str, str], int], ...] = (
    ({}, 1),
    ({"cc": "reno"}, 1),
    ({"cc": "reno"}, 2),
    ({"far": "20ms"}, 1),
)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("made")
    (place / "pair.yaml").write_text(TEXT)
    for params, seed in VARIANTS:
        longhaul.run_sim(place / "pair.yaml", params=params, seed=seed, runs=place / "runs", report=False)
    return place


@pytest.fixture
def place(made: Path, tmp_path: Path) -> Path:
    shutil.copytree(made, tmp_path / "page", symlinks=True)
    return tmp_path / "page"


@pytest.fixture
def app(place: Path) -> Application:
    return application(place, token=TOKEN, port=PORT)


def answered(app: Application, path: str, body: Any = None, *, method: str = "GET") -> Any:
    answer = ask(app, path, method=method, body=body)
    assert answer.status == 200, answer.json
    return answer.json


def run_of(app: Application, label: str) -> dict[str, Any]:
    (found,) = [each for each in answered(app, "/api/runs")["runs"] if each["label"] == label]
    return dict(found)


def test_runs_are_named_after_what_differs(app: Application, place: Path) -> None:
    rows = answered(app, "/api/runs")["runs"]
    assert {each["label"] for each in rows} == {
        "pair, cc=cubic, delay=10 ms",
        "pair, cc=reno, delay=10 ms, seed=1",
        "pair, cc=reno, delay=10 ms, seed=2",
        "pair, cc=cubic, delay=20 ms",
    }
    row = run_of(app, "pair, cc=cubic, delay=20 ms")
    # The queue follows from the delay.
    assert row["parameters"].items() >= {"cc": "cubic", "delay": "20 ms", "far": "20ms", "seed": "1"}.items()
    assert row["metrics"]["goodput"] > 1e6
    assert row["metrics"]["rtt_p50"] > 40e6
    names = {each.name for each in find_all([place / "runs/pair"])}
    assert {each.rpartition("sim, ")[2] for each in names} == {
        "cc=cubic, delay=10 ms",
        "cc=reno, delay=10 ms",
        "cc=cubic, delay=20 ms",
    }, "a comparison on the command line calls them the same"
    details = answered(app, f"/api/runs/{row['id']}")
    assert details["label"] == row["label"]


def test_equal_runs_are_numbered(app: Application, place: Path) -> None:
    (run,) = [each for each in experiments.listed(place / "runs") if each.differs == "cc=cubic, delay=20 ms"]
    shutil.copytree(run.directory, run.directory.with_name(f"29990101T000000Z-{run.directory.name[17:]}"))
    labels = [each["label"] for each in answered(app, "/api/runs")["runs"]]
    assert labels[0] == "pair, cc=cubic, delay=20 ms (2)"
    assert "pair, cc=cubic, delay=20 ms" in labels


def test_what_is_said_of_a_run_is_kept_with_it(app: Application, place: Path) -> None:
    row = run_of(app, "pair, cc=cubic, delay=20 ms")
    body = {"title": " the  far one ", "tags": ["paper", "paper", "far"], "note": "slow\nstart"}
    path = f"/api/runs/{row['id']}/annotations"
    annotated = answered(app, path, {**body, "etag": row["annotations"]["etag"]}, method="PUT")
    assert (annotated["title"], annotated["tags"], annotated["note"]) == (
        "the far one",
        ["paper", "far"],
        "slow\nstart",
    )
    assert run_of(app, "the far one")["annotations"] == annotated
    stale = ask(app, path, method="PUT", body={**body, "etag": row["annotations"]["etag"]})
    assert (stale.status, "somebody else" in stale.json["error"]["message"]) == (409, True)
    wrong = ask(app, path, method="PUT", body={"tags": ["two words"], "etag": annotated["etag"]})
    assert (wrong.status, "has a blank" in wrong.json["error"]["message"]) == (400, True)
    answered(app, path, {"etag": annotated["etag"]}, method="PUT")
    assert not (Path(row["directory"]) / annotations.NAME).exists(), "nothing is annotated any more"


def test_a_sweep_is_annotated_deleted_and_restored_as_a_run_is(app: Application, place: Path) -> None:
    swept = longhaul.sweep(
        place / "pair.yaml", axes={"cc": ["cubic", "reno"]}, runs=place / "runs", report=False
    )
    run = f"pair~{swept.directory.name}"
    (row,) = answered(app, "/api/runs")["sweeps"]
    assert (row["id"], row["label"], row["annotations"]["tags"]) == (run, "pair", [])
    body = {"title": "both", "tags": ["paper"], "etag": row["annotations"]["etag"]}
    answered(app, f"/api/runs/{run}/annotations", body, method="PUT")
    (row,) = answered(app, "/api/runs")["sweeps"]
    assert (row["label"], row["annotations"]["tags"]) == ("both", ["paper"])
    answered(app, f"/api/runs/{run}", method="DELETE")
    after = answered(app, "/api/runs")
    assert (after["sweeps"], after["deleted"]) == ([], [{"id": run, "label": "both"}])
    answered(app, f"/api/runs/{run}/restore", {}, method="POST")
    assert answered(app, "/api/runs")["sweeps"] == [row]


def test_of_two_writers_at_once_one_is_refused(place: Path) -> None:
    directory = experiments.listed(place / "runs")[0].directory
    before = annotations.read(directory).etag
    refused: list[LonghaulError] = []
    start = threading.Barrier(8)

    def write(number: int) -> None:
        start.wait()
        try:
            annotations.write(directory, Annotations(title=f"number {number}"), before=before)
        except LonghaulError as error:
            refused.append(error)

    writers = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for each in writers:
        each.start()
    for each in writers:
        each.join()
    assert len(refused) == 7
    assert annotations.read(directory).title.startswith("number ")


def test_a_deleted_run_can_be_restored(app: Application, place: Path) -> None:
    runs = place / "runs" / "pair"
    before = (runs / "latest").readlink()
    (newest,) = [each for each in answered(app, "/api/runs")["runs"] if each["id"] == f"pair~{before}"]
    assert answered(app, f"/api/runs/{newest['id']}", method="DELETE") == {"ok": True}
    after = answered(app, "/api/runs")
    assert len(after["runs"]) == 3
    assert [each["id"] for each in after["deleted"]] == [newest["id"]]
    assert (runs / "latest").readlink() != before, "no link leads nowhere"
    assert (runs / "latest").resolve().is_dir()
    assert ask(app, f"/api/runs/{newest['id']}").status == 404
    assert ask(app, f"/api/runs/{newest['id']}", method="DELETE").status == 404
    answered(app, f"/api/runs/{newest['id']}/restore", {}, method="POST")
    again = answered(app, "/api/runs")
    assert newest in again["runs"]
    assert again["deleted"] == []
    assert (runs / "latest").resolve().is_dir()
    assert not (place / "runs" / trash.NAME).exists()
    assert ask(app, f"/api/runs/{newest['id']}/restore", method="POST", body={}).status == 404


def test_nothing_of_the_same_name_is_replaced(app: Application, place: Path) -> None:
    newest = answered(app, "/api/runs")["runs"][0]
    directory = Path(newest["directory"])
    answered(app, f"/api/runs/{newest['id']}", method="DELETE")
    directory.mkdir()
    (directory / "mine").write_text("mine")
    refused = ask(app, f"/api/runs/{newest['id']}/restore", method="POST", body={})
    assert (refused.status, "cannot be moved" in refused.json["error"]["message"]) == (400, True)
    assert (directory / "mine").read_text() == "mine"


def test_deletions_and_restorations_at_once_lose_nothing(place: Path) -> None:
    directory = experiments.listed(place / "runs")[0].directory
    outcomes: list[str] = []

    def turn(act: Callable[[], object], name: str) -> None:
        for _ in range(20):
            try:
                act()
                outcomes.append(name)
            except (LonghaulError, OSError):
                time.sleep(0.002)

    where = place / "runs" / trash.NAME / directory.parent.name / directory.name
    acts = [(lambda: trash.delete(directory), "deleted"), (lambda: trash.restore(where), "restored")] * 2
    threads = [threading.Thread(target=turn, args=each) for each in acts]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert (directory / "run.json").is_file() != (where / "run.json").is_file()
    assert outcomes.count("deleted") - outcomes.count("restored") == (where / "run.json").is_file()


def test_a_running_run_is_not_deleted(app: Application) -> None:
    newest = answered(app, "/api/runs")["runs"][0]
    record = Path(newest["directory"]) / "run.json"
    content = json.loads(record.read_text())
    for name in ("status", "reason"):
        content[name] = "running" if name == "status" else None
    record.write_text(json.dumps(content | {"processes": {}}))
    answer = ask(app, f"/api/runs/{newest['id']}", method="DELETE")
    # Without processes it counts as crashed, or as running: never is half of it gone.
    assert (answer.status == 200) != record.exists()


@pytest.mark.parametrize("link", ["runs", "runs/pair", "runs/.trash"])
def test_no_link_leads_a_deletion_out_of_the_directory(place: Path, tmp_path: Path, link: str) -> None:
    run = experiments.listed(place / "runs")[0].directory
    outside = tmp_path / "outside"
    if link == "runs/.trash":
        outside.mkdir()
    else:
        shutil.move(place / link, outside)
    (place / link).symlink_to(outside)
    app = application(place, token=TOKEN, port=PORT)
    before = sorted(str(each) for each in outside.rglob("*"))
    for path, method in (("", "DELETE"), ("/annotations", "PUT")):
        body = {"title": "x", "etag": Annotations().etag} if path else None
        answer = ask(app, f"/api/runs/pair~{run.name}{path}", method=method, body=body)
        if link == "runs/.trash" and path:
            continue
        assert answer.status in (400, 403), answer.json
    assert sorted(str(each) for each in outside.rglob("*")) == before


@pytest.mark.parametrize("name", ["..~20260101T0", "a~..", "a~20260101T0/../x", ".trash~20260101T0", "a"])
def test_no_name_leads_elsewhere(app: Application, name: str) -> None:
    for path, method in (
        ("", "DELETE"),
        ("/restore", "POST"),
        ("/annotations", "PUT"),
        ("/reproduce", "POST"),
    ):
        body = {"etag": "x"} if path == "/annotations" else None
        assert ask(app, f"/api/runs/{name}{path}", method=method, body=body).status in (404, 405)


@pytest.mark.parametrize(
    ("path", "method"),
    [
        ("/api/runs/pair~20260101T0", "DELETE"),
        ("/api/runs/pair~20260101T0/restore", "POST"),
        ("/api/runs/pair~20260101T0/annotations", "PUT"),
        ("/api/runs/pair~20260101T0/reproduce", "POST"),
        ("/api/archive", "POST"),
    ],
)
def test_each_of_these_needs_the_token_and_our_origin(app: Application, path: str, method: str) -> None:
    host, bearer = OURS
    assert ask(app, path, method=method, headers=(host,)).status == 401
    evil = (host, bearer, ("origin", "http://evil.example"))
    assert ask(app, path, method=method, headers=evil).status == 403


def unpacked(app: Application, answer: Any) -> tuple[Answer, list[str]]:
    got = ask(app, answer["url"], headers=OURS[:1])
    assert got.status == 200
    with tarfile.open(fileobj=BytesIO(got.body)) as archive:
        return got, archive.getnames()


def test_runs_are_archived_as_one_file(app: Application) -> None:
    rows = answered(app, "/api/runs")["runs"]
    answer = answered(app, "/api/archive", {"runs": [each["id"] for each in rows]}, method="POST")
    got, names = unpacked(app, answer)
    assert 'filename="pair-4-runs.tar.gz"' in got.headers["content-disposition"]
    assert sum(name.endswith("/plan.json") for name in names) == 4
    assert "pair-4-runs/reproduce" in names, "it is an artifact"
    assert ask(app, answer["url"], headers=OURS[:1]).status == 404, "an address works once"


def test_a_run_that_cannot_be_repeated_is_archived_with_checksums(app: Application) -> None:
    row = answered(app, "/api/runs")["runs"][0]
    record = Path(row["directory"]) / "run.json"
    record.write_text(json.dumps(json.loads(record.read_text()) | {"status": "interrupted", "reason": None}))
    _, names = unpacked(app, answered(app, "/api/archive", {"runs": [row["id"]]}, method="POST"))
    assert any(name.endswith("/plan.json") for name in names)
    assert any(name.endswith(checksums.NAME) for name in names)
    assert not any(name.endswith("reproduce") for name in names)


def test_a_run_is_made_again_with_its_seed(app: Application) -> None:
    row = run_of(app, "pair, cc=reno, delay=10 ms, seed=2")
    begun = answered(app, f"/api/runs/{row['id']}/reproduce", {}, method="POST")
    deadline = time.monotonic() + 60
    while not (Path(begun["directory"]) / "report.html").is_file():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    again = run_of(app, "pair, cc=reno, delay=10 ms, seed=2 (2)")
    assert again["metrics"] == row["metrics"]
    digests = [
        json.loads((Path(each["directory"]) / "summary.json").read_text())["simulation"]["digest"]
        for each in (row, again)
    ]
    assert digests[0] == digests[1]


def test_what_has_not_changed_is_not_sent_again(app: Application) -> None:
    first = ask(app, "/api/runs")
    headers = (*OURS, ("if-none-match", first.headers["etag"]))
    again = ask(app, "/api/runs", headers=headers)
    assert (again.status, again.body) == (304, b"")
    row = first.json["runs"][0]
    body = {"title": "other", "etag": row["annotations"]["etag"]}
    answered(app, f"/api/runs/{row['id']}/annotations", body, method="PUT")
    assert ask(app, "/api/runs", headers=headers).status == 200


def test_hundreds_of_runs_are_listed_from_the_index(place: Path) -> None:
    runs = place / "runs"
    source = experiments.listed(runs)[0].directory
    for number in range(500):
        directory = source.with_name(f"20200101T{number:06}Z-sim-{number:08x}")
        (directory / "raw").mkdir(parents=True)
        for name in ("summary.json", "plan.json", "raw/traffic.json"):
            (directory / name).hardlink_to(source / name)
        record = json.loads((source / "run.json").read_text())
        (directory / "run.json").write_text(
            json.dumps(record | {"seed": number, "variant": str(number % 100)})
        )

    def listed_s() -> float:
        began = time.perf_counter()
        assert len(experiments.listed(runs)) == 504
        return time.perf_counter() - began

    first = listed_s()
    again = min(listed_s() for _ in range(3))
    assert again < first / 2, "their results are not read again"
    (runs / experiments.INDEX).write_text("[broken")
    assert len(experiments.listed(runs)) == 504, "a broken index is made anew"
    app = application(place, token=TOKEN, port=PORT)
    assert len(answered(app, "/api/runs")["runs"]) == 504


def test_the_page_compares_as_the_report_does(app: Application, place: Path) -> None:
    rows = sorted(answered(app, "/api/runs")["runs"], key=lambda each: str(each["label"]))
    ids = [each["id"] for each in rows]
    found = answered(app, "/api/compare", {"runs": ids}, method="POST")
    assert [each["name"] for each in found["groups"]] == [each["differs"] for each in rows]
    report = draw(
        sides(
            [
                (each["name"], [place / "runs" / run.replace("~", "/")])
                for each, run in zip(rows, ids, strict=True)
            ]
        ),
        first=DEFAULT_METRICS,
    )
    drawn = {each["metric"]: each for each in (*report["shown"], *report["rest"])}
    assert [each["metric"] for each in found["metrics"]] == list(drawn)
    for each in found["metrics"]:
        texts = [text for text, _ in drawn[each["metric"]]["differences"]]
        assert [one["text"] if one else "-" for one in each["contrasts"]] == texts
    assert [each["what"] for each in found["differences"]] == [each.what for each in report["differences"]]
    assert found["repeated"], "two runs of reno differ in the seed alone"


def test_repetitions_are_one_side_with_intervals(app: Application) -> None:
    ids = [each["id"] for each in answered(app, "/api/runs")["runs"]]
    found = answered(app, "/api/compare", {"runs": ids, "grouped": True}, method="POST")
    counts = {each["name"]: each["runs"] for each in found["groups"]}
    assert counts == {"cc=cubic, delay=10 ms": 1, "cc=cubic, delay=20 ms": 1, "cc=reno, delay=10 ms": 2}
    assert sorted(run for each in found["groups"] for run in each["ids"]) == sorted(ids)
    over_time, distributions = found["charts"]
    panel = over_time["rows"][0][0]
    assert sum(each.get("listed", True) for each in panel["series"]) == 3, "one entry a side in the legend"
    assert distributions["name"] == "distributions"


def test_ten_runs_are_compared_and_eleven_are_not(app: Application) -> None:
    run = answered(app, "/api/runs")["runs"][0]["id"]
    found = answered(app, "/api/compare", {"runs": [run] * 10, "charts": False}, method="POST")
    assert "".join(each["letter"] for each in found["groups"]) == "ABCDEFGHIJ"
    refused = ask(app, "/api/compare", method="POST", body={"runs": [run] * 11})
    assert (refused.status, "too many" in refused.json["error"]["message"]) == (400, True)


def test_the_report_of_a_comparison_opens_once_and_leaves_nothing(app: Application) -> None:
    ids = [each["id"] for each in answered(app, "/api/runs")["runs"]][:2]
    url = answered(app, "/api/compare/report", {"runs": ids}, method="POST")["url"]
    before = set(Path(tempfile.gettempdir()).glob("longhaul-comparison-*"))
    page = ask(app, url, headers=OURS[:1])
    assert b"longhaul report --compare" in page.body
    assert "sandbox" in page.headers["content-security-policy"]
    assert ask(app, url, headers=OURS[:1]).status == 404
    assert len(set(Path(tempfile.gettempdir()).glob("longhaul-comparison-*"))) < len(before)
