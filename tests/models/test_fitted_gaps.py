"""Gaps that were fitted come back: from the fit's words through a scenario to the losses of a link."""

from collections.abc import Callable
from textwrap import indent
from typing import Any

import numpy as np
import pytest
from scipy import stats

from longhaul.analysis.fitting import FAMILIES, fit_gaps
from longhaul.analysis.fitting.loss import loss_block
from longhaul.run.trial import trial
from longhaul.scenario import parse_scenario, resolve

from .link_models import Wakeby, evenly

HEAD = """\
version: 1
name: fitted
nodes: {a: {kind: host}, b: {kind: host}}
links:
  a-b:
    endpoints: [a, b]
    delay: 1ms
"""
S = 1e9

# Parameters in seconds, and the distribution that they stand for, in scipy's words.
DISTRIBUTIONS: dict[str, tuple[list[float], Callable[..., Any]]] = {
    "exponential": ([18.0], lambda mean: stats.expon(scale=mean)),
    "weibull": ([2.9, 18.0], lambda shape, scale: stats.weibull_min(shape, scale=scale)),
    "lognormal": ([2.0, 0.9], lambda mu, sigma: stats.lognorm(sigma, scale=np.exp(mu))),
    "gamma": ([2.5, 4.0], lambda shape, scale: stats.gamma(shape, scale=scale)),
    "log-logistic": ([3.0, 10.0], lambda shape, scale: stats.fisk(shape, scale=scale)),
    "normal": ([20.0, 3.0], stats.norm),
    "inverse-gaussian": ([10.0, 20.0], lambda mean, shape: stats.invgauss(mean / shape, scale=shape)),
    "pareto": ([2.5, 3.0], lambda shape, least: stats.pareto(shape, scale=least)),
    "weibull-3": ([1.5, 10.0, 4.0], lambda shape, scale, at: stats.weibull_min(shape, loc=at, scale=scale)),
    "generalised-pareto": ([0.2, 5.0, 2.0], lambda shape, scale, at: stats.genpareto(shape, at, scale)),
    "gev": ([0.15, 4.0, 12.0], lambda shape, scale, at: stats.genextreme(-shape, at, scale)),
    "wakeby": ([20.0, 6.0, 3.0, 0.25, 1.0], Wakeby),
}


def test_every_family_is_here() -> None:
    assert DISTRIBUTIONS.keys() == FAMILIES.keys()


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_losses_of_a_link_follow_the_fit_that_its_scenario_says(name: str) -> None:
    truth, in_scipys_words = DISTRIBUTIONS[name]
    chances = np.random.default_rng(5).uniform(size=3000)
    fits = fit_gaps(in_scipys_words(*truth).ppf(chances), families=[name], replicates=0)
    block = loss_block(fits, unit="wall")
    assert block is not None
    text = HEAD + indent(block.text, "    ")
    loss = resolve(parse_scenario(text.encode(), name="fitted.yaml")).plan["links"][0]["forward"]["loss"]
    fitted = in_scipys_words(*(each.value for each in fits.best.parameters))
    step = float(fitted.mean()) / 400
    out = trial({"loss": loss}, at_ns=evenly(400 * 600, step * S))
    gaps = np.diff(np.array(out.ended("lost"))) * step
    assert len(gaps) > 400
    assert stats.kstest(gaps, fitted.cdf).pvalue > 1e-4
