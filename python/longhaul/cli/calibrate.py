"""``longhaul calibrate``: measure the accuracy and capacity of this machine."""

import json

import click


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print the certificate as JSON.")
def calibrate(as_json: bool) -> None:
    """Measure the accuracy and capacity of this machine, and save them as its certificate.

    Base latency, jitter floor, throughput ceilings, the highest rates at which packets still leave on time,
    and what gigabit Ethernet carries. Every run quotes them, and check, show, doctor and run warn where a
    scenario asks for more; `compensate: true` subtracts the base latency. Takes about two minutes
    on an otherwise idle machine.
    """
    from longhaul.calibrate import calibration
    from longhaul.calibrate.wires import Transport, payload_rate
    from longhaul.results.certificate import store_certificate
    from longhaul.units.configured import rate
    from longhaul.units.text import rate_text, time_text

    certificate = calibration.calibrate(lambda step: click.echo(f"  {step} ...", err=True))
    path = store_certificate(certificate)
    if as_json:
        click.echo(json.dumps(certificate, indent=1))
        return
    carried: dict[Transport, float] = {
        "tcp": certificate["gigabit_tcp_bits_per_s"],
        "udp": certificate["gigabit_udp_bits_per_s"],
    }
    rows = [
        ("base latency, one way", f"{time_text(certificate['base_one_way_ns'])} beyond a direct veth"),
        (
            "lateness at 2,000 packets/s",
            f"p50 {time_text(certificate['jitter_p50_ns'])}, p99 {time_text(certificate['jitter_p99_ns'])}",
        ),
        (
            "one TCP flow",
            f"{rate_text(certificate['ceiling_bits_per_s'])} "
            f"(direct veth {rate_text(certificate['direct_bits_per_s'])})",
        ),
        ("packets written alone", f"{certificate['ceiling_packets_per_s'] / 1e3:.0f} thousand packets/s"),
        ("faithful rate", f"{rate_text(certificate['faithful_bits_per_s'])}"),
        ("faithful packet rate", f"{certificate['faithful_packets_per_s'] / 1e3:g} thousand packets/s"),
        ("hosts brought up", f"{certificate['hosts_per_s']:g} a second"),
        *(
            (
                f"{transport.upper()} on gigabit Ethernet",
                f"{rate(shown)} (by arithmetic {rate(payload_rate(transport))})",
            )
            for transport, shown in carried.items()
        ),
        ("scheduling stalls over 100 µs", f"{certificate['gaps_per_s']:g}/s"),
    ]
    for name, value in rows:
        click.echo(f"{name:<30} {value}")
    click.echo(f"certificate: {path}")
