"""One trace of known steps, played live, simulated and through a relay, is one ping-pong curve."""

import shutil
from pathlib import Path

import pytest

from longhaul.studies import Study

FOLDER = Path(__file__).parents[2] / "studies"
SIZES = (8, 16_384)


@pytest.mark.light
def test_a_trace_gives_one_curve_live_simulated_and_relayed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in (FOLDER, FOLDER / "longcut"):
        monkeypatch.syspath_prepend(str(folder))
    import agreement
    import playing

    runtime = tmp_path / "runtime"
    runtime.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    monkeypatch.setattr(agreement, "SIZES", SIZES)
    folder = tmp_path / "studies" / "longcut"
    folder.mkdir(parents=True)
    shutil.copy(FOLDER / "longcut" / "claims.yaml", folder)
    made = Study(folder)
    wanted = agreement.expected()
    curves = {"simulated": agreement.simulated(made)}
    with playing.relayed(made, agreement.SCENARIO) as client:
        curves["relayed"] = agreement.measured(client)
    with playing.live(made, agreement.SCENARIO) as client:
        curves["live"] = agreement.measured(client)
    assert len(wanted) == 3 * len(SIZES)
    for how, curve in curves.items():
        off = {key: curve[key] / value - 1 for key, value in wanted.items()}
        assert all(abs(value) < 0.05 for value in off.values()), (how, off)
    for key in wanted:
        of_all = [curve[key] for curve in curves.values()]
        assert max(of_all) < 1.05 * min(of_all), (key, curves)
