"""The pacing study, with a minute in place of five: what spacing wins on a long fat path."""

from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "studies"


def test_a_minute_of_the_table_of_pfldnet_has_its_order(tmp_path, monkeypatch) -> None:
    for folder in (FOLDER, FOLDER / "pacing"):
        monkeypatch.syspath_prepend(str(folder))
    import pacing

    cells = [("scalable", True, 64), ("scalable", False, 64), ("scalable", False, 512), ("fast", True, 64)]
    cells += [("fast", False, 64), ("fast", False, 512)]
    cases = [pacing.Case(algorithm, paced, buffer, seconds=60) for algorithm, paced, buffer in cells]
    found = zip(cells, pacing.simulate(cases, tmp_path), strict=True)
    rate = {cell: got[0] for cell, got in found}
    # The window is 11.4 MB a round trip of 200 ms; a few seconds go to slow start.
    ceiling = 22_840_000 / 2 / 0.2 / 1e6
    assert rate["scalable", True, 64] == pytest.approx(ceiling, rel=0.1)
    assert rate["fast", True, 64] == pytest.approx(ceiling, rel=0.15)
    for algorithm in ("scalable", "fast"):
        assert rate[algorithm, True, 64] > 2 * rate[algorithm, False, 64]
        assert rate[algorithm, False, 512] > 1.2 * rate[algorithm, False, 64]


def test_fast_keeps_its_200_segments_where_they_fit_and_loses_packets_where_not(
    tmp_path, monkeypatch
) -> None:
    for folder in (FOLDER, FOLDER / "pacing"):
        monkeypatch.syspath_prepend(str(folder))
    import pacing

    # 200 segments of 1500 bytes are 300 kB: more than 256 KiB, less than 512.
    cases = [pacing.Case("fast", False, buffer, pacing.HALF, seconds=60) for buffer in (256, 512)]
    (_slow, drops), (fast, none) = pacing.simulate(cases, tmp_path)
    assert drops > 0
    assert none == 0
    assert fast > 45
