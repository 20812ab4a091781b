"""The glossary is alphabetical, each entry is complete, and the first page links to it."""

import json
import re
from pathlib import Path

import pytest

from longhaul.scenario import json_schema

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/reference/glossary.md"
ENTRY = re.compile(r"^### ([^\n]+)\n(.*?)(?=^### |\Z)", re.MULTILINE | re.DOTALL)


def entries() -> list[tuple[str, str]]:
    return ENTRY.findall(PAGE.read_text(encoding="utf-8"))


def test_terms_are_in_alphabetical_order() -> None:
    terms = [term.lower() for term, _text in entries()]
    assert len(terms) > 50
    assert terms == sorted(set(terms))


@pytest.mark.parametrize(("term", "text"), entries(), ids=[term for term, _text in entries()])
def test_an_entry_has_a_definition_a_place_and_a_source(term: str, text: str) -> None:
    definition, *facts = re.split(r"\n+- ", text.strip())
    assert definition.endswith(".")
    names = [re.match(r"\*\*(.+?):\*\* ", fact) for fact in facts]
    assert [name and name[1] for name in names] in (["Unit", "Seen in", "Source"], ["Seen in", "Source"])


def test_keys_and_columns_of_the_glossary_exist() -> None:
    references = [ROOT / "docs/reference/scenario.md", ROOT / "docs/reference/results.md"]
    known = json.dumps(json_schema()) + "".join(path.read_text(encoding="utf-8") for path in references)
    places = re.findall(r"- \*\*(?:Unit|Seen in):\*\* (.+)", PAGE.read_text(encoding="utf-8"))
    names = {name for place in places for name in re.findall(r"`([a-z]+(?:[_-][a-z0-9]+)*)`", place)}
    assert len(names) > 50
    assert sorted(name for name in names if not re.search(rf"(?<!\w){name}(?!\w)", known)) == []


def test_the_glossary_is_linked() -> None:
    assert "reference/glossary.md)" in (ROOT / "docs/README.md").read_text(encoding="utf-8")
