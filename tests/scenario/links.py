"""One link in the scenario language, and the same in the plan's words."""

import json
from pathlib import Path

from longhaul import _longhaul
from longhaul.scenario import parse_scenario, resolve

NODES = "version: 1\nname: t\nduration: 60s\nnodes: {a: {kind: host}, b: {kind: host}}\n"


def plan_of(models: str, *, events: str = "", folder: Path | None = None) -> dict:
    """The plan, which Rust accepts, of a link with ``models``, a flow mapping's inside."""
    text = f"{NODES}links: {{w: {{endpoints: [a, b], {models}}}}}\n"
    text += f"events: [{events}]\n" if events else ""
    plan = resolve(parse_scenario(text.encode(), name="t.yaml", folder=folder)).plan
    _longhaul.check_plan(json.dumps(plan))
    return plan


def forward(models: str, *, folder: Path | None = None) -> dict:
    """The forward direction of such a link."""
    return plan_of(models, folder=folder)["links"][0]["forward"]
