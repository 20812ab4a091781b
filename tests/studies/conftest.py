"""Studies import the modules that all of them share; each study's own modules leave with the test."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

STUDIES = Path(__file__).parents[2] / "studies"
sys.path.append(str(STUDIES))


@pytest.fixture(autouse=True)
def _modules_of_studies() -> Iterator[None]:
    """Studies may have modules of the same names."""
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(STUDIES)):
            del sys.modules[name]
