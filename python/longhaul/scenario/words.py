"""Laws of the plan in a few words, for cells of tables: no line is longer than 17 characters or so."""

from collections.abc import Iterator, Mapping
from typing import Any

from longhaul.scenario.laws import distribution_mean, mean_loss, rate_of_law


def span(ns: float) -> str:
    """A time with three or four digits: ``38 ms``, ``0.015 ms`` as ``15 µs``."""
    for unit, size in (("s", 10**9), ("ms", 10**6), ("µs", 10**3)):
        if ns >= size:
            return f"{ns / size:.4g} {unit}"
    return f"{ns:.4g} ns" if ns else "0"


def rate(bits_per_s: int | None) -> str:
    """A rate with three or four digits."""
    if bits_per_s is None:
        return "unlimited"
    for unit, size in (("Gbit/s", 10**9), ("Mbit/s", 10**6), ("kbit/s", 10**3)):
        if bits_per_s >= size:
            return f"{bits_per_s / size:.4g} {unit}"
    return f"{bits_per_s} bit/s"


def size(count: int | None) -> str:
    """Bytes with three or four digits, in decimal units as rates are."""
    if count is None:
        return "-"
    for unit, factor in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= factor:
            return f"{count / factor:.4g} {unit}"
    return f"{count} B"


def share(value: float) -> str:
    """A share in per cent."""
    return f"{value * 100:.4g} %"


def delays(direction: Mapping[str, Any]) -> Iterator[str]:
    """Mean, jitter and order."""
    delay = direction["delay"]
    yield span(direction["mean_delay_ns"])
    match delay["law"]:
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
    if late and late["law"] == "early":
        yield f"1 in {late['gap']} early:"
        yield share(late["probability"])
    elif late:
        what = f"1 in {late['block']}" if late["law"] == "block" else share(late["probability"])
        yield f"{what} after"
        yield span(late["delay_ns"])


def rates(direction: Mapping[str, Any], mtu: int) -> Iterator[str]:
    """Rate, how it is kept, and what it counts."""
    law = direction["rate"]
    yield rate(rate_of_law(law))
    match law["law"]:
        case "paced":
            yield f"paced on {rate(law['line_bits_per_s'])}"
        case "token-bucket":
            yield f"bucket {size(law['burst_bytes'])}"
            if law["peak_bits_per_s"]:
                yield f"peak {rate(law['peak_bits_per_s'])}"
        case "series":
            yield f"trace of {len(law['points'])}"
        case "opportunities":
            yield f"trace of {len(law['times_ns'])}"
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
    law = queue["discipline"]
    if law["law"] != "fifo":
        bands = f", {max(law['bands']) + 1} bands" if law["law"] == "priority" else ""
        yield f"{law['law']}{bands}{' ecn' if law.get('ecn') else ''}"
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
    match loss["law"]:
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
        case law:
            if mean is not None:
                yield share(mean)
            if law != "independent":
                yield {"gilbert-elliott": f"runs of {loss.get('burst', 0):.3g}"}.get(law, law)
    if loss["law"] != "none" and direction["loss_position"] == "egress":
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
