"""Names of the flows of one traffic."""

from collections.abc import Mapping
from typing import Any


def flow_name(item: Mapping[str, Any], source: str, target: str) -> str:
    """The name of the flow of ``item`` between two hosts: ``NAME``, ``NAME.TO`` or ``NAME.FROM.TO``."""
    if item["kind"] == "replay" or item.get("is_one_of_several"):
        return f"{item['name']}.{source}.{target}"
    return str(item["name"]) if len(item["destinations"]) == 1 else f"{item['name']}.{target}"


def probe_name(item: Mapping[str, Any], source: str) -> str:
    """The name of the probe of ``item`` from a host, which has one result for each host that it asks."""
    return f"{item['name']}.{source}" if item.get("is_one_of_several") else str(item["name"])
