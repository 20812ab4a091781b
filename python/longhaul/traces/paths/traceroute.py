"""Outputs of traceroute, of Linux and BSD, and of tracepath."""

import re
from collections import defaultdict

from longhaul.analysis.traces import Hop, Trace
from longhaul.traces.paths.lines import Output, answers, is_address, named, nanoseconds, plain

HEAD = re.compile(r"traceroute6? to (\S+) \(([^)\s]+)\)")
_HOP = re.compile(r"\s*([0-9]{1,3})(\s.*)")
_MORE = re.compile(r"\s{2,}\S")
_WHY = {
    "!H": "host unreachable",
    "!N": "network unreachable",
    "!P": "protocol unreachable",
    "!X": "administratively prohibited",
    "!F": "a packet is too large",
    "!S": "source route failed",
}

TRACEPATH = re.compile(r"\s*[0-9]+\??:\s+(\[LOCALHOST\]|no reply|send failed|\S+\s)")
_STEP = re.compile(r"\s*([0-9]{1,3})(\??):\s+(.*)")
_PMTU = re.compile(r"pmtu ([0-9]+)")


def read_traceroute(output: Output) -> list[Trace]:
    """Each trace in ``output``; several may follow one another."""
    begins = [index for index, line in enumerate(output.lines) if HEAD.match(line)]
    return [
        _trace(output, begin, end)
        for begin, end in zip(begins, [*begins[1:], len(output.lines)], strict=True)
    ]


def _trace(output: Output, begin: int, end: int) -> Trace:
    head = HEAD.match(output.lines[begin])
    target, address = (head[1], head[2]) if head else ("", "")
    if not is_address(address):
        raise output.wrong(begin + 1, f'"{address}" is not an address', "write it as traceroute did")
    address = plain(address)
    found: dict[int, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    names: dict[str, str | None] = {}
    notes: list[str] = []
    distance = 0
    for number, line in enumerate(output.lines[begin + 1 : end], begin + 2):
        if hop := _HOP.match(line):
            distance, rest = int(hop[1]), hop[2]
        elif distance and _MORE.match(line):
            rest = line
        elif line.strip() and not line.lstrip().startswith("MPLS"):
            raise output.wrong(number, f'"{line.strip()}" is not a hop of traceroute', "cut the file there")
        else:
            continue
        _words(rest, found[distance], names, notes, output, number)
    if not found:
        raise output.wrong(begin + 1, "no hop follows", "the output may be cut off; run the program again")
    hops = tuple(
        Hop(at, tuple(answers(key, trips, name=names[key]) for key, trips in by.items() if trips))
        for at, by in found.items()
    )
    reached = any(each.address == address for hop in hops for each in hop.answers)
    failed = [note for note in dict.fromkeys(notes) if not reached or not note.startswith(address)]
    return Trace(output.source, target, address, hops, reached, notes=tuple(failed))


def _words(
    text: str,
    found: dict[str, list[int]],
    names: dict[str, str | None],
    notes: list[str],
    output: Output,
    line: int,
) -> None:
    """The answers of one line: addresses, each followed by its round trips and marks."""
    words = re.sub(r"<MPLS[^>]*>|\[[^\]]*\]|\s/\S+", " ", text).split()
    here = ""
    position = 0
    while position < len(words):
        word = words[position]
        following = words[position + 1] if position + 1 < len(words) else ""
        if word == "*":
            pass
        elif following == "ms":
            if not here:
                raise output.wrong(line, f"no address precedes {word} ms", "write the address before it")
            found[here].append(nanoseconds(word, output, line))
            position += 1
        elif word.startswith("!"):
            why = _WHY.get(word, f"unreachable ({word})")
            notes.append(f"{here} says: {why}")
        elif following.startswith("(") and is_address(following.strip("()")):
            here = plain(following.strip("()"))
            names[here] = named(word)
            position += 1
        elif is_address(word.strip("()")):
            here = plain(word.strip("()"))
            names.setdefault(here, None)
        else:
            raise output.wrong(line, f'"{word}" is neither an address nor a time', "cut the file there")
        position += 1


def read_tracepath(output: Output) -> list[Trace]:
    """The trace in ``output``; it names its end only if it got there."""
    found: dict[int, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    names: dict[str, str | None] = {}
    notes: list[str] = []
    pmtu = ""
    end: str | None = None
    for number, line in enumerate(output.lines, 1):
        step = _STEP.match(line)
        if size := _PMTU.search(line):
            pmtu = size[1]
        if not step or "[LOCALHOST]" in line:
            continue
        at, rest = int(step[1]), step[3].split()
        if not rest or rest[0] in ("no", "send"):
            found[at]
            continue
        address = rest[0]
        if len(rest) > 1 and rest[1].startswith("(") and is_address(rest[1].strip("()")):
            address = rest[1].strip("()")
        if not is_address(address):
            # tracepath without -n prints the name alone.
            if not re.fullmatch(r"[\w.:-]+", address):
                raise output.wrong(number, f'"{address}" is not an address', "write it as tracepath did")
            names[address] = address
        else:
            address = plain(address)
            names.setdefault(address, named(rest[0]))
        time = next((word[:-2] for word in rest if re.fullmatch(r"[0-9.]+ms", word)), None)
        if time is not None and not step[2]:
            found[at][address].append(nanoseconds(time, output, number))
        if "reached" in rest:
            end = address
        notes += [f"{address} says: {_WHY.get(word, word)}" for word in rest if word.startswith("!")]
    if not found:
        raise output.wrong(1, "no hop is in it", "the output may be cut off; run the program again")
    hops = tuple(
        Hop(at, tuple(answers(key, trips, name=names[key]) for key, trips in by.items() if trips))
        for at, by in sorted(found.items())
    )
    last = next((each.address for hop in reversed(hops) for each in hop.answers), None)
    target = output.target or (names.get(end or "") or end) or last
    if target is None:
        raise output.wrong(
            1, "nothing answered, and tracepath does not say where it went", "run the program again"
        )
    if pmtu:
        notes.append(f"path MTU {pmtu}")
    if end is None and not output.target:
        notes.append("tracepath did not reach its end and does not name it; the last that answered is taken")
    reached = end is not None
    return [
        Trace(
            output.source,
            target,
            end or (None if output.target else last),
            hops,
            reached,
            notes=tuple(dict.fromkeys(notes)),
        )
    ]
