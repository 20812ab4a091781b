"""Fits in a scenario's words: what they resolve to is what was fitted."""

from math import gamma, pi, sin
from pathlib import Path
from textwrap import indent

import numpy as np
import pytest

from longhaul.analysis.fitting import FAMILIES, Fits, fit_gaps
from longhaul.analysis.fitting.loss import loss_block
from longhaul.scenario import load_scenario, resolve
from longhaul.scenario.lower.link_models.distribution import distribution_mean

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
    """The model of loss that a block means on a link."""
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
        "weibull-3": lambda: 4 + 10 * stream.weibull(1.5, 3000),
        "log-logistic": lambda: 10 * np.exp(stream.logistic(0, 1 / 3, 3000)),
        "inverse-gaussian": lambda: stream.wald(10.0, 20.0, 3000),
        "generalised-pareto": lambda: 2 + 25 * (stream.uniform(size=3000) ** -0.2 - 1),
        "gev": lambda: 12 + 20 * (stream.exponential(size=3000) ** -0.2 - 1),
        "wakeby": lambda: wakeby(stream.uniform(size=3000)),
    }
    return drawn[name]()


def wakeby(left: np.ndarray) -> np.ndarray:
    return np.asarray(1 + 20 / 6 * (1 - left**6) + 12 * (left**-0.25 - 1))


def fitted(name: str, gaps: np.ndarray) -> Fits:
    return fit_gaps(gaps, families=[name], replicates=0)


@pytest.mark.parametrize("name", FAMILIES)
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
        "weibull-3": lambda: values["location"] + values["scale"] * gamma(1 + 1 / values["shape"]),
        "log-logistic": lambda: values["scale"] * (pi / values["shape"]) / sin(pi / values["shape"]),
        "inverse-gaussian": lambda: values["mean"],
        "generalised-pareto": lambda: values["location"] + values["scale"] / (1 - values["shape"]),
        "gev": lambda: (
            values["location"] + values["scale"] * (gamma(1 - values["shape"]) - 1) / values["shape"]
        ),
        "wakeby": lambda: (
            values["xi"] + values["alpha"] / (1 + values["beta"]) + values["gamma"] / (1 - values["delta"])
        ),
    }[name]()
    for unit, factor, in_plan in (("wall", 1e-3, 1e-3 * 1e9), ("packets", 5217.0, 5217.0)):
        block = loss_block(fits, unit=unit, factor=factor)
        assert block is not None
        model = resolved(tmp_path, block.text)
        assert model["model"] == "renewal"
        assert model["unit"] == unit
        assert model["gap"]["dist"] == ("weibull" if name == "weibull-3" else name)
        # Amounts are written with six digits; shapes shift the mean as much.
        assert distribution_mean(model["gap"]) == pytest.approx(mean * in_plan, rel=2e-5)
        for each in fits.best.parameters:
            if name not in ("gamma", "lognormal", "pareto"):
                times = in_plan if each.dimension == "gap" else 1
                assert model["gap"][each.name] == pytest.approx(each.value * times, rel=1e-5)
            elif each.name in ("shape", "sigma"):
                assert model["gap"][each.name] == pytest.approx(each.value, rel=1e-4)


def test_what_a_scenario_cannot_say_is_replaced_and_said() -> None:
    gaps = np.exp(np.random.default_rng(3).logistic(1.0, 1.25, 2000))
    fits = fit_gaps(gaps, families=["log-logistic", "gamma", "exponential"], replicates=99)
    assert fits.best.family == "log-logistic"
    block = loss_block(fits, unit="wall")
    assert block is not None
    assert block.family == "gamma"
    assert block.remarks[0] == (
        "a scenario cannot say log-logistic with these parameters; gamma is the best that it can"
    )
    assert "the gaps contradict gamma" in block.remarks[1]
    assert "dist: empirical" in block.remarks[1]


def test_what_has_no_mean_cannot_be_said() -> None:
    stream = np.random.default_rng(3)
    assert loss_block(fitted("pareto", 3 * (1 + stream.pareto(0.8, 500))), unit="wall") is None
    assert loss_block(fitted("log-logistic", np.exp(stream.logistic(1.0, 1.25, 500))), unit="wall") is None


def test_a_location_far_above_its_scale_keeps_the_digits_of_the_scale(tmp_path: Path) -> None:
    fits = fitted("weibull-3", 1234.56789 + 0.01 * np.random.default_rng(3).weibull(1.5, 3000))
    location = next(each.value for each in fits.best.parameters if each.name == "location")
    block = loss_block(fits, unit="wall")
    assert block is not None
    gap = resolved(tmp_path, block.text)["gap"]
    assert gap["location"] == pytest.approx(location * 1e9, abs=100)


def test_a_wakeby_that_is_a_generalised_pareto_is_said_with_its_zeros(tmp_path: Path) -> None:
    fits = fitted("wakeby", gaps_of("weibull"))
    block = loss_block(fits, unit="wall")
    assert block is not None
    assert "alpha: 0s, beta: 0," in block.text
    assert resolved(tmp_path, block.text)["gap"]["dist"] == "wakeby"


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


def test_a_gev_that_reaches_below_zero_is_written_so_and_said_to_be_cut(tmp_path: Path) -> None:
    gaps = -8 + 20 * (np.random.default_rng(3).exponential(size=3000) ** -0.2 - 1)
    fits = fitted("gev", gaps[gaps > 0] - gaps[gaps > 0].min() + 0.01)
    block = loss_block(fits, unit="wall")
    assert block is not None
    values = {each.name: each.value for each in fits.best.parameters}
    reduced = 1 - values["shape"] * values["location"] / values["scale"]
    assert np.exp(-(reduced ** (-1 / values["shape"]))) > 1e-4
    assert block.remarks == ("a scenario cuts a gev distribution at zero",)
    assert resolved(tmp_path, block.text)["gap"]["location"] == pytest.approx(
        values["location"] * 1e9, rel=1e-5
    )
