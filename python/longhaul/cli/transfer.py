"""``longhaul transfer``: the group of all that deals with bulk transfers."""

import click

from longhaul.cli.lazy import Commands

COMMANDS: dict[str, tuple[str, str]] = {
    "plan": ("longhaul.cli.transfers.plan:plan", "Decide which requests move when, and how fast."),
    "run": ("longhaul.cli.transfers.run:run", "Carry a plan out, live or simulated, and compare both."),
    "policies": ("longhaul.cli.transfers.policies:policies", "List the policies, a line each."),
    "generate": ("longhaul.cli.transfers.generate:generate", "Draw random requests."),
}
"""Name, where it lives, and one line about it."""


@click.group(cls=Commands, table=COMMANDS)
def transfer() -> None:
    """Bulk transfers: volumes that are to move within a window of time.

    A request has a source, a destination, a volume, a release, a deadline and a greatest rate. A policy
    decides which ones are served, when they start and how fast they are.

    \b
    longhaul transfer generate --seed 1 --count 40 --max-rate 80Mbit 1Gbit --out requests.yaml
    longhaul transfer plan requests.yaml --policy greedy-min
    longhaul transfer plan requests.yaml --policy milp -o plans/milp
    longhaul transfer run requests.yaml --scenario wan.yaml --policy greedy-min
    """
