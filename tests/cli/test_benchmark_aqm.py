"""`longhaul benchmark-aqm` as a user meets it, simulated and live."""

import json
from pathlib import Path

import pytest
from machine import why_not_live

from .conftest import Command

RATE = 10e6


def results(work: Path) -> dict[str, object]:
    (place,) = [each for each in (work / "runs/benchmark-aqm").iterdir() if not each.is_symlink()]
    assert 30_000 < (place / "report.html").stat().st_size < 2_000_000
    assert not (place / "runs").exists() or not list((place / "runs").iterdir())
    return json.loads((place / "results.json").read_text())


def test_two_queues_are_compared_in_simulations(longhaul: Command, work: Path) -> None:
    asked = "fifo codel,target=10ms --only tcp-friendly --only unresponsive --sim --seeds 1"
    done = longhaul("benchmark-aqm", *asked.split(), timeout=100)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "6 simulated runs of 3 cases" in done.stderr
    plain = results(work)
    assert plain["queues"] == ["fifo", "codel,target=10ms"]
    values = {(each["case"], each["queue"], each["measure"]): each["mean"] for each in plain["results"]}
    for queue in plain["queues"]:
        # Packets of 1500 bytes carry 1448; those that leave the link in the interval are counted by both.
        goodput = values["", queue, "utilisation"] * RATE * 1448 / 1500
        assert values["", queue, "goodput"] == pytest.approx(goodput, rel=0.002)
    assert values["", "fifo", "queue_mean"] > 5 * values["", "codel,target=10ms", "queue_mean"]
    # The FIFO's buffer of 83 datagrams, at 10 Mbit/s.
    assert values["alone", "fifo", "queue_p99"] == pytest.approx(83 * 1476 * 8 / RATE, rel=0.01)
    header = (work / "runs/benchmark-aqm/latest/results.csv").read_text().splitlines()[0]
    assert header.startswith("scenario,case,queue,mode,measure,unit,mean,half_width_95")
    assert "queueing delay" in done.stdout
    again = longhaul("report", "runs/benchmark-aqm/latest")
    assert again.returncode == 0, again.stderr


@pytest.mark.quiet
def test_live_meets_simulated(longhaul: Command, work: Path) -> None:
    why_not = why_not_live()
    if why_not:
        pytest.skip(f"live runs do not work here: {why_not}")
    asked = "fifo --only unresponsive --seeds 1 --repeat 1 --tries 1"
    done = longhaul("benchmark-aqm", *asked.split(), timeout=200)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 simulated and 2 live runs of 2 cases" in done.stderr
    assert "measures compared" in done.stdout
    plain = results(work)
    values = {(each["case"], each["mode"], each["measure"]): each["mean"] for each in plain["results"]}
    rest = (RATE - 7e6 * 1476 / 1448) * 1448 / 1500
    for mode in ("live", "sim"):
        assert values["alone", mode, "utilisation"] <= 1.02
        assert values["alone", mode, "queue_p99"] <= 83 * 1476 * 8 / RATE + 1e-6
        assert values["beside TCP", mode, "tcp_goodput"] < 1.1 * rest
        if mode == "sim" or not plain["disturbed"]:
            # The queue is the same model in both modes, and datagrams do not respond to it.
            assert values["alone", mode, "queue_mean"] == pytest.approx(83 * 1476 * 8 / RATE, rel=0.05)
            assert values["alone", mode, "loss"] == pytest.approx(1 - 1448 / 1476 / 1.2, abs=0.02)
            assert values["beside TCP", mode, "tcp_goodput"] > 0.6 * rest
    assert plain["disagreements"] == done.stdout.count("\n  ! ") + done.stdout.count("\n  ? ")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("coddel", "--sim"), 'unknown queue discipline "coddel"'),
        (("codel,target=5", "--sim"), "has no unit"),
        (("red,min=2bdp", "--sim"), "min"),
        (("fifo", "--sim", "--only", "moon"), 'there is no scenario "moon"'),
    ],
)
def test_what_is_wrong_is_one_line(longhaul: Command, arguments: tuple[str, ...], words: str) -> None:
    done = longhaul("benchmark-aqm", *arguments)
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr
