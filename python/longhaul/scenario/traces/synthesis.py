"""Synthetic traces from a mean, a standard deviation and a share of spikes.

The round trip is ``floor + body + spike``: the body lognormal, so that nothing is faster than the floor; a
spike, in a share ``p`` of the samples, exponential. The rate is a normal that is cut at equal distances from
its mean. Both come back with the mean and the standard deviation that were asked for; the equations are in
docs/models/trace-synthesis.md.
"""

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import NormalDist

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.scenario.traces.trace import RATE, RTT, Trace, Way

SPIKES = 0.03
"""The share of spikes where a table says nothing: see the page of the model."""
_NORMAL = NormalDist()
_BODY = 0.5
"""Coefficient of variation of the body where there are spikes beside it."""
_LEAST_RATE = 0.1
"""The slowest rate that is drawn, over the mean."""
_DIGITS = 4
"""Decimals of the values, so that the last bits of different machines' logarithms do not show."""
MOST_ROWS = 1_000_000


@dataclass(frozen=True)
class Figures:
    """Mean and deviation of a link's round trip in ms and rate in Mbit/s; what is ``None`` is not drawn."""

    rtt_ms: float | None = None
    rtt_sd_ms: float = 0.0
    floor_ms: float = 0.0
    """No round trip is shorter."""
    spikes: float = 0.0
    """The share of samples with an exponential spike."""
    rate_mbit: float | None = None
    rate_sd_mbit: float = 0.0


@dataclass(frozen=True)
class Sampling:
    """When samples are drawn."""

    period_s: float = 1.0
    duration_s: float = 600.0
    correlation_s: float = 0.0
    """After how long the correlation of body and rate has fallen to 1/e; spikes come by themselves."""
    balanced: bool = False
    """Whether the draws fill the distribution evenly, so that a short trace has its mean, too."""


@dataclass(frozen=True)
class RoundTrip:
    """The distribution of the round trip: ``floor + lognormal(mu, sigma) + spike``."""

    floor_ms: float
    mu: float
    sigma: float
    spikes: float
    spike_ms: float
    """Mean of a spike."""
    body: bool = True
    """Whether there is one: the mean lies above the floor."""


def round_trip(figures: Figures) -> RoundTrip:
    """The distribution with the mean and deviation of ``figures``; raises LonghaulError if none has."""
    mean = figures.rtt_ms or 0.0
    above, sd, share = mean - figures.floor_ms, figures.rtt_sd_ms, figures.spikes
    if not 0 <= share < 1:
        raise _impossible(f"a share of spikes of {share:g}", "write 0% or more and less than 100%")
    if above < 0 or (above == 0 and sd > 0):
        what = f"a floor of {figures.floor_ms:g} ms under a mean of {mean:g} ms"
        raise _impossible(what, "write a lower floor")
    if share and sd <= _BODY * above:
        what = f"spikes with a deviation of {sd:g} ms around {mean:g} ms"
        remedy = f"write more than {_BODY * above:g} ms, or no spikes"
        raise _impossible(what, remedy)
    spike = _spike(above, sd, share) if share else 0.0
    rest = above - share * spike
    if rest <= 0 < share:
        most = math.sqrt((2 - share) / share) * above
        what = f"a deviation of {sd:g} ms with {share:.3g} spikes and {above:g} ms above the floor"
        raise _impossible(what, f"write less than {most:.4g} ms, fewer spikes, or a lower floor")
    if rest == 0:
        return RoundTrip(figures.floor_ms, 0.0, 0.0, 0.0, 0.0, body=False)
    variation = _BODY if share else sd / rest
    sigma = math.sqrt(math.log1p(variation**2))
    return RoundTrip(figures.floor_ms, math.log(rest) - sigma**2 / 2, sigma, share, spike)


def _spike(above: float, sd: float, share: float) -> float:
    """The mean e of a spike: (c (d - p e))^2 + (2 p - p^2) e^2 = sd^2, its positive root."""
    square = 2 * share - share**2 + (_BODY * share) ** 2
    linear = -2 * _BODY**2 * above * share
    rest = (_BODY * above) ** 2 - sd**2
    return (-linear + math.sqrt(linear**2 - 4 * square * rest)) / (2 * square)


def cut_normal_sigma(mean: float, sd: float) -> float:
    """The deviation of the normal that has ``sd`` once it is cut at ``mean`` plus and minus 0.9 ``mean``.

    Raises :class:`LonghaulError` beyond half the mean, where what is left is nearly uniform.
    """
    half = (1 - _LEAST_RATE) * mean
    if sd > 0.5 * mean:
        raise _impossible(f"a rate of {mean:g} with a deviation of {sd:g}", "write half the mean or less")
    low, high = sd, 100 * mean
    for _ in range(200):
        middle = (low + high) / 2
        ratio = half / middle
        kept = 1 - 2 * ratio * _NORMAL.pdf(ratio) / (2 * _NORMAL.cdf(ratio) - 1)
        low, high = (middle, high) if middle * math.sqrt(max(0.0, kept)) < sd else (low, middle)
    return (low + high) / 2


def synthesise(figures: Figures, sampling: Sampling, *, seed: str, way: Way | None = None) -> Trace:
    """A trace with the mean and deviation of ``figures``, the same for equal ``seed``.

    Raises :class:`LonghaulError` if no distribution has them.
    """
    count = _count(sampling)
    columns: dict[str, tuple[float | None, ...]] = {}
    if figures.rtt_ms is not None:
        columns[RTT] = tuple(_round_trips(figures, sampling, count, seed))
    if figures.rate_mbit is not None:
        columns[RATE] = tuple(_rates(figures, sampling, count, seed))
    if not columns:
        raise _impossible("the trace has neither RTT nor rate", "give an RTT or a rate")
    times = tuple(round(number * sampling.period_s, 9) for number in range(count))
    return Trace(times, columns, way)


def _round_trips(figures: Figures, sampling: Sampling, count: int, seed: str) -> Iterator[float]:
    distribution = round_trip(figures)
    if not distribution.floor_ms + distribution.body > 0:
        raise _impossible("a round trip of 0", "write more than that")
    body = _normals(sampling, count, random.Random(f"{seed}/rtt"))
    spikes = _uniforms(sampling, count, random.Random(f"{seed}/spikes"))
    for wave, chance in zip(body, spikes, strict=True):
        value = distribution.floor_ms
        if distribution.body:
            value += math.exp(distribution.mu + distribution.sigma * wave)
        if chance < distribution.spikes:
            # What is below the share is uniform below it: one draw says whether, and how high.
            value -= distribution.spike_ms * math.log(chance / distribution.spikes)
        yield max(round(value, _DIGITS), distribution.floor_ms)


def _rates(figures: Figures, sampling: Sampling, count: int, seed: str) -> Iterator[float]:
    mean, sd = figures.rate_mbit or 0.0, figures.rate_sd_mbit
    if mean <= 0:
        raise _impossible(f"a rate of {mean:g}", "write more than 0")
    sigma = cut_normal_sigma(mean, sd) if sd else 0.0
    outside = _NORMAL.cdf(-(1 - _LEAST_RATE) * mean / sigma) if sigma else 0.0
    for wave in _normals(sampling, count, random.Random(f"{seed}/rate")):
        share = outside + (1 - 2 * outside) * _NORMAL.cdf(wave)
        yield round(mean + sigma * _NORMAL.inv_cdf(share), _DIGITS) if sigma else mean


def _normals(sampling: Sampling, count: int, chance: random.Random) -> Iterator[float]:
    """Standard normal values whose correlation falls exponentially: AR(1), stationary from the first."""
    kept = math.exp(-sampling.period_s / sampling.correlation_s) if sampling.correlation_s else 0.0
    fresh = map(_NORMAL.inv_cdf, _uniforms(sampling, count, chance))
    value = None
    for each in fresh:
        value = each if value is None else kept * value + math.sqrt(1 - kept**2) * each
        yield value


def _uniforms(sampling: Sampling, count: int, chance: random.Random) -> Iterator[float]:
    """Uniform values, neither 0 nor 1; balanced ones are one of each n-th part, in any order."""
    if not sampling.balanced:
        yield from ((chance.getrandbits(52) + 0.5) / 2**52 for _ in range(count))
        return
    parts = list(range(count))
    for last in range(count - 1, 0, -1):
        other = chance.getrandbits(64) % (last + 1)
        parts[last], parts[other] = parts[other], parts[last]
    yield from ((part + (chance.getrandbits(52) + 0.5) / 2**52) / count for part in parts)


def _count(sampling: Sampling) -> int:
    if sampling.period_s <= 0 or sampling.duration_s < sampling.period_s:
        raise _impossible("a duration without a period in it", "write for example 1s and 10min")
    count = round(sampling.duration_s / sampling.period_s)
    if count > MOST_ROWS:
        raise _impossible(f"a trace of {count} rows", f"write {MOST_ROWS} at most: a longer period")
    return count


def _impossible(what: str, remedy: str) -> LonghaulError:
    return LonghaulError(Code.ARGUMENT_INVALID, f"cannot draw {what}", remedy=remedy, exit_code=2)
