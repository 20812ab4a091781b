"""``longhaul transfer policies``: what can plan."""

import click


@click.command()
def policies() -> None:
    """List the policies, a line each; the guide to planning tells which one is for what."""
    from longhaul.report.transfers import print_policies

    print_policies()
