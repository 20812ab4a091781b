"""Live hosts of a study name their congestion control: no result depends on a machine's default."""

from pathlib import Path

import pytest

from longhaul.scenario import parse_scenario

FOLDER = Path(__file__).parents[2] / "studies"
FILES = (
    "nemc/applications.yaml",
    "nemc/messages.yaml",
    "parallel_routes/live.yaml",
    "longcut/path.yaml",
    "longcut/steps.yaml",
)


def names_its_control(text: str, name: str) -> bool:
    tcp = parse_scenario(text.encode(), name=name, folder=FOLDER / Path(name).parent).document.tcp
    return tcp is not None and tcp.congestion_control is not None


@pytest.mark.parametrize("name", FILES)
def test_files(name: str) -> None:
    assert names_its_control((FOLDER / name).read_text(encoding="utf-8"), name)


def test_kernels_over_parallel_routes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.syspath_prepend(str(FOLDER / "parallel_routes"))
    import kernels

    for _way, algorithms in kernels.ways():
        path = kernels.live_scenario(algorithms, tmp_path)
        assert names_its_control(path.read_text(encoding="utf-8"), "kernels.yaml")


def test_ewan(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(FOLDER / "ewan"))
    import on_linux

    for run in on_linux.runs():
        assert names_its_control(on_linux.with_linux(run.trial).text, "case.yaml")


def test_pacing_and_paths(monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in ("pacing", "sim_vs_live"):
        monkeypatch.syspath_prepend(str(FOLDER / folder))
    import pacing
    import sim_vs_live

    for kind in pacing.LIVE_KINDS:
        assert names_its_control(pacing.live_scenario(kind, "reno"), "pacing.yaml")
    for case in sim_vs_live.CASES:
        assert names_its_control(sim_vs_live.scenario(case, "cubic", 1), "path.yaml")
