"""Results of hosts' pacing: rates, drops, and the accuracy of the spacing."""

from collections.abc import Mapping
from typing import Any

from longhaul.plan import Plan, Way

Json = dict[str, Any]

_COUNTS = (
    "offered_packets",
    "offered_bytes",
    "sent_packets",
    "sent_bytes",
    "dropped_packets",
    "waiting_packets",
)


def summarise_pacing(plan: Plan, engine: Mapping[str, Any] | None) -> list[Json]:
    """A row for each class of each host, of those that were offered anything, or have a rate.

    ``gap_errors`` are of the model: how far gaps were from those that the rate asks for, because others were
    on the line. ``written_gap_errors`` are of a live run: how far gaps at the destination were from those
    that were due there. ``latest_ns`` is how far a packet was behind its class's clock at most.
    """
    found: list[Json] = []
    if engine is None or not engine.get("pacing"):
        return found
    directions = {link["name"]: link for link in plan["links"]}
    seconds = engine["duration_ns"] / 1e9
    for host in engine["pacing"]:
        way: Way = host["way"]
        pacing = directions[host["link"]][way].get("pacing")
        planned = pacing["classes"] if pacing else ()
        for model, each in zip(planned, host["classes"], strict=True):
            rate = model["model"].get("bits_per_s")
            if rate is None and not each["offered_packets"]:
                continue
            found.append(
                {
                    "host": host["host"],
                    "link": host["link"],
                    "class": each["name"],
                    "model": model["model"]["kind"],
                    "rate_bits_per_s": rate,
                    "sent_bits_per_s": each["sent_bytes"] * 8 / seconds if seconds else None,
                    **{key: each[key] for key in _COUNTS},
                    "wait_mean_ns": each["waits"]["mean_ns"],
                    "wait_max_ns": each["waits"]["max_ns"],
                    "latest_ns": each["latest_ns"],
                    "gap_errors": _short(each["gap_errors"]),
                    "written_gap_errors": _short(each.get("written_gap_errors")),
                }
            )
    return found


def _short(spans: Mapping[str, Any] | None) -> Json | None:
    if not spans or not spans["count"]:
        return None
    return {key: spans[key] for key in ("count", "mean_ns", "p50_ns", "p99_ns", "max_ns")}
