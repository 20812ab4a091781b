"""``longhaul transfer``: the group of commands for bulk transfers."""

import click

from longhaul.cli.lazy import Commands

COMMANDS: dict[str, tuple[str, str]] = {
    "plan": ("longhaul.cli.transfers.plan:plan", "Plan the start and the rate of each request."),
    "run": (
        "longhaul.cli.transfers.run:run",
        "Run a plan, live or simulated, and compare it with the results.",
    ),
    "policies": ("longhaul.cli.transfers.policies:policies", "List the scheduling policies."),
    "generate": ("longhaul.cli.transfers.generate:generate", "Generate random requests."),
}
"""Name, where it lives, and one line about it."""


@click.group(cls=Commands, table=COMMANDS)
def transfer() -> None:
    """Bulk transfers: volumes with a release time and a deadline.

    A request has a source, a destination, a volume, a release, a deadline and a greatest rate. A policy
    decides which ones are served, when they start and how fast they are.

    \b
    longhaul transfer generate --seed 1 --count 40 --max-rate 80Mbit 1Gbit --out requests.yaml
    longhaul transfer plan requests.yaml --policy greedy-min
    longhaul transfer plan requests.yaml --policy milp -o plans/milp
    longhaul transfer run requests.yaml --scenario wan.yaml --policy greedy-min
    """
