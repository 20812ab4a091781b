"""``longhaul calibrate``: what emulation costs on this machine."""

import json
from dataclasses import asdict

import click


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print the certificate as JSON.")
def calibrate(as_json: bool) -> None:
    """Measure this machine and keep the figures as its certificate.

    Base latency, jitter floor, throughput ceilings, the highest rates at which packets still leave on time,
    and what gigabit Ethernet carries. Every run quotes them, and check, show, doctor and run warn where a
    scenario asks for more; `compensate: true` subtracts the base latency. Takes about two minutes
    on an otherwise idle machine.
    """
    from longhaul.measure import calibration
    from longhaul.measure.wires import payload_rate
    from longhaul.run.certificate import store_certificate

    certificate = calibration.calibrate(lambda step: click.echo(f"  {step} ...", err=True))
    path = store_certificate(asdict(certificate))
    if as_json:
        click.echo(json.dumps(asdict(certificate), indent=1))
        return
    rows = [
        ("base latency, one way", f"{certificate.base_one_way_ns / 1e3:.1f} µs beyond a direct veth"),
        (
            "lateness at 2,000 packets/s",
            f"p50 {certificate.jitter_p50_ns / 1e3:.2f} µs, p99 {certificate.jitter_p99_ns / 1e3:.2f} µs",
        ),
        (
            "one TCP flow",
            f"{certificate.ceiling_bits_per_s / 1e9:.1f} Gbit/s "
            f"(direct veth {certificate.direct_bits_per_s / 1e9:.1f})",
        ),
        ("packets written alone", f"{certificate.ceiling_packets_per_s / 1e3:.0f} thousand packets/s"),
        ("faithful rate", f"{certificate.faithful_bits_per_s / 1e9:g} Gbit/s"),
        ("faithful packet rate", f"{certificate.faithful_packets_per_s / 1e3:g} thousand packets/s"),
        ("hosts brought up", f"{certificate.hosts_per_s:g} a second"),
        *(
            (
                f"{transport.upper()} on gigabit Ethernet",
                f"{shown / 1e6:.1f} Mbit/s (by arithmetic {payload_rate(transport) / 1e6:.1f})",
            )
            for transport, shown in certificate.gigabit().items()
        ),
        ("scheduling stalls over 100 µs", f"{certificate.gaps_per_s:g}/s"),
    ]
    for name, value in rows:
        click.echo(f"{name:<28} {value}")
    click.echo(f"certificate: {path}")
