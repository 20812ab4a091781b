"""Plans of bulk transfers: requests with windows, on links with capacities, by one of many policies."""

from longhaul.scheduling.instances import Instance, Link, Network, Point, Request, access_points, instance
from longhaul.scheduling.plans import Outcome, Piece, Plan

__all__ = [
    "Instance",
    "Link",
    "Network",
    "Outcome",
    "Piece",
    "Plan",
    "Point",
    "Request",
    "access_points",
    "instance",
]
