"""The page of acceptance checks has all sixteen, each with a test that exists where it says."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/explanation/acceptance.md").read_text(encoding="utf-8")
ROWS = [line for line in PAGE.splitlines() if re.match(r"\| T\d", line)]
PLACE = re.compile(r"((?:`\w+`(?:, )?)+) \(`((?:tests|crates)/[\w/.]+\.(?:py|rs))`\)")


def test_all_sixteen_checks_are_there() -> None:
    assert [row.split("|")[1].strip() for row in ROWS] == [f"T{number}" for number in range(1, 17)]


def test_every_check_names_tests_that_exist_in_their_files() -> None:
    missing = []
    for row in ROWS:
        places = PLACE.findall(row)
        assert places, row
        for names, path in places:
            text = (ROOT / path).read_text(encoding="utf-8")
            known = set(re.findall(r"\b(?:fn|def) (\w+)", text))
            missing += [name for name in re.findall(r"`(\w+)`", names) if name not in known]
    assert missing == []
