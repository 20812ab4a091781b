"""The tables of a run's report."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from longhaul.analysis.algorithms import flow_algorithm
from longhaul.analysis.metrics import has_size, took_ns
from longhaul.analysis.phases import path_rtt_text, series_of
from longhaul.report import transfer_results
from longhaul.report.tables import Cell, Folded, Row, Table, folded, numbers, words
from longhaul.units.text import few_text, number_text, quantity_text, rate_text, share_text, time_text

Json = Mapping[str, Any]

MOST_CHANGES = 200
"""Listed in a report."""
MOST_DECISIONS = 200
_INTERFACE_COUNTERS = ("receive_dropped_packets", "unresolved_packets", "looped_frames")


def changes(listed: Sequence[Json]) -> Table:
    """Changes of the network, with their numbers in charts."""
    columns = [*numbers("no.", "time"), *words("change", "kind", "requested by")]
    return Table(columns, [_change(*each) for each in enumerate(listed[:MOST_CHANGES], start=1)])


def _change(number: int, each: Json) -> Row:
    until = f" to {each['until_ns'] / 1e9:.3f}" if each["until_ns"] > each["at_ns"] else ""
    by_user = each["kind"] == "intervention"
    source = escape(each["source"])
    if each.get("words"):
        source += f": <code>{escape(' '.join(each['words']))}</code>"
    return Row(
        [
            str(number),
            f"{each['at_ns'] / 1e9:.3f}{until} s",
            each["text"],
            Cell("<strong>intervention</strong>", is_html=True) if by_user else "event",
            Cell(source, is_html=True),
        ]
    )


def expectations(listed: Sequence[Json]) -> Table:
    """Expected and measured values."""
    looks = {"passed": "good", "failed": "bad"}
    rows = [
        Row(
            [
                Cell(each["state"], looks.get(each["state"], "muted")),
                each["metric"],
                *(
                    "" if each.get(key) is None else quantity_text(each[key], each["unit"])
                    for key in ("min", "max", "equals")
                ),
                each["why"] or "" if each["value"] is None else quantity_text(each["value"], each["unit"]),
            ]
        )
        for each in listed
    ]
    return Table([*words("state", "metric"), *numbers("at least", "at most", "equal to", "measured")], rows)


def planned_transfers(found: Json) -> Table:
    """Transfers of a plan, as planned and as achieved."""
    columns = [
        *words("request", "way"),
        *numbers("volume", "deadline", "start", "achieved", "finish", "achieved", "deviation", "rate"),
        *numbers("achieved"),
        *words("satisfied"),
    ]
    keys = ("name", "way", "volume", "deadline", "planned_start_s", "achieved_start_s", "planned_finish_s")
    more = ("achieved_finish_s", "off", "planned_bits_per_s", "achieved_bits_per_s", "met")
    shown = transfer_results.rows(found)[: transfer_results.MOST_ROWS]
    return Table(columns, [Row([each[key] for key in (*keys, *more)]) for each in shown])


def decisions(listed: Sequence[Json]) -> Table:
    """Decisions of the policy of a plan."""
    rows = [
        Row([f"{each['at_s']:.3f} s", each["why"], each["request"], each["what"]])
        for each in listed[:MOST_DECISIONS]
    ]
    return Table([*numbers("time"), *words("why", "request", "what")], rows)


def traffic_has_times(summary: Json) -> bool:
    """Whether the table of flows tells how long transfers took: some have a size."""
    return any(map(has_size, summary["flows"]))


def traffic(summary: Json) -> list[Folded]:
    """Flows and pings; in one table if there are few of both."""
    have_times = traffic_has_times(summary)
    columns = [
        *words("name", "path", "kind"),
        *numbers("goodput", "sent", *(["took"] if have_times else []), "loss", "lost while down"),
        *numbers("retransmitted", "RTT p50", "RTT p99", "propagation RTT"),
    ]
    is_live = not summary.get("simulation")

    def row(each: Json) -> Iterable[Row]:
        kind = "simulated " if each.get("simulated") and is_live else ""
        show = _flow if "flow" in each else _probe
        return show(each, kind, have_times)

    flows, probes = summary["flows"], summary["probes"]
    table = Table(columns, [])
    together = folded(
        table, [*flows, *probes], row, key=lambda _each: 1, names=("flows and pings", "traffic")
    )
    if together.rest is None:
        return [together]
    found = []
    if flows:
        found.append(
            folded(
                table,
                flows,
                row,
                key=lambda each: each["goodput_bits_per_s"] or 0,
                names=("flows", "goodput"),
            )
        )
    if probes:
        # A ping without a loss is behind those that have one, by its median RTT.
        found.append(folded(table, probes, row, key=_slowness, names=("pings", "loss and RTT")))
    return found


def _slowness(probe: Json) -> float:
    return (probe["loss"] or 0) * 1e12 + (probe["rtt_p50_ns"] or 0) + (1 if probe["sent"] else 0)


def _flow(flow: Json, kind: str, have_times: bool) -> Iterable[Row]:
    times = [time_text(took_ns(flow) if has_size(flow) else None)] if have_times else []
    again = flow["retransmits"]
    rtt = flow["rtt"]
    yield Row(
        [
            flow["flow"],
            f"{flow['from']} > {flow['to']}",
            f"{kind}{flow['kind']} {flow_algorithm(flow)}",
            rate_text(flow["goodput_bits_per_s"]),
            rate_text(flow["throughput_bits_per_s"]),
            *times,
            share_text(flow["loss"]),
            "-",
            "-" if again is None else f"{again} ({share_text(flow['retransmission_rate'])})",
            time_text(rtt["p50_ns"]) if rtt else "-",
            time_text(rtt["p99_ns"]) if rtt else "-",
            "-",
        ]
    )
    if flow["error"]:
        yield Row(["", Cell(flow["error"], "bad", columns=10 + len(times))])


def _probe(probe: Json, kind: str, have_times: bool) -> Iterable[Row]:
    lost = f" ({probe['lost']} of {probe['sent']})" if probe["sent"] else ""
    yield Row(
        [
            probe["name"],
            f"{probe['from']} > {probe['to']}",
            f"{kind}ping",
            "-",
            "-",
            *(["-"] if have_times else []),
            f"{share_text(probe['loss'])}{lost}",
            "-" if probe["lost_down"] is None else str(probe["lost_down"]),
            "-",
            time_text(probe["rtt_p50_ns"]),
            time_text(probe["rtt_p99_ns"]),
            path_rtt_text(probe),
        ]
    )


def transfers(flows: Sequence[Json]) -> Folded:
    """Flows that consist of transfers, such as requests."""
    columns = [
        *words("transfers"),
        *numbers("done", "bytes", "took p50", "took p99", "took max", "p99 start lateness"),
    ]

    def row(flow: Json) -> Iterable[Row]:
        late = flow.get("send_lateness")
        times = [time_text(flow[f"took_{name}_ns"]) for name in ("p50", "p99", "max")]
        yield Row(
            [
                flow["flow"],
                f"{flow['done']:,}",
                f"{flow['bytes']:,}",
                *times,
                time_text(late["p99_ns"]) if late else "-",
            ]
        )

    key = lambda flow: float(flow["bytes"])  # noqa: E731
    return folded(Table(columns, []), flows, row, key=key, names=("flows", "transferred bytes"))


def sent_captures(flows: Sequence[Json]) -> Folded:
    """Packets of captures as traffic, by their fate; how long they took, and how late they left."""
    columns = [
        *words("capture"),
        *numbers("packets", "bytes", "lost", "delay p50", "delay p99", "late p50", "late p99", "late max"),
    ]

    def row(flow: Json) -> Iterable[Row]:
        delay, late = flow["delay"] or {}, flow["send_lateness"] or {}
        yield Row(
            [
                flow["flow"],
                *(f"{flow[name]:,}" for name in ("sent_packets", "sent_bytes", "lost_packets")),
                *(time_text(delay.get(f"{quantile}_ns")) for quantile in ("p50", "p99")),
                *(time_text(late.get(f"{quantile}_ns")) for quantile in ("p50", "p99", "max")),
            ]
        )

    key = lambda flow: float(flow["sent_bytes"])  # noqa: E731
    return folded(Table(columns, []), flows, row, key=key, names=("captures", "sent bytes"))


def links(directions: Sequence[Json]) -> Folded:
    """Configured and measured values of directions of links."""
    columns = [
        *words("direction"),
        *numbers("delay", "measured (mean)", "p99 lateness", "rate", "throughput", "peak", "utilisation"),
        *numbers("loss", "measured", "offered", "dropped", "marked", "corrupted"),
        *numbers("queueing p50", "p99", "max"),
    ]
    table = Table(columns, [], look="wide")
    key = lambda link: float(link["packets"]["offered"] or 0)  # noqa: E731
    return folded(table, directions, _link, key=key, names=("directions", "packets"))


def _link(link: Json) -> Iterable[Row]:
    delay, rate, loss = (series_of(link, key) for key in ("delay_ns", "rate_bits_per_s", "loss"))
    packets, queueing, achieved = link["packets"], link["queueing_delay"], link["achieved"]
    yield Row(
        [
            f"{link['from']} > {link['to']}",
            delay.configured,
            delay.measured,
            time_text(link["lateness"]["p99_ns"]) if link["lateness"] else "-",
            rate.configured,
            rate_text(achieved["rate_bits_per_s"]),
            rate_text(achieved["peak_bits_per_s"]),
            share_text(achieved["utilisation"]),
            loss.configured,
            loss.measured,
            str(packets["offered"]),
            str(link["undelivered_packets"]),
            *("-" if packets[name] is None else str(packets[name]) for name in ("marked", "corrupted")),
            *(time_text(queueing[f"{name}_ns"]) for name in ("p50", "p99", "max")),
        ]
    )


def drops(summary: Json) -> Folded:
    """Dropped packets by cause and direction."""
    causes = summary["drops"]["causes"]
    columns = [*words("direction"), *numbers(*(each["text"] for each in causes), "total")]
    total = [str(each["packets"]) for each in causes]
    foot = Row(["all, and at nodes", *total, str(summary["drops"]["packets"])])

    def row(link: Json) -> Iterable[Row]:
        counts = [str(link["packets"].get(each["cause"], 0) or "") for each in causes]
        way = f"{link['name']}, {link['from']} > {link['to']}"
        place = {"data-link": link["name"], "data-way": link["way"]}
        yield Row([way, *counts, str(link["undelivered_packets"])], place)

    listed = [each for each in summary["links"] if each["undelivered_packets"]]
    key = lambda link: float(link["undelivered_packets"])  # noqa: E731
    return folded(
        Table(columns, [], name="drops", foot=foot), listed, row, key=key, names=("directions", "drops")
    )


def pacing(listed: Sequence[Json]) -> Folded:
    """What the pacers of hosts did."""
    columns = [
        *words("host", "class"),
        *numbers("rate", "sent (mean)", "packets", "dropped", "wait (mean)", "max", "max lag"),
        *numbers("gap error p50", "p99", "max"),
    ]

    def row(each: Json) -> Iterable[Row]:
        gaps = each["written_gap_errors"] or each["gap_errors"]
        rate = each["rate_bits_per_s"]
        yield Row(
            [
                each["host"],
                each["class"],
                rate_text(rate) if rate else "the rest",
                rate_text(each["sent_bits_per_s"]),
                str(each["sent_packets"]),
                str(each["dropped_packets"]),
                *(time_text(each[key]) for key in ("wait_mean_ns", "wait_max_ns", "latest_ns")),
                *(time_text(gaps[f"{name}_ns"]) if gaps else "" for name in ("p50", "p99", "max")),
            ]
        )

    key = lambda each: float(each["sent_packets"])  # noqa: E731
    return folded(Table(columns, []), listed, row, key=key, names=("classes", "packets"))


def interfaces(verdict: Json, fidelity: Json) -> Folded | None:
    """What waited and was dropped at network interfaces of the machine; ``None`` for a run without any."""
    counted = (fidelity.get("engine") or {}).get("ports") or {}
    columns = [
        *words("host"),
        *numbers(
            "packets", "read delay p50", "p99", "max", "not read in time", "unresolved", "looped frames"
        ),
    ]

    def row(delay: Json) -> Iterable[Row]:
        port = counted.get(delay["host"], {})
        yield Row(
            [
                delay["host"],
                str(delay["count"]),
                *(time_text(delay[f"{name}_ns"]) for name in ("p50", "p99", "max")),
                *(str(port.get(name, "")) for name in _INTERFACE_COUNTERS),
            ]
        )

    listed = [{"host": host, **delay} for host, delay in (verdict.get("read_delay") or {}).items()]
    key = lambda delay: float(delay["count"])  # noqa: E731
    names = ("interfaces", "packets")
    return folded(Table(columns, []), listed, row, key=key, names=names) if listed else None


def machines(found: Json) -> Table:
    """Each machine of a run on several."""
    columns = [*words("part", "host"), *numbers("nodes", "cores", "lateness p50", "p99", "stalled")]
    rows = [
        Row(
            [
                each["name"],
                each["host"] or "",
                number_text(each["nodes"]),
                str(each["cores"]),
                time_text(each["lateness_p50_ns"]),
                time_text(each["lateness_p99_ns"]),
                share_text(each["stalled_share"]),
            ]
        )
        for each in found["machines"]
    ]
    return Table(columns, rows)


def host_machines(found: Sequence[Json]) -> Table:
    """Each machine that ran kernels of hosts on the virtual clock."""
    columns = [*words("machine", "hostname", "kernel"), *numbers("cores", "hosts"), *words("which")]
    rows = [
        Row(
            [
                each["name"],
                each["host"],
                each["kernel"],
                str(each["cores"]),
                number_text(len(each["hosts"])),
                few_text(each["hosts"], most=12),
            ]
        )
        for each in found
    ]
    return Table(columns, rows)


def crossings(found: Json) -> Table:
    """The packets that crossed from one machine to another."""
    columns = [
        *words("from", "to"),
        *numbers("packets", "lost", "late", "lateness p99", "RTT min", "clock offset", "clock bound"),
    ]
    rows = [
        Row(
            [
                each["from"],
                each["to"],
                str(each["packets"]),
                Cell(number_text(each["lost_packets"]), "bad" if each["lost_packets"] else ""),
                str(each["late_packets"]),
                *(
                    "" if each[key] is None else time_text(each[key])
                    for key in ("late_p99_ns", "rtt_min_ns", "clock_offset_ns", "clock_bound_ns")
                ),
            ]
        )
        for each in found["crossings"]
    ]
    return Table(columns, rows)


def programs(listed: Sequence[Json]) -> Folded:
    """Programs, those that failed first if there are many."""
    columns = [*words("name", "host", "command", "ended"), *numbers("time", "CPU")]

    def row(each: Json) -> Iterable[Row]:
        command = " ".join(each["argv"])
        shown = command if len(command) <= _LONGEST_COMMAND else f"{command[: _LONGEST_COMMAND - 3]}..."
        yield Row(
            [
                each["name"],
                each["host"],
                Cell(f"<code>{escape(shown)}</code>", is_html=True),
                Cell(each["failure"] or each["ending"], "" if each["good"] else "bad"),
                time_text(each["wall_ns"]),
                time_text(each["cpu_ns"]),
            ]
        )

    def key(each: Json) -> float:
        return (0.0 if each["good"] else 1e15) + (each["wall_ns"] or 0) + 1

    return folded(Table(columns, []), listed, row, key=key, names=("programs", "running time"))


def iterations(listed: Sequence[Json]) -> Table | None:
    """Times of the iterations of parallel programs; ``None`` without any."""
    rows = [
        Row(
            [
                each["name"],
                str(found["count"]),
                *(time_text(found.get(f"{name}_ns")) for name in ("first", "p50", "p99", "max")),
                "-" if found.get("warm_up") is None else str(found["warm_up"]),
                time_text(found.get("warm_up_ns")),
            ]
        )
        for each in listed
        if (found := each.get("iteration")) and found.get("count")
    ]
    columns = numbers("iterations", "first", "p50", "p99", "max", "warm-up iterations", "warm-up time")
    return Table([*words("program"), *columns], rows) if rows else None


def printed(listed: Sequence[Json]) -> Table | None:
    """Metrics from the output of programs; ``None`` without any."""
    rows = [
        Row(
            [
                each["name"],
                name,
                number_text(found["value"], found["unit"]),
                str(found["values"]),
            ]
        )
        for each in listed
        for name, found in (each.get("metrics") or {}).items()
    ]
    return (
        Table([*words("program", "metric"), *numbers("value", "lines with a value")], rows) if rows else None
    )


_LONGEST_COMMAND = 90


def fates(packets: Mapping[str, int]) -> Table:
    """Packets by fate."""
    rows = [Row([name.replace("_", " "), f"{count:,}"]) for name, count in packets.items()]
    return Table([*words("fate"), *numbers("packets")], rows, name="fates")


def counters(counted: Sequence[tuple[str, int]]) -> Folded:
    """Counters of the kernel and of ports that increased."""
    rows = [Row([name, f"{count:,}"]) for name, count in counted if count]
    table = Table([*words("counter of the kernel or a port, all hosts"), *numbers("increase")], rows)
    zeros = len(counted) - len(rows)
    return Folded(table, note=f"{zeros} counters did not increase and are not listed." if zeros else "")


def captures(listed: Sequence[Json]) -> Table:
    """Capture files and what Wireshark filters them by."""
    rows = [
        Row(
            [
                each["file"],
                each["link"],
                each["node"],
                Cell(f"<code>{escape(each['filter'])}</code>", is_html=True),
            ]
        )
        for each in listed
    ]
    return Table(words("file", "link", "at", "display filter"), rows, name="captures")
