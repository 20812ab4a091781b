"""Fits in a scenario's words: what they resolve to is what was fitted."""

from math import gamma
from pathlib import Path
from textwrap import indent

import numpy as np
import pytest

from longhaul.analysis.fitting import Fits, fit_gaps
from longhaul.analysis.fitting.loss import SAYABLE, loss_block
from longhaul.scenario import load_scenario, resolve
from longhaul.scenario.laws.distribution import distribution_mean

HEAD = """\
version: 1
name: fitted
duration: 1s
nodes: {a: {kind: host}, b: {kind: host}}
links:
  a-b:
    endpoints: [a, b]
    delay: 1ms
"""


def resolved(folder: Path, text: str) -> dict:
    """The law of loss that a block means on a link."""
    path = folder / "fitted.yaml"
    path.write_text(HEAD + indent(text, "    "), encoding="utf-8")
    return resolve(load_scenario(path)).plan["links"][0]["forward"]["loss"]


def gaps_of(name: str) -> np.ndarray:
    stream = np.random.default_rng(3)
    drawn = {
        "exponential": lambda: stream.exponential(18.0, 3000),
        "weibull": lambda: 18 * stream.weibull(2.9, 3000),
        "lognormal": lambda: stream.lognormal(2.0, 0.9, 3000),
        "gamma": lambda: stream.gamma(2.5, 4.0, 3000),
        "normal": lambda: stream.normal(20.0, 3.0, 3000),
        "pareto": lambda: 3 * (1 + stream.pareto(2.5, 3000)),
    }
    return drawn[name]()


def fitted(name: str, gaps: np.ndarray) -> Fits:
    return fit_gaps(gaps, families=[name], replicates=0)


@pytest.mark.parametrize("name", SAYABLE)
def test_a_block_resolves_to_the_fit_in_seconds_and_in_packets(name: str, tmp_path: Path) -> None:
    fits = fitted(name, gaps_of(name))
    values = {each.name: each.value for each in fits.best.parameters}
    mean = {
        "exponential": lambda: values["mean"],
        "weibull": lambda: values["scale"] * gamma(1 + 1 / values["shape"]),
        "lognormal": lambda: np.exp(values["mu"] + values["sigma"] ** 2 / 2),
        "gamma": lambda: values["shape"] * values["scale"],
        "normal": lambda: values["mean"],
        "pareto": lambda: values["least"] * values["shape"] / (values["shape"] - 1),
    }[name]()
    for unit, factor, in_plan in (("wall", 1e-3, 1e-3 * 1e9), ("packets", 5217.0, 5217.0)):
        block = loss_block(fits, unit=unit, factor=factor)
        assert block is not None
        law = resolved(tmp_path, block.text)
        assert law["law"] == "renewal"
        assert law["unit"] == unit
        assert law["gap"]["dist"] == name
        # Amounts are written with six digits; shapes shift the mean as much.
        assert distribution_mean(law["gap"]) == pytest.approx(mean * in_plan, rel=2e-5)
        for key in ("shape", "sigma"):
            if key in values and key in law["gap"]:
                assert law["gap"][key] == pytest.approx(values[key], rel=1e-4)


def test_what_a_scenario_cannot_say_is_replaced_and_said() -> None:
    gaps = np.random.default_rng(3).logistic(20.0, 1.0, 2000)
    fits = fit_gaps(gaps, families=["log-logistic", "gamma", "exponential"], replicates=99)
    assert fits.best.family == "log-logistic"
    block = loss_block(fits, unit="wall")
    assert block is not None
    assert block.family == "gamma"
    assert block.remarks[0] == "a scenario cannot say log-logistic; gamma is the best that it can"
    assert "the gaps contradict gamma" in block.remarks[1]
    assert "dist: empirical" in block.remarks[1]


def test_a_pareto_without_a_mean_cannot_be_said() -> None:
    gaps = 3 * (1 + np.random.default_rng(3).pareto(0.8, 500))
    assert loss_block(fitted("pareto", gaps), unit="wall") is None
    assert loss_block(fit_gaps(gaps, replicates=0, families=["gev"]), unit="wall") is None


def test_amounts_beyond_what_a_scenario_takes_are_not_said() -> None:
    fits = fitted("exponential", np.random.default_rng(3).exponential(1.0, 100))
    assert loss_block(fits, unit="wall", factor=1e-10) is None
    assert loss_block(fits, unit="wall", factor=1e9) is None
    assert loss_block(fits, unit="packets", factor=1e13) is None
    block = loss_block(fits, unit="packets", factor=1e6)
    assert block is not None
    assert "e+" not in block.text


def test_a_normal_that_reaches_below_zero_is_said_to_be_cut() -> None:
    block = loss_block(fitted("normal", np.random.default_rng(3).normal(20, 6, 3000).clip(0.1)), unit="wall")
    assert block is not None
    assert block.remarks == ("a scenario cuts a normal distribution at zero",)
