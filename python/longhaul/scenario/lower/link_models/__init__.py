"""The link models of the plan: integers in ns, bit/s and bytes."""

from longhaul.scenario.lower.link_models.delay import mean_of, plan_delay, plan_mean_ns
from longhaul.scenario.lower.link_models.direction import merge, plan_bundle, plan_link_model, route_models
from longhaul.scenario.lower.link_models.distribution import Plain, distribution_mean, plan_distribution
from longhaul.scenario.lower.link_models.loss import mean_loss, plan_loss
from longhaul.scenario.lower.link_models.measured import traced_models
from longhaul.scenario.lower.link_models.queue import LinkContext, default_queue, plan_queue
from longhaul.scenario.lower.link_models.ramp import part_way
from longhaul.scenario.lower.link_models.rate import bdp_bytes, plan_bits_per_s, plan_rate, rate_of_model

__all__ = [
    "LinkContext",
    "Plain",
    "bdp_bytes",
    "default_queue",
    "distribution_mean",
    "mean_loss",
    "mean_of",
    "merge",
    "part_way",
    "plan_bits_per_s",
    "plan_bundle",
    "plan_delay",
    "plan_distribution",
    "plan_link_model",
    "plan_loss",
    "plan_mean_ns",
    "plan_queue",
    "plan_rate",
    "rate_of_model",
    "route_models",
    "traced_models",
]
