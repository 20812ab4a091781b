"""Requests about the division of a network into shards: parts, cuts, and the expected speed-up."""

from dataclasses import dataclass
from typing import cast

from longhaul.page.bodies import ScenarioText, ShardsOf
from longhaul.page.json_requests import Asked
from longhaul.page.responses.shards import ShardPlan
from longhaul.page.text_requests import Texts
from longhaul.run import live, live_shards
from longhaul.run.shards import preview
from longhaul.run.sim import simulated_plan


@dataclass(frozen=True)
class ShardRequests:
    """Answers about the divisions of scenarios."""

    texts: Texts

    def divide(self, _asked: Asked, body: ShardsOf) -> ShardPlan:
        """What ``longhaul show --shards`` prints; of a live run, the threads of ``longhaul run --shards``."""
        text = ScenarioText(text=body.text, settings=body.settings, base=body.base)
        resolved = self.texts.resolved(text)
        if body.mode == "live":
            planned = live.plan_run(resolved)
            found = live_shards.preview(planned.plan, body.shards)
        else:
            found = preview(simulated_plan(resolved)[0], body.shards)
        return cast("ShardPlan", found)
