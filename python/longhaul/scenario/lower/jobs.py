"""Simulated parallel programs: the hosts of their ranks, and the steps of each."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from longhaul.diagnostics import Code, Diagnostic, printable
from longhaul.scenario.check.names import program_hosts
from longhaul.scenario.check.scenario import Scenario
from longhaul.scenario.inputs import Inputs
from longhaul.scenario.lower.network import Network
from longhaul.scenario.lower.phases import Step, Steps, receive, send, steps_of
from longhaul.scenario.lower.start_times import starts_after
from longhaul.scenario.model.program import Simulate
from longhaul.scenario.model.start import earliest_ns
from longhaul.scenario.syntax.csv_file import InputFile
from longhaul.scenario.syntax.value_errors import FileError, ScenarioValueError
from longhaul.units.text import count_text

HEADER = ("rank", "do", "with", "amount")
MOST = 10**15
"""Of an amount, in ns or bytes."""
_REMEMBERED = 2
_REMEMBERED_LINES = 100_000
"""The variants of a sweep have the same file: the steps of the last two are kept, unless they are long."""


def plan_jobs(
    scenario: Scenario, network: Network, inputs: Inputs
) -> tuple[list[dict[str, Any]], list[Diagnostic]]:
    """The jobs of a plan, and what is wrong with the files that they name."""
    jobs, problems = [], []
    for name, program in scenario.document.programs.items():
        what = program.simulate
        if what is None:
            continue
        hosts = [host for host in program_hosts(program) for _slot in range(what.slots)]
        nodes = [network.node_index[host] for host in hosts]
        sites = [network.nodes[node].spec.attach or network.nodes[node].name for node in nodes]
        try:
            steps = _steps(what, sites, inputs)
        except ScenarioValueError as error:
            path = ("programs", name, "simulate", *error.at)
            problems.append(scenario.problem(error.code, path, error.message, error.remedy))
            continue
        except FileError as error:
            problems.append(error.problem)
            continue
        jobs.append(
            {
                "name": name,
                "ranks": nodes,
                "start_ns": earliest_ns(program.start),
                "after": starts_after(scenario.document, program),
                "repeat": what.repeat,
                "cc": what.cc,
                "steps": steps,
            }
        )
    return jobs, problems


def _steps(what: Simulate, sites: Sequence[str], inputs: Inputs) -> Steps:
    if what.file is not None:
        return recorded(inputs.file(what.file, at="file"), ranks=len(sites))
    assert what.bytes is not None
    return steps_of(
        what.kind,
        algorithm=what.algorithm,
        sites=sites,
        size=what.bytes.bytes,
        compute_ns=what.compute.ns,
    )


def recorded(file: InputFile, *, ranks: int) -> Steps:
    """What every rank does, from rows of rank, do, with and amount (ns or bytes). Nobody changes the result.

    Raises :class:`FileError` where a rank would wait for ever, or get another message than it waits for.
    """
    if len(file.lines) > _REMEMBERED_LINES:
        return _read(file, ranks)
    return _remembered(file, ranks)


def _read(file: InputFile, ranks: int) -> Steps:
    rows = file.rows()
    line, text = next(rows)
    if tuple(cell.strip() for cell in text.split(",")) != HEADER:
        raise file.wrong(
            Code.NOT_A_TABLE, line, "the first line is not a header", f"write {','.join(HEADER)}"
        )
    steps: Steps = [[] for _ in range(ranks)]
    lines: list[list[int]] = [[] for _ in range(ranks)]
    for line, text in rows:
        cells = [cell.strip() for cell in text.split(",")]
        if len(cells) != len(HEADER):
            message = f"has {count_text(len(cells), 'value')} for {len(HEADER)} columns"
            raise file.wrong(Code.ROW_MALFORMED, line, message, "write one for each column")
        rank = _rank(file, line, cells[0], ranks)
        steps[rank].append(_step(file, line, cells, rank, ranks))
        lines[rank].append(line)
    for rank in range(ranks):
        if not steps[rank]:
            message = f"has no rank {rank}, but {ranks} are on these hosts"
            raise file.wrong(Code.RECORDED_PROGRAM, 1, message, "name fewer hosts, or record more ranks")
    _check(file, steps, lines)
    return steps


_remembered = lru_cache(maxsize=_REMEMBERED)(_read)


def _rank(file: InputFile, line: int, word: str, ranks: int) -> int:
    if not word.isdecimal() or int(word) >= ranks:
        message = f'"{printable(word)}" is not a rank: there are {ranks} on these hosts'
        raise file.wrong(
            Code.RECORDED_PROGRAM,
            line,
            message,
            f"write 0 to {ranks - 1}, or name more hosts or slots",
            word=word,
        )
    return int(word)


def _step(file: InputFile, line: int, cells: Sequence[str], rank: int, ranks: int) -> Step:
    _rank_word, do, partner, _amount = cells
    amount = int(file.number(line, cells[3], most=MOST))
    if do == "compute":
        return {"do": "compute", "ns": amount}
    if do not in ("send", "receive"):
        message = f'"{printable(do)}" is not an operation of a rank'
        raise file.wrong(Code.CELL_INVALID, line, message, "write compute, send or receive", word=do)
    other = _rank(file, line, partner, ranks)
    if other == rank:
        raise file.wrong(
            Code.RECORDED_PROGRAM, line, "a rank cannot send to itself", "remove it", word=partner
        )
    return send(other, amount) if do == "send" else receive(other, amount)


def _check(file: InputFile, steps: Steps, lines: Sequence[Sequence[int]]) -> None:
    """Let every rank go as far as it gets: sends do not wait, receives do."""
    wires: dict[tuple[int, int], list[int]] = {}
    taken: dict[tuple[int, int], int] = {}
    at = [0] * len(steps)
    ready = list(range(len(steps)))
    while ready:
        rank = ready.pop()
        while at[rank] < len(steps[rank]):
            step = steps[rank][at[rank]]
            if step["do"] == "send":
                wires.setdefault((rank, step["to"]), []).append(step["bytes"])
                ready.append(step["to"])
            elif step["do"] == "receive":
                wire = (step["from"], rank)
                place = taken.get(wire, 0)
                if place == len(wires.get(wire, ())):
                    break
                taken[wire] = place + 1
                if wires[wire][place] != step["bytes"]:
                    message = f"rank {rank} waits for {step['bytes']} bytes, and rank {step['from']} sends"
                    remedy = "write the same size in both rows"
                    raise file.wrong(
                        Code.RECORDED_PROGRAM,
                        lines[rank][at[rank]],
                        f"{message} {wires[wire][place]}",
                        remedy,
                    )
            at[rank] += 1
    for rank, place in enumerate(at):
        if place < len(steps[rank]):
            message = f"rank {rank} waits here for ever: rank {steps[rank][place]['from']} sends it nothing"
            raise file.wrong(
                Code.RECORDED_PROGRAM, lines[rank][place], message, "add the send, or remove this"
            )
