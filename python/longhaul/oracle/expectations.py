"""How far two runs of a scenario may lie apart: by chance, or by what a program prints.

Random models draw other numbers in each of the two. A share of losses differs as two binomial samples do;
where losses come in bursts, their variance is larger by (1 + c) / (1 - c), with the correlation c of
neighbours. A median of delays differs by at most sqrt(3) standard errors of their mean, which is so for
uniform jitter. The goodput of TCP goes with the inverse square root of the loss (Mathis et al. 1997), so that
K random losses leave it uncertain by 1 / (2 sqrt(K)).
"""

from collections.abc import Iterable
from math import floor, inf, log10, prod, sqrt

from longhaul.plan import DelayModel, Direction, LossModel
from longhaul.scenario.lower.link_models.loss import mean_loss

Z = 3.3
"""Standard deviations within which 99.9 % lie."""
GOODPUT = 0.03
"""By which the goodput of two equal TCP flows over equal links may differ: super-packets and
acknowledgements."""
LEAST_LOSSES = 25
"""With fewer random losses, the goodput of TCP is not judged."""
SOURCE_SHARE = 0.001
"""The same of datagrams sent at a fixed rate."""
STAGE_NS = 2
"""What a stage of netem or tbf may be off, which count in whole nanoseconds."""
PING_DIGITS = 3
"""Which ping prints of a round trip."""


def mean_losses(directions: Iterable[Direction]) -> float:
    """The share of packets that the loss models along a path take."""
    return 1 - prod(1 - (mean_loss(each["loss"]) or 0.0) for each in directions)


def mean_failures(directions: Iterable[Direction]) -> float:
    """The share of packets that do not arrive along a path, lost or with an inverted bit."""
    return 1 - prod(
        (1 - (mean_loss(each["loss"]) or 0.0)) * (1 - each.get("corrupt", 0.0)) for each in directions
    )


def mean_copies(directions: Iterable[Direction]) -> float:
    """How many copies of a packet the links of a path add to it."""
    return prod(1 + each.get("duplicate", 0.0) for each in directions) - 1


def burstiness(loss: LossModel) -> float:
    """By how much the variance of a count of losses exceeds that of independent ones."""
    match loss["model"]:
        case "gilbert-elliott":
            back = 1 / loss["burst"]
            correlation = 1 - back - loss["mean"] * back / (1 - loss["mean"])
        case "markov":
            correlation = 1 - loss["good_to_bad"] - loss["bad_to_good"]
        case "four-state":
            correlation = 1 - loss["p13"] - loss["p31"]
        case _:
            return 1.0
    return max((1 + correlation) / (1 - correlation), 1.0) if correlation < 1 else inf


def most_bursty(directions: Iterable[Direction]) -> float:
    """The largest burstiness along a path."""
    return max((burstiness(each["loss"]) for each in directions), default=1.0)


def share_tolerance(mean: float, first: int, second: int, burst: float = 1.0) -> float | None:
    """By how much two shares of so many packets may differ if each is lost with the probability ``mean``."""
    if not first or not second:
        return None
    # Where few losses are expected, one more or less in the smaller sample says nothing.
    grain = 1 / min(first, second) if mean else 0.0
    return Z * sqrt(mean * (1 - mean) * burst * (1 / first + 1 / second)) + grain


def goodput_tolerance(goodput: float, losses: tuple[int, int], burst: float = 1.0) -> float | None:
    """By how much the goodputs of two TCP flows may differ that had so many random losses; none: (0, 0).

    ``None`` with few: then the first loss, which ends slow start, decides.
    """
    if losses == (0, 0):
        return GOODPUT * goodput
    if min(losses) < LEAST_LOSSES * burst:
        return None
    return goodput * (GOODPUT + Z / 2 * sqrt(burst * sum(1 / each for each in losses)))


def ping_resolution_ns(rtt_ns: float) -> float:
    """The last digit of what ping prints of a round trip; it knows microseconds at best."""
    if rtt_ns <= 0:
        return 1000.0
    return max(1000.0, 10.0 ** (floor(log10(rtt_ns)) - PING_DIGITS + 1))


def jitter_ns(delay: DelayModel) -> float:
    """The standard deviation of a delay."""
    match delay["model"]:
        case "uniform":
            return delay["half_width_ns"] / sqrt(3)
        case "normal":
            return delay["sd_ns"]
        case "random" if delay["jitter"]["dist"] == "uniform":
            return (delay["jitter"]["high"] - delay["jitter"]["low"]) / sqrt(12)
        case "random" if delay["jitter"]["dist"] == "normal":
            return delay["jitter"]["sd"]
    return 0.0


def path_jitter_ns(directions: Iterable[Direction]) -> float:
    """The standard deviation of the delay along a path."""
    return sqrt(sum(jitter_ns(each["delay"]) ** 2 for each in directions))


def median_tolerance_ns(sd_ns: float, first: int, second: int) -> float:
    """By how much the medians of so many delays may differ."""
    return Z * sqrt(3) * sd_ns * sqrt(1 / max(first, 1) + 1 / max(second, 1))
