"""Flow lists: files of transfers, each with time, ends and size."""

from collections.abc import Mapping
from typing import Any

from longhaul.diagnostics import Code, printable
from longhaul.scenario.inputs import Inputs
from longhaul.scenario.lower.link_models import Plain
from longhaul.scenario.lower.network import Network
from longhaul.scenario.model import Replay
from longhaul.scenario.model.start import earliest_ns
from longhaul.scenario.syntax.csv_file import TIME, CsvFile, InputFile
from longhaul.scenario.syntax.problems import did_you_mean
from longhaul.units.quantities import Size, Span

_REMEDY = 'name the columns: "start_s,from,to,bytes"'


def plan_replay(name: str, replay: Replay, network: Network, inputs: Inputs) -> list[Plain]:
    """A flow for each pair of hosts in the list, with the fields that every flow has.

    Its ``transfers`` are instants in ns after its start, and bytes, by instant. Raises ScenarioValueError and
    FileError.
    """
    file = inputs.file(replay.file, at="file")
    table = CsvFile(file)
    sources, destinations = _hosts(table, "from", network), _hosts(table, "to", network)
    pairs: dict[tuple[int, int], list[tuple[int, int]]] = {}
    ends = zip(sources, destinations, strict=True)
    for start_ns, size, ((line, source), (_line, destination)) in zip(
        _starts(table), _sizes(table), ends, strict=True
    ):
        if source == network.host_of(destination):
            host = network.nodes[source].name
            raise file.wrong(
                Code.SAME_ENDS, line, f'"{host}" would send to itself', "name two hosts", word=host
            )
        pairs.setdefault((source, destination), []).append((start_ns, size))
    return [
        {
            "name": name,
            "kind": "replay",
            "source": source,
            "destinations": [destination],
            "start_ns": earliest_ns(replay.start),
            "stop_ns": replay.stop.ns if replay.stop else None,
            "simulated": replay.simulated,
            # By instant; of one instant as the file has them.
            "transfers": sorted(transfers, key=lambda each: each[0]),
            "bytes": sum(size for _start_ns, size in transfers),
            "cc": replay.cc,
        }
        for (source, destination), transfers in pairs.items()
    ]


def span_ns(flow: Mapping[str, Any]) -> tuple[int, int]:
    """When the first and the last transfer of a planned flow begin, since the run does."""
    transfers = flow["transfers"]
    return flow["start_ns"] + transfers[0][0], flow["start_ns"] + transfers[-1][0]


def _starts(table: CsvFile) -> list[int]:
    name = next((name for name in table.header if name.startswith("start_")), "start_s")
    table.words(name, remedy=_REMEDY)
    return [start_ns for _line, start_ns in table.column(name, TIME, at="file", most=Span.limit).scaled()]


def _sizes(table: CsvFile) -> list[int]:
    table.words("bytes", remedy=_REMEDY)
    found = table.column("bytes", {}, at="file", most=Size.limit).scaled()
    for line, size in found:
        if size == 0:
            raise table.file.wrong(
                Code.CELL_INVALID, line, "a transfer of no bytes", "write 1 or more, or leave it out"
            )
    return [size for _line, size in found]


def _hosts(table: CsvFile, column: str, network: Network) -> list[tuple[int, int]]:
    """Lines, and numbers of the nodes that ``column`` names."""
    found = []
    for line, name in table.words(column, remedy=_REMEDY):
        index = network.node_index.get(name)
        if index is None or network.nodes[index].spec.kind != "host":
            raise _unknown(table.file, line, name, network)
        if column == "from" and name != (host := network.nodes[network.host_of(index)].name):
            message = f'"{name}" is an interface, and hosts choose the one that they send from'
            raise table.file.wrong(Code.NODE_KIND, line, message, f"write {host}", word=name)
        found.append((line, index))
    return found


def _unknown(file: InputFile, line: int, name: str, network: Network) -> Exception:
    hosts = [node.name for node in network.nodes if node.spec.kind == "host"]
    if name in network.node_index:
        return file.wrong(
            Code.NODE_KIND,
            line,
            f'"{name}" is a {network.nodes[network.node_index[name]].spec.kind}, which sends nothing',
            "name a host",
            word=name,
        )
    message = f'there is no host "{printable(name)}"'
    return file.wrong(Code.NODE_UNKNOWN, line, message, did_you_mean(name, hosts), word=name)
