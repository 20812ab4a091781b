"""Studies that compare with Linux: their scenarios are right, and differences have reasons."""

from pathlib import Path

import pytest

from longhaul.oracle.api import accept
from longhaul.scenario import parse_scenario, resolve

STUDIES = Path(__file__).parents[2] / "studies"


@pytest.fixture
def algorithms(monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the study, whose modules can be imported."""
    for folder in (STUDIES, STUDIES / "algorithms"):
        monkeypatch.syspath_prepend(str(folder))
    return STUDIES / "algorithms"


def test_every_path_is_a_scenario(algorithms: Path) -> None:
    from twelve_paths import PATHS, scenario

    for name, path in PATHS.items():
        plan = resolve(parse_scenario(scenario(path, "cubic", seed=1).encode(), name="path")).plan
        assert len(plan["links"]) == 1, name
    assert len(PATHS) == 12


def test_every_difference_between_algorithms_that_was_found_has_a_reason(algorithms: Path) -> None:
    from longhaul.studies import read_table

    rows = read_table(algorithms / "results" / "comparison.csv")
    assert len(rows) == 12 * 16
    assert [f"{row['path']}: {row['algorithm']}" for row in rows if not row["reason"]] == []


def test_linux_can_do_what_every_link_model_is_compared_by(monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in (STUDIES, STUDIES / "netem_models"):
        monkeypatch.syspath_prepend(str(folder))
    from link_models import MODELS

    for name, model in MODELS.items():
        resolved = resolve(parse_scenario(model.scenario(seed=1).encode(), name="model"))
        assert accept(resolved).notes == (), name


def test_every_link_model_that_differs_from_linux_has_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    import tomllib

    monkeypatch.syspath_prepend(str(STUDIES))
    from longhaul.studies import read_table

    folder = STUDIES / "netem_models"
    known = tomllib.loads((folder / "reasons.toml").read_text(encoding="utf-8"))["reason"]
    rows = read_table(folder / "results" / "models.csv")
    assert {row["model"] for row in rows if row["outside"]} <= {each["model"] for each in known}
    assert len(rows) > 20
