"""Measures of a plan: eWAN's two objectives, accept rate, utilisation, flow times and fairness."""

from dataclasses import dataclass

from longhaul.analysis.fairness import jain
from longhaul.transfers.plan.plans import Plan


@dataclass(frozen=True)
class Measures:
    """Figures of a plan; ``None`` where nothing moves."""

    requests: int
    satisfied: int
    accept_rate: float | None
    f1_s: float | None
    """The longest transfer, from its own start to its finish (eWAN: to be least)."""
    bottleneck: str | None
    """The link whose capacity is used most, over the time of the plan."""
    f2_as_printed: float | None
    """Sum of mean rates over the bottleneck's capacity; above one where transfers follow each other."""
    f2_over_time: float | None
    """Volume over what the bottleneck could carry from the first start to the last finish."""
    utilisation: float | None
    """The same for all links together."""
    flow_time_mean_s: float | None
    """From release to finish."""
    flow_time_max_s: float | None
    last_finish_s: float | None
    jain: float | None
    """Of the mean rates."""


def measures(plan: Plan) -> Measures:
    """The figures of ``plan``, over all requests that move, in time or not."""
    running = plan.running
    satisfied = sum(each.satisfied for each in plan.outcomes)
    total = len(plan.outcomes)
    accept_rate = satisfied / total if total else None
    if not running:
        return Measures(total, satisfied, accept_rate, *[None] * 9)
    begin_s, end_s = min(each.start_s for each in running), max(each.finish_s for each in running)
    links = plan.instance.links
    bits, rates = [0.0] * len(links), [0.0] * len(links)
    for outcome, path in zip(plan.outcomes, plan.instance.paths, strict=True):
        for link in path if outcome.pieces else ():
            bits[link] += outcome.request.volume_bits
            rates[link] += outcome.bits_per_s
    use = [moved / (link.bits_per_s * (end_s - begin_s)) for moved, link in zip(bits, links, strict=True)]
    first = max(range(len(links)), key=use.__getitem__, default=None)
    flow_times = [each.finish_s - each.request.release_s for each in running]
    return Measures(
        requests=total,
        satisfied=satisfied,
        accept_rate=accept_rate,
        f1_s=max(each.finish_s - each.start_s for each in running),
        bottleneck=None if first is None else links[first].name,
        f2_as_printed=None if first is None else rates[first] / links[first].bits_per_s,
        f2_over_time=None if first is None else use[first],
        utilisation=sum(bits) / (sum(link.bits_per_s for link in links) * (end_s - begin_s))
        if links
        else None,
        flow_time_mean_s=sum(flow_times) / len(flow_times),
        flow_time_max_s=max(flow_times),
        last_finish_s=end_s,
        jain=jain([each.bits_per_s for each in running]),
    )
