"""A study's tables and pictures stand in documents only with their data beside them."""

import json
import re
import struct
from pathlib import Path

import documents
import pytest

from longhaul.studies import StudyFolder
from longhaul.studies.paper import PAPER
from longhaul.studies.results_files import digest, write_part

ROOT = Path(__file__).parents[2]
IMAGES = ROOT / "docs" / "images"
PICTURE = re.compile(r"study-[\w-]+\.png")
PROVENANCE = {"commit", "date", "machine", "command", "took_s"}
LIVE = {"network", "hosts", "lateness_p99_us", "cpu_wait_share"}
MOST_BYTES = 128 * 1024
"""Of a file of results: they are committed."""


def texts(path: Path) -> dict[str, str]:
    """What a PNG file says of itself (its tEXt chunks)."""
    content, at, found = path.read_bytes(), 8, {}
    while at < len(content):
        (length,) = struct.unpack_from(">I", content, at)
        if content[at + 4 : at + 8] == b"tEXt":
            key, _, value = content[at + 8 : at + 8 + length].partition(b"\0")
            found[key.decode("latin-1")] = value.decode("latin-1")
        at += 12 + length
    return found


def unbacked(images: Path, studies: Path) -> list[str]:
    """Pictures of studies whose data are not there, or are not those that they were drawn from."""
    wrong = []
    results = [path.parent for path in studies.glob("*/results/claims.json")]
    folders = {
        json.loads((each / "claims.json").read_text(encoding="utf-8"))["study"]: each for each in results
    }
    for path in sorted(images.glob("study-*.png")):
        about = texts(path)
        study = about.get("Title", "").removeprefix("study ").partition(",")[0]
        sources = [each.split(" ") for each in about.get("Source", "").split(", ") if each]
        if study not in folders or not sources:
            wrong.append(f"{path.name}: no data")
            continue
        for name, drawn in sources:
            data = folders[study].parent / name if name == PAPER else folders[study] / name
            if not data.is_file() or digest(data) != drawn:
                wrong.append(f"{path.name}: {name} is not what it was drawn from")
    return wrong


def test_every_picture_of_a_study_was_drawn_from_the_data_beside_it() -> None:
    assert unbacked(IMAGES, ROOT / "studies") == []


def test_a_picture_without_its_data_is_refused(tmp_path: Path) -> None:
    from longhaul.report.plotting import figure, paper

    with paper():
        drawn = figure(2)
        drawn.subplots().plot([1, 2])
    part = {
        "claims": [],
        "values": {},
        "notes": [],
        "tables": {"points": [{"x": 1}]},
        "figures": {"curve": (drawn, ["points"])},
        "provenance": {"commit": "0", "date": "now", "machine": "this"},
    }
    place = tmp_path / "some" / "results"
    write_part(place, tmp_path, "some", "first", "simulated", part)
    assert unbacked(tmp_path, tmp_path) == []
    (place / "points.csv").write_text("# other\nx\n2\n", encoding="utf-8")
    assert unbacked(tmp_path, tmp_path) == ["study-some-curve.png: points.csv is not what it was drawn from"]
    (tmp_path / "study-other-curve.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    assert "study-other-curve.png: no data" in unbacked(tmp_path, tmp_path)


def test_pictures_of_studies_stand_only_where_their_data_are_read() -> None:
    shown = set()
    for path in (ROOT / "docs").rglob("*.md"):
        text = path.read_text(encoding="utf-8")
        assert not PICTURE.search(documents.MARKED.sub("", text)), path
        shown |= set(PICTURE.findall(text))
    assert shown == {path.name for path in IMAGES.glob("study-*.png")}


@pytest.mark.parametrize(
    "place", sorted((ROOT / "studies").glob("*/results")), ids=lambda place: place.parent.name
)
def test_results_are_small_and_say_where_they_come_from(place: Path) -> None:
    whole = json.loads((place / "claims.json").read_text(encoding="utf-8"))
    study = StudyFolder(place.parent)
    tables = set()
    for name, part in whole["parts"].items():
        assert set(part["provenance"]) >= PROVENANCE | (
            LIVE if study.claims.parts[name].how == "live" else set()
        ), name
        tables |= set(part["tables"])
        assert set(part) == {"claims", "provenance", "values", "notes", "tables", "figures"}
    assert tables == {path.stem for path in place.glob("*.csv")}
    for path in place.iterdir():
        assert path.stat().st_size <= MOST_BYTES, path
        if path.suffix == ".csv":
            head = path.read_text(encoding="utf-8").splitlines()[0]
            assert re.match(r"# longhaul study [\w-]+, part [\w-]+, \w+: commit \w+\+?; \d{4}-", head), path
