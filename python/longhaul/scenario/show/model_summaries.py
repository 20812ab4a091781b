"""Link models of the plan in a few words, for cells of tables of at most 17 characters."""

from collections.abc import Iterator, Mapping
from typing import Any

from longhaul.scenario.lower.link_models import distribution_mean, mean_loss, rate_of_model
from longhaul.units.configured import rate, share, size, span


def delays(direction: Mapping[str, Any]) -> Iterator[str]:
    """Mean, jitter and order."""
    delay = direction["delay"]
    yield span(direction["mean_delay_ns"])
    match delay["model"]:
        case "uniform":
            yield f"±{span(delay['half_width_ns'])}"
        case "normal":
            yield f"sd {span(delay['sd_ns'])}"
        case "random":
            yield _name(delay["jitter"])
            yield f"from {span(delay['base_ns'])}"
            if delay["correlation"]:
                yield f"correlated {delay['correlation']:.3g}"
        case "series":
            values = [value for _at, value in delay["points"]]
            yield f"trace of {len(values)}"
            yield f"{span(min(values))} to"
            yield span(max(values))
        case "ticks":
            yield f"{delay['hz']} Hz, {delay['rounding']}"
    if direction.get("delay_is_half_of"):
        yield f"half of {direction['delay_is_half_of']}"
    if direction["reorder"]:
        yield "reorders"
    late = direction["reordering"]
    if late and late["model"] == "early":
        yield f"1 in {late['gap']} early:"
        yield share(late["probability"])
    elif late:
        what = f"1 in {late['block']}" if late["model"] == "block" else share(late["probability"])
        yield f"{what} after"
        yield span(late["delay_ns"])


def rates(direction: Mapping[str, Any], mtu: int) -> Iterator[str]:
    """Rate, how it is kept, and what it counts."""
    model = direction["rate"]
    yield rate(rate_of_model(model))
    match model["model"]:
        case "paced":
            yield f"paced on {rate(model['line_bits_per_s'])}"
        case "token-bucket":
            yield f"bucket {size(model['burst_bytes'])}"
            if model["peak_bits_per_s"]:
                yield f"peak {rate(model['peak_bits_per_s'])}"
        case "series":
            yield f"trace of {len(model['points'])}"
        case "opportunities":
            yield f"trace of {len(model['times_ns'])}"
    framing = direction["framing"]
    if framing["cells"]:
        yield f"{framing['cells']['payload_bytes']}/{framing['cells']['cell_bytes']} B cells"
    elif framing["overhead_bytes"]:
        yield f"+{framing['overhead_bytes']} B/packet"
    if mtu != 1500:
        yield f"MTU {mtu}"
    if not direction["up"]:
        yield "down"


def queues(direction: Mapping[str, Any]) -> Iterator[str]:
    """Discipline, and the limit in packets, bytes, time and BDPs."""
    queue = direction["queue"]
    discipline = queue["discipline"]
    if discipline["kind"] != "fifo":
        bands = f", {max(discipline['bands']) + 1} bands" if discipline["kind"] == "priority" else ""
        yield f"{discipline['kind']}{bands}{' ecn' if discipline.get('ecn') else ''}"
    if direction["queue_bytes"] is None:
        yield "never waits" if direction["bits_per_s"] is None else "unlimited"
        return
    if queue["limit_packets"] is not None:
        yield f"{queue['limit_packets']} packets"
        yield f"up to {size(direction['queue_bytes'])}"
    else:
        yield size(direction["queue_bytes"])
        yield f"{direction['queue_full_packets']} packets"
    if direction["queue_ns"] is not None:
        yield span(direction["queue_ns"])
        if direction["bdp_bytes"]:
            yield f"{direction['queue_bytes'] / direction['bdp_bytes']:.3g} BDP"


def losses(direction: Mapping[str, Any]) -> Iterator[str]:
    """What is lost, copied and corrupted."""
    loss = direction["loss"]
    mean = mean_loss(loss)
    match loss["model"]:
        case "none":
            yield "-"
        case "one-per-block":
            yield f"1 in {loss['block']}"
        case "periodic":
            yield f"each {loss['every']}th"
        case "renewal":
            yield from _renewal(loss)
        case "runs" | "times":
            count = len(loss.get("runs") or loss.get("times_ns") or ())
            yield f"trace of {count}"
        case model:
            if mean is not None:
                yield share(mean)
            if model != "independent":
                yield {"gilbert-elliott": f"runs of {loss.get('burst', 0):.3g}"}.get(model, model)
    if loss["model"] != "none" and direction["loss_position"] == "egress":
        yield "at the egress"
    if direction["duplicate"]:
        yield f"{share(direction['duplicate'])} twice"
    if direction["corrupt"]:
        yield f"{share(direction['corrupt'])} corrupt"


def _renewal(loss: Mapping[str, Any]) -> Iterator[str]:
    unit = loss["unit"]
    gap = distribution_mean(loss["gap"])
    if unit == "packets":
        yield f"each {gap:.4g} packets"
    elif unit == "bytes":
        yield f"each {size(round(gap))}"
    else:
        yield f"each {span(gap)}{'' if unit == 'wall' else ' busy'}"
    yield _name(loss["gap"])


def _name(distribution: Mapping[str, Any]) -> str:
    """Where a cell is narrow, the parts of a name go below one another."""
    return str(distribution["dist"]).replace("-", " ")
