"""Outputs of ping: round-trip time to the end, and loss."""

import re

from longhaul.analysis.traces import Answers, Pings, Trace
from longhaul.traces.paths.lines import Output, answers, is_address, nanoseconds, plain

HEAD = re.compile(r"PING6?\s*\(?([^\s(]+?)\)?\s*\((?:[^\s()]+ \()?([^\s()]+)\)")
_TIME = re.compile(r"\b(?:icmp_|hlim=\d+ )?(?:seq|icmp_seq)=[0-9]+.*\btime=([0-9.]+) ?ms")
_COUNT = re.compile(r"([0-9]+) packets transmitted, ([0-9]+) (?:packets )?received")
_SUMMARY = re.compile(r"min/avg/max(?:/\w+)? = ([0-9.]+)/([0-9.]+)/")


def read_ping(output: Output) -> list[Trace]:
    """The end of one path; raises where the summary is missing."""
    head = next((found for line in output.lines if (found := HEAD.match(line))), None)
    if head is None or not is_address(head[2]):
        raise output.wrong(1, "ping does not say where it went", "take its whole output")
    address = plain(head[2])
    trips: list[int] = []
    counted = None
    summary: Answers | None = None
    for number, line in enumerate(output.lines, 1):
        if (time := _TIME.search(line)) and "DUP!" not in line:
            trips.append(nanoseconds(time[1], output, number))
        if found := _COUNT.search(line):
            counted = (int(found[1]), int(found[2]))
        if (found := _SUMMARY.search(line)) and counted and counted[1]:
            shortest, mean = (nanoseconds(found[each], output, number) for each in (1, 2))
            summary = Answers(address, counted[1], shortest, max(float(mean), shortest))
    if counted is None:
        message = "the summary of ping is missing"
        raise output.wrong(len(output.lines), message, "let it end, by -c 10 or Ctrl-C, and take all of it")
    sent, received = counted
    measured = answers(address, trips) if trips else summary
    pings = Pings(sent, min(sent, received), measured)
    return [Trace(output.source, head[1], address, reached=False, pings=pings)]
