"""``longhaul dashboard``: print a Grafana dashboard for live runs."""

import json

import click


@click.command()
def dashboard() -> None:
    """Print a Grafana dashboard for the metrics of `run --prometheus` and `up --prometheus`.

    Import it in Grafana under Dashboards, New, Import; it asks which Prometheus to use.

    \b
    longhaul dashboard > longhaul.json
    """
    from longhaul.run.dashboard import dashboard as made

    click.echo(json.dumps(made(), indent=1))
