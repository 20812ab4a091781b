"""``longhaul transfer policies``: list the scheduling policies."""

import click


@click.command()
def policies() -> None:
    """List the scheduling policies. The guide to planning describes when to use which."""
    from longhaul.cli.terminal.transfers import print_policies

    print_policies()
