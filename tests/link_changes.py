"""Plans with one link, and changes of it as a run records them."""

from typing import Any

from longhaul.analysis.configuration import Applied
from longhaul.scenario import parse_scenario, resolve

S = 10**9
MS = 10**6


def plan_of(link: str, *events: str) -> dict[str, Any]:
    """A plan with the link ``w`` from r to s."""
    nodes = "nodes: {r: {kind: router}, s: {kind: router}}"
    links = f"links: {{w: {{endpoints: [r, s], {link}}}}}"
    text = f"version: 1\nname: n\n{nodes}\n{links}\nevents: [{', '.join(events)}]"
    return resolve(parse_scenario(text.encode(), name="n.yaml")).plan


def constant(delay_ms: float) -> dict[str, Any]:
    """A constant delay of the plan."""
    return {"model": "constant", "delay_ns": round(delay_ms * MS)}


def by_user(
    at_s: float,
    change: dict[str, Any],
    *,
    way: str | None = None,
    route: int | None = None,
    words: tuple[str, ...] = (),
    by: str = "cli",
) -> Applied:
    """A change that ann asked for."""
    row = {"at_ns": round(at_s * S), "link": 0, "direction": way, "route": route, "change": change}
    return Applied.read({**row, "cause": {"by": by, "user": "ann", "words": list(words)}})
