"""Packet drops by cause and by link: computed here, shown on every surface."""

from collections.abc import Mapping, Sequence
from typing import Any

from longhaul.scenario.model.metrics import LINK_DROPS

Json = Mapping[str, Any]

CAUSES = {
    "lost": "by the loss model",
    "overflowed": "by a full queue",
    "dropped": "by active queue management",
    "down": "by a link that was down",
    "too_big": "larger than the MTU of a link",
    "no_route": "without a route",
    "ttl_expired": "with an expired TTL",
    "pacer_dropped": "by the pacing of a host",
    "looped": "of a station in a loop of switches",
}
"""Fates of packets that are drops, and what to say of each."""
ON_LINKS = LINK_DROPS
"""Those that a link counts; the others happen at nodes."""


def undelivered(counts: Json, suffix: str = "") -> Any:
    """Packets that ended at a link otherwise than delivered, from its counts by fate; arrays add up, too.

    ``suffix`` is that of the names in ``counts``, as in ``lost_packets``.
    """
    return sum(counts[f"{cause}{suffix}"] for cause in ON_LINKS)


def summarise_drops(packets: Json, links: Sequence[Json]) -> dict[str, Any]:
    """How many packets were dropped in all, and for each cause that there was how many, and on which links.

    ``packets`` are the network's totals by fate, ``links`` the summaries of directions. A run that was killed
    left no totals: then the packets that links counted are all that is known.
    """
    counted = {cause: sum(link["packets"][cause] for link in links) for cause in ON_LINKS}
    totals = {**counted, **packets}
    causes = [
        {
            "cause": cause,
            "text": text,
            "packets": totals[cause],
            "links": [
                {"link": link["name"], "way": link["way"], "packets": link["packets"][cause]}
                for link in links
                if cause in ON_LINKS and link["packets"][cause]
            ],
        }
        for cause, text in CAUSES.items()
        if totals.get(cause)
    ]
    total = sum(each["packets"] for each in causes)
    return {"packets": total, "text": drops_text(causes), "causes": causes}


def drops_text(causes: Sequence[Json]) -> str:
    """``162 by a full queue, 3 by the loss model``; ``none`` without any."""
    ordered = sorted(causes, key=lambda each: -each["packets"])
    return ", ".join(f"{each['packets']:,} {each['text']}" for each in ordered) or "none"


def unaccounted(packets: Json, links: Sequence[Json]) -> dict[str, int]:
    """By cause, how many drops of the network's totals its links do not account for; empty if all add up."""
    missing = {
        cause: packets.get(cause, 0) - sum(link["packets"][cause] for link in links) for cause in ON_LINKS
    }
    return {cause: count for cause, count in missing.items() if count}
