"""Scheduling of bulk transfers: requests with windows, on links with capacities, by policies."""

from longhaul.transfers.plan.instances import Instance, Link, Network, Point, Request, access_points, instance
from longhaul.transfers.plan.plans import Outcome, Piece, Plan

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
