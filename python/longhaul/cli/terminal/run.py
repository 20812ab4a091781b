"""The results of a run, in 80 columns."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from longhaul.analysis import clocks
from longhaul.analysis.algorithms import flow_algorithm
from longhaul.analysis.changes import verdict_text
from longhaul.analysis.limits import limit_texts
from longhaul.analysis.metrics import has_size, took_ns
from longhaul.analysis.outcome import Failure, Outcome
from longhaul.analysis.phases import path_rtt_text, series_of
from longhaul.report.console import Console
from longhaul.units.text import (
    few_text,
    number_text,
    quantity_text,
    rate_text,
    share_text,
    time_text,
)

Json = Mapping[str, Any]

_LONGEST_NAME = 24
"""Up to so many characters a name is not broken."""
MOST_ACCESS_LINKS = 4
"""Beyond this many, links of hosts are folded into one line."""

_WAITING = 0.005
"""Share of the time of CPU wait from which the summary names a host."""
_MENTIONED_WORK = 0.25
"""Share of the time that the engine worked, from which on it is mentioned."""
_MOST_INTERVENTIONS = 20
_MOST_CAPTURES = 4

OUTCOME_COLOURS = {
    "passed": "green",
    "failed": "red",
    "interrupted": "yellow",
    "crashed": "red",
    "running": "default",
}
_MOST_FAILURES = 20
_MOST_ROWS = 100
"""Flows that are listed, and links; of more the busiest."""

_COLOURS = {"faithful": "green", "degraded": "yellow", "invalid": "red"}


def print_summary(summary: Json, console: Console) -> None:
    """Links, programs, flows, probes, expectations, the verdict on the network, and the outcome last."""
    if summary["links"]:
        console.print(_links(summary["links"]))
    if (summary.get("drops") or {}).get("packets"):
        drops = summary["drops"]
        console.print(f"dropped packets: {drops['text']}", highlight=False, soft_wrap=True)
    programs = [each for each in summary["programs"] if not each["service"] or not each["good"]]
    if programs:
        console.print(_programs(programs))
    if any(each.get("iterations") for each in summary["programs"]):
        console.print(_iterations(summary["programs"]))
    if any(each.get("metrics") for each in summary["programs"]):
        console.print(_printed(summary["programs"]))
    if summary["flows"]:
        console.print(_flows(summary))
    if any(flow.get("done") is not None for flow in summary["flows"]):
        console.print(_requests(summary["flows"]))
    if any(flow["kind"] == "pcap" for flow in summary["flows"]):
        console.print(_captures(summary["flows"]))
    if summary.get("pacing"):
        console.print(_pacing(summary["pacing"]))
    if summary["probes"]:
        console.print(_probes(summary))
    if any(each["kind"] == "intervention" for each in summary["changes"]):
        console.print(interventions_table(summary["changes"]))
    if summary.get("total"):
        total = summary["total"]
        text = rate_text(total["goodput_bits_per_s"])
        console.print(f"total goodput {text} of {total['flows']} flows", highlight=False)
    if summary.get("fairness"):
        each = summary["fairness"]
        console.print(
            f"fairness (Jain) {each['jain']:.3f} over {each['streams']} TCP streams", highlight=False
        )
    if summary.get("planned_transfers"):
        from longhaul.cli.terminal.transfer_results import print_carried

        print_carried(summary["planned_transfers"], console)
    if summary.get("transfers"):
        _print_transfers(summary["transfers"], console)
    for each in summary["expectations"]:
        print_expectation(each, console)
    for each in (summary.get("captures") or ())[:_MOST_CAPTURES]:
        _print_detail(
            f"capture {each['file']}; its display filter in merged files: {each['filter']}", console
        )
    if summary.get("machines"):
        for table in _machines(summary["machines"]):
            console.print(table)
    for each in summary.get("warnings", ()):
        console.print(Text(f"warning: {each['text']}", style="yellow"), soft_wrap=True)
    print_verdict(summary, console)
    print_outcome(summary["outcome"], console)


def print_outcome(outcome: Json, console: Console) -> None:
    """One line with the state, and below it each failure with the last lines of its log."""
    colour = OUTCOME_COLOURS[outcome["state"]]
    line = Text(outcome["state"], style=f"bold {colour}")
    failures = Outcome.from_dict(outcome).failures
    # A single failure is printed once.
    detail = outcome["detail"] if not failures else outcome["reason"] or _count(failures)
    line.append(f"  {detail}" if detail else "", style="default not bold")
    console.print(line, soft_wrap=True)
    for each in failures[:_MOST_FAILURES]:
        console.print(Text(f"  {each.text}", style="red"), soft_wrap=True)
        for text in each.lines:
            console.print(Text(f"    {each.log}| {text}", style="dim"), soft_wrap=True)
    if len(failures) > _MOST_FAILURES:
        _print_detail(f"and {len(failures) - _MOST_FAILURES} more: see summary.json", console)


def _count(failures: Sequence[Failure]) -> str:
    return f"{len(failures)} failure{'s' if len(failures) > 1 else ''}"


def print_verdict(summary: Json, console: Console) -> None:
    """One line with the verdict, and one for each reason."""
    fidelity = summary["fidelity"]
    if summary.get("simulation"):
        _print_simulation(summary, console)
        return
    line = Text(verdict_text(summary), style=_style(fidelity))
    lateness, gaps = fidelity["lateness"], fidelity["gaps"]
    if lateness.get("count"):
        line.append(
            f"  {lateness['count']} packets, lateness {_percentiles(lateness)}",
            style="default not bold",
        )
    console.print(line, soft_wrap=True)
    if (clock := clocks.virtual_text(summary)) is not None:
        _print_detail(clock, console)
    turns = fidelity.get("simulated", {})
    if turns.get("count"):
        _print_detail(f"simulated hosts: {turns['count']} events, lateness {_percentiles(turns)}", console)
    for host, delay in (fidelity.get("read_delay") or {}).items():
        what = f"{host}: {delay['count']} packets arrived, and were read after {_percentiles(delay)}"
        _print_detail(what, console)
    spacing = fidelity["spacing"]
    if spacing.get("count"):
        _print_detail(f"inter-packet gap error {_percentiles(spacing)}", console)
    work = fidelity.get("work") or {}
    if work.get("busy", 0.0) >= _MENTIONED_WORK:
        busy, write = share_text(work["busy"]), share_text(work["write"])
        _print_detail(f"the engine worked for {busy} of the time, {write} writing to hosts", console)
    if gaps.get("count"):
        _print_detail(
            f"scheduling stalls over 100 µs: {gaps['count']}, the longest {time_text(gaps['max_ns'])}, "
            f"{share_text(gaps['share'])} of the time",
            console,
        )
    for text in limit_texts(summary.get("limits") or []):
        _print_detail(text, console)
    _print_reasons(fidelity, console)
    _print_hosts(fidelity, console)


def _style(fidelity: Json) -> str:
    return f"bold {_COLOURS[fidelity['verdict']]}"


def _print_reasons(fidelity: Json, console: Console) -> None:
    """The reasons for a verdict, each with its remedy."""
    for reason in fidelity["reasons"]:
        console.print(Text(f"  {reason['what']}", style=_COLOURS[reason["verdict"]]), soft_wrap=True)
        if reason["remedy"]:
            _print_detail(f"  -> {reason['remedy']}", console)


def _print_hosts(fidelity: Json, console: Console) -> None:
    """The verdict on the hosts, separate from the verdict on the network."""
    hosts = fidelity.get("hosts") or {}
    for reason in hosts.get("reasons", ()):
        console.print(Text(f"hosts {hosts['state']}", style="bold yellow"), soft_wrap=True)
        console.print(Padding(Text(reason["what"], style="yellow"), (0, 0, 0, 2), expand=False))
        console.print(Padding(Text(f"-> {reason['remedy']}"), (0, 0, 0, 4), expand=False))
    waiting = {host: share for host, share in fidelity.get("waiting", {}).items() if share >= _WAITING}
    if waiting and not hosts.get("reasons"):
        shares = [f"{share_text(share)} at {host}" for host, share in waiting.items()]
        _print_detail(f"CPU wait of programs: {few_text(shares)}", console)


def _percentiles(spans: Json) -> str:
    return f"{time_text(spans['p50_ns'])} (p50), {time_text(spans['p99_ns'])} (p99)"


def _print_detail(text: str, console: Console) -> None:
    console.print(f"  {text}", highlight=False, soft_wrap=True)


def _print_simulation(summary: Json, console: Console) -> None:
    account = summary["simulation"]
    line = Text(verdict_text(summary), style=_style(summary["fidelity"]))
    line.append(f"  {clocks.simulated_text(summary)}", style="default not bold")
    console.print(line, soft_wrap=True)
    if summary.get("not_simulated"):
        _print_detail(f"only live: {', '.join(summary['not_simulated'])}", console)
    if account["damaged"]:
        console.print(f"  {account['damaged']} packets arrived damaged and were dropped by hosts")
    _print_reasons(summary["fidelity"], console)


def _links(links: list[Json]) -> Table:
    table = _table("link", "~delay", "~measured", ">rate", ">peak", "~loss", "~measured", ">drops")
    access = [link for link in links if link["access"]]
    folded = len(access) > 2 * MOST_ACCESS_LINKS
    pairs = Counter((link["from"], link["to"]) for link in links)
    listed = [link for link in links if not (link["access"] and folded)]
    shown = _busiest(
        listed, lambda link: (link["undelivered_packets"] > 0, link["achieved"]["rate_bits_per_s"])
    )
    for link in shown:
        ends = (link["from"], link["to"])
        name = f"{ends[0]} > {ends[1]}" if pairs[ends] == 1 else f"{link['name']} {link['way']}"
        _add_link(table, name, [link])
    if folded:
        hosts = len({(link["name"]) for link in access})
        _add_link(table, f"{hosts} access", access)
    _add_rest(table, len(listed) - len(shown))
    return _with_whole_names(table)


def _busiest(rows: list[Json], busy: Callable[[Json], Any]) -> list[Json]:
    """The rows, in their order; of more than are listed those that ``busy`` ranks highest."""
    if len(rows) <= _MOST_ROWS:
        return rows
    ranked = sorted(range(len(rows)), key=lambda place: busy(rows[place]), reverse=True)
    return [rows[place] for place in sorted(ranked[:_MOST_ROWS])]


def _add_rest(table: Table, count: int) -> None:
    if count:
        table.add_row(f"and {count} more: see summary.json")


def _add_link(table: Table, name: str, links: list[Json]) -> None:
    first = links[0]["requested"]
    same = all(link["requested"] == first for link in links)
    offered = sum(link["packets"]["offered"] for link in links)
    lost = sum(link["packets"]["lost"] for link in links)
    delays = [link["achieved"]["delay_ns"] for link in links if link["achieved"]["delay_ns"] is not None]
    delay, rate, loss = (series_of(links[0], key) for key in ("delay_ns", "rate_bits_per_s", "loss"))
    alone = len(links) == 1
    table.add_row(
        name,
        delay.brief if same else "several",
        delay.measured if alone else time_text(sum(delays) / len(delays)) if delays else "-",
        rate.brief if same else "several",
        rate_text(max(link["achieved"]["peak_bits_per_s"] for link in links)),
        loss.brief if same else "several",
        loss.measured if alone else share_text(lost / offered) if offered else "-",
        str(sum(link["undelivered_packets"] for link in links)),
    )


def _programs(programs: Iterable[Json]) -> Table:
    table = _table("program", "host", "exit", ">time", ">cpu")
    for each in programs:
        ending = Text(each["ending"], style="" if each["good"] else "red")
        table.add_row(
            each["name"], each["host"], ending, time_text(each["wall_ns"]), time_text(each["cpu_ns"])
        )
    return table


def _iterations(programs: Iterable[Json]) -> Table:
    """Times of the iterations of parallel programs."""
    table = _table("program", ">iterations", ">first", ">p50", ">p99", ">warm-up")
    for each in programs:
        if found := each.get("iteration") if each.get("iterations") else None:
            times = [time_text(found.get(f"{name}_ns")) for name in ("first", "p50", "p99", "warm_up")]
            table.add_row(each["name"], str(found["count"]), *times)
    return table


def _printed(programs: Iterable[Json]) -> Table:
    """Metrics from the output of programs."""
    table = _table("program", "metric", ">value", "")
    for each in programs:
        for name, found in (each.get("metrics") or {}).items():
            table.add_row(
                each["name"],
                name,
                number_text(found["value"], found["unit"]),
                "" if found["values"] else Text("not printed", style="yellow"),
            )
    return table


def _flows(summary: Json) -> Table:
    # There is room for one of the two.
    are_sized = all(map(has_size, summary["flows"]))
    second = ">took" if are_sized else ">sent"
    table = _table("flow", "path", ">goodput", second, "~loss / retrans.", ">RTT p50", ">p99", "")
    flows = _busiest(summary["flows"], lambda flow: (bool(flow["error"]), flow["goodput_bits_per_s"] or 0.0))
    for flow in flows:
        rtt = flow["rtt"] or {}
        table.add_row(
            flow["flow"],
            f"{flow['from']} > {flow['to']}",
            rate_text(flow["goodput_bits_per_s"]),
            time_text(took_ns(flow)) if are_sized else rate_text(flow["throughput_bits_per_s"]),
            share_text(flow["loss"] if flow["kind"] in ("udp", "pcap") else flow["retransmission_rate"]),
            time_text(rtt.get("p50_ns")),
            time_text(rtt.get("p99_ns")),
            Text(flow["error"], style="red")
            if flow["error"]
            else f"{_simulated(flow, summary)}{flow_algorithm(flow) or flow['kind']}",
        )
    _add_rest(table, len(summary["flows"]) - len(flows))
    return _with_whole_names(table)


def _pacing(classes: Iterable[Json]) -> Table:
    """The classes of hosts that pace; those of single flows in one line."""
    table = _table("pacing", "configured", "sent (mean)", "dropped", "wait", "lag", "gap error")
    for each in classes:
        errors = each["written_gap_errors"] or each["gap_errors"]
        table.add_row(
            f"{each['host']} {each['class']}",
            rate_text(each["rate_bits_per_s"]) if each["rate_bits_per_s"] else "the rest",
            rate_text(each["sent_bits_per_s"]),
            str(each["dropped_packets"]),
            time_text(each["wait_mean_ns"]),
            time_text(each["latest_ns"]),
            _percentiles(errors) if errors else "",
        )
    return table


def _machines(found: Json) -> Sequence[Table]:
    """Each machine of a run on several, and the packets that crossed between them."""
    machines = _table("part", ">nodes", ">cores", ">lateness p50", ">p99", ">stalled")
    for each in found["machines"]:
        machines.add_row(
            each["name"],
            number_text(each["nodes"]),
            str(each["cores"]),
            time_text(each["lateness_p50_ns"]),
            time_text(each["lateness_p99_ns"]),
            share_text(each["stalled_share"]),
        )
    crossings = _table("crossing", ">packets", ">lost", ">late", ">p99", ">RTT min", ">clock bound")
    for each in found["crossings"]:
        bound_ns = each["clock_bound_ns"]
        crossings.add_row(
            f"{each['from']} > {each['to']}",
            str(each["packets"]),
            number_text(each["lost_packets"]),
            str(each["late_packets"]),
            time_text(each["late_p99_ns"]),
            time_text(each["rtt_min_ns"]),
            "" if bound_ns is None else time_text(bound_ns),
        )
    return machines, crossings


def _captures(flows: Iterable[Json]) -> Table:
    """Packets of captures, by their fate; how long they took, and how late they left."""
    table = _table("capture", ">packets", ">bytes", ">lost", ">delay p50", ">p99", ">late p50", ">p99")
    for flow in flows:
        if flow["kind"] != "pcap":
            continue
        delay, late = flow["delay"] or {}, flow["send_lateness"] or {}
        table.add_row(
            flow["flow"],
            str(flow["sent_packets"]),
            str(flow["sent_bytes"]),
            str(flow["lost_packets"]),
            time_text(delay.get("p50_ns")),
            time_text(delay.get("p99_ns")),
            *(time_text(late.get(f"{quantile}_ns")) for quantile in ("p50", "p99")),
        )
    return _with_whole_names(table)


def _requests(flows: Iterable[Json]) -> Table:
    table = _table("transfers", ">done", ">bytes", ">took p50", ">p99", ">max")
    for flow in flows:
        if flow.get("done") is not None:
            took = (time_text(flow[f"took_{quantile}_ns"]) for quantile in ("p50", "p99", "max"))
            table.add_row(flow["flow"], str(flow["done"]), str(flow["bytes"]), *took)
    return table


def _probes(summary: Json) -> Table:
    table = _table(
        "ping", "path", ">sent", ">lost", ">while down", ">RTT p50", ">p99", "~propagation RTT", ""
    )
    for probe in summary["probes"]:
        table.add_row(
            probe["name"],
            f"{probe['from']} > {probe['to']}",
            str(probe["sent"]),
            str(probe["lost"]),
            "-" if probe["lost_down"] is None else str(probe["lost_down"]),
            time_text(probe["rtt_p50_ns"]),
            time_text(probe["rtt_p99_ns"]),
            path_rtt_text(probe),
            _simulated(probe, summary).strip(),
        )
    return _with_whole_names(table)


def interventions_table(changes: Iterable[Json]) -> Table:
    """The latest interventions of users."""
    table = _table(">time", "intervention", "requested by")
    made = [each for each in changes if each["kind"] == "intervention"]
    if len(made) > _MOST_INTERVENTIONS:
        table.add_row("", f"{len(made) - _MOST_INTERVENTIONS} earlier ones: see summary.json", "")
    for each in made[-_MOST_INTERVENTIONS:]:
        table.add_row(f"{each['at_ns'] / 1e9:.3f} s", each["text"], each["source"])
    return table


def _simulated(row: Json, summary: Json) -> str:
    """A mark for simulated rows of a mixed run; in a simulation all rows are simulated."""
    return "sim " if row.get("simulated") and not summary.get("simulation") else ""


def _print_transfers(each: Json, console: Console) -> None:
    if each["f1_ns"] is None:
        text = f"{each['ended']} of {each['transfers']} transfers have ended"
    else:
        used = f", f2 {each['f2']:.3f} ({each['f2_literal']:.3f} literally)" if each["f2"] else ""
        text = f"{each['transfers']} transfers, f1 {time_text(each['f1_ns'])}{used}"
    console.print(text, highlight=False)


def print_expectation(each: Json, console: Console) -> None:
    """One line: passed or failed, what was expected, and what was measured."""
    words = {"min": "at least", "max": "at most", "equals": "equal to"}
    limits = " and ".join(
        f"{word} {quantity_text(each[key], each['unit'])}"
        for key, word in words.items()
        if each.get(key) is not None
    )
    measured = quantity_text(each["value"], each["unit"]) if each["value"] is not None else each["why"]
    style = "red" if each["state"] == "failed" else "dim"
    console.print(Text(f"{each['state']} {each['metric']} {limits}: {measured}", style=style), soft_wrap=True)


def _table(*columns: str) -> Table:
    """Columns by their headings: ``>`` is for numbers on one line, ``~`` for numbers that may wrap."""
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for column in columns:
        heading = column.lstrip(">~")
        table.add_column(
            heading, justify="left" if heading == column else "right", no_wrap=column.startswith(">")
        )
    return table


def _with_whole_names(table: Table) -> Table:
    """The same with names of nodes, links and flows on one line; other cells wrap instead."""
    for column in table.columns:
        if column.justify == "left" and column.header:
            column.no_wrap = all(len(str(cell)) <= _LONGEST_NAME for cell in column.cells)
    return table
