"""The laws of a direction in the plan's words: integers in ns, bit/s and bytes."""

from longhaul.scenario.laws.delay import mean_of, plan_delay, plan_mean_ns
from longhaul.scenario.laws.direction import merge, plan_bundle, plan_direction, route_laws
from longhaul.scenario.laws.distribution import Plain, distribution_mean, plan_distribution
from longhaul.scenario.laws.loss import mean_loss, plan_loss
from longhaul.scenario.laws.measured import measured_laws
from longhaul.scenario.laws.queue import Surroundings, default_queue, plan_queue
from longhaul.scenario.laws.ramp import part_way
from longhaul.scenario.laws.rate import bdp_bytes, plan_bits_per_s, plan_rate, rate_of_law

__all__ = [
    "Plain",
    "Surroundings",
    "bdp_bytes",
    "default_queue",
    "distribution_mean",
    "mean_loss",
    "mean_of",
    "measured_laws",
    "merge",
    "part_way",
    "plan_bits_per_s",
    "plan_bundle",
    "plan_delay",
    "plan_direction",
    "plan_distribution",
    "plan_loss",
    "plan_mean_ns",
    "plan_queue",
    "plan_rate",
    "rate_of_law",
    "route_laws",
]
