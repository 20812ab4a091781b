"""Numbers that documents quote from benchmarks and studies are those of the committed data."""

import json
import re
from pathlib import Path

import documents
import figures
import pytest

ROOT = Path(__file__).parents[2]

PAGES = [
    ROOT / "README.md",
    *(path for path in (ROOT / "docs").rglob("*.md") if "decisions" not in path.parts),
]
QUOTED = re.compile(r"\d ?(Gbit|Mbit|[uµ]s\b|ms\b|MB\b|%|million)")


def test_documents_have_the_numbers_of_the_data() -> None:
    assert [str(path.relative_to(ROOT)) for path in documents.stale()] == [], "make docs"


def test_a_number_that_differs_from_the_data_is_found() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    found = documents.MARKED.search(text)
    assert found
    changed = text.replace(found[0], found[0].replace(found[3], found[3] + "1"))
    assert documents.render(changed) == text


def test_what_is_said_of_a_benchmark_comes_from_its_data() -> None:
    for path in PAGES:
        rest = documents.MARKED.sub("", path.read_text(encoding="utf-8"))
        for paragraph in re.split(r"\n\s*\n", rest):
            assert not ("bench/" in paragraph and QUOTED.search(paragraph)), f"{path}: {paragraph}"


def test_every_target_that_is_missed_has_a_reason() -> None:
    unexplained = [each["rows"] for each in documents.Bench().missed() if not each["why"]]
    assert unexplained == [], "say in bench/reasons.toml what limits them"


@pytest.mark.parametrize("path", sorted((ROOT / "bench").glob("*.json")), ids=lambda path: path.stem)
def test_every_part_of_a_benchmark_says_where_it_comes_from(path: Path) -> None:
    parts = json.loads(path.read_text(encoding="utf-8"))["figures"]
    for name, part in parts.items():
        assert set(part["provenance"]) >= {"commit", "date", "machine", "rounds"}, name
        names = [row["what"] for row in part["rows"]]
        assert len(set(names)) == len(names)
        assert not any(each.startswith(" ") for each in names)


def test_a_partial_run_replaces_its_own_part_alone(tmp_path: Path) -> None:
    out = tmp_path / "sim.json"
    old = [figures.row("speed", 1, "s", "", met=True), figures.row("  of ns-3", 2, "", "", met=True)]
    figures.write_part(out, "speed", old, rounds=1)
    figures.write_part(out, "samples", [figures.row("cost", 3, "%", "", met=True)], rounds=5)
    parts = json.loads(out.read_text(encoding="utf-8"))["figures"]
    assert {name: [row["what"] for row in part["rows"]] for name, part in parts.items()} == {
        "speed": ["speed", "speed: of ns-3"],
        "samples": ["cost"],
    }
    assert [part["provenance"]["rounds"] for part in parts.values()] == [1, 5]


def test_the_origin_of_figures_names_the_machine_of_each_commit() -> None:
    measured = [
        {"commit": "aaaaaaaa", "date": "2026-11-01 10:00Z", "machine": "slow"},
        {"commit": "bbbbbbbb", "date": "2026-11-02 10:00Z", "machine": "fast"},
        {"commit": "cccccccc", "date": "2026-11-03 10:00Z", "machine": "slow"},
    ]
    found = documents._origin(measured)
    assert found == (
        "commit aaaaaaa, 2026-11-01; commit ccccccc, 2026-11-03; slow; commit bbbbbbb, 2026-11-02; fast"
    )
