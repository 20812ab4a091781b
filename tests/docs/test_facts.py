"""The table of facts and their sources names functions that exist."""

import re
from importlib import import_module
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs/decisions/0020-one-source-of-each-fact.md"


def sources() -> list[str]:
    rows = [
        line.split(" | ") for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")
    ]
    return [name for row in rows[1:] for name in re.findall(r"`([a-z]+\.[\w.]+)`", row[2])]


def test_every_fact_names_its_source() -> None:
    assert len(sources()) > 15


@pytest.mark.parametrize("name", sources())
def test_the_source_of_a_fact_exists(name: str) -> None:
    parts = f"longhaul.{name}".split(".")
    for split in range(len(parts), 1, -1):
        try:
            found = import_module(".".join(parts[:split]))
        except ModuleNotFoundError:
            continue
        for attribute in parts[split:]:
            found = getattr(found, attribute)
        return
    pytest.fail(f"there is no module of {name}")
