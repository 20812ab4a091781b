"""Socket buffers that commands ask for, compared with the limits of this machine.

The kernel caps what a program sets (SO_SNDBUF, SO_RCVBUF; socket(7)) at ``net.core.wmem_max`` and
``rmem_max``. These are settings of the machine: a network namespace shows them read-only or not at all,
depending on the kernel, so that no run can raise them for its hosts. TCP's own buffers (tcp_rmem, tcp_wmem)
are set for each host and have no such limit.
"""

import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from longhaul.diagnostics import Code, Diagnostic
from longhaul.plan import Node, Plan
from longhaul.units.text import bytes_text

LIMITS = ("net.core.rmem_max", "net.core.wmem_max")
_SYSTEM = Path("/proc/sys")
_PROGRAMS = ("iperf3", "iperf")
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
_WINDOW = re.compile(r"(?:-w|--window)=?(\d+(?:\.\d+)?)([KMG]?)", re.IGNORECASE)


def concerns(
    commands: Iterable[Sequence[str]], plan: Plan, *, system: Path = _SYSTEM
) -> tuple[Diagnostic, ...]:
    """A warning if a command asks for more than this machine allows; ``system`` is its /proc/sys."""
    limits = {name: value for name in LIMITS if (value := _limit(name, system)) is not None}
    asked = max((window for words in commands for window in _windows(words)), default=(0, ""))
    if not limits or asked[0] <= min(limits.values()):
        return ()
    largest, command = asked
    low = min(limits.values())
    # The kernel doubles what is set, and iperf3 compares the result with what it asked for.
    refused = command == "iperf3" and largest > 2 * low
    refusal = f'{command} will end with "socket buffer size not set correctly"'
    consequence = refusal if refused else f"{command} will get smaller socket buffers than it asks for"
    message = (
        f"{consequence}: -w asks for {bytes_text(largest)}; this machine allows programs {bytes_text(low)}, "
        "and no run may change that for its hosts"
    )
    settings = " ".join(f"{name}={largest}" for name, value in limits.items() if value < largest)
    own = max(map(_own_limit, plan["nodes"]), default=0)
    remedy = f"sudo sysctl -w {settings}"
    if own:
        remedy += f"; or omit -w: TCP's own buffers grow up to {bytes_text(own)} on these hosts"
    return (Diagnostic(Code.SOCKET_BUFFER_LIMITED, message, remedy),)


def _limit(name: str, system: Path) -> int | None:
    with suppress(OSError, ValueError):
        return int((system / name.replace(".", "/")).read_text(encoding="ascii"))
    return None


def _own_limit(node: Node) -> int:
    return int(node["sysctls"].get("net.ipv4.tcp_wmem", "0").split()[-1])


def _windows(words: Sequence[str]) -> Iterator[tuple[int, str]]:
    """The bytes of each option ``-w`` of a program that sets its buffers, also inside ``sh -c``."""
    program = ""
    for position, word in enumerate(words):
        name = Path(word).name
        if name in _PROGRAMS:
            program = name
        elif " " in word:
            with suppress(ValueError):
                yield from _windows(shlex.split(word))
        elif program:
            text = (
                word + words[position + 1] if word in ("-w", "--window") and words[position + 1 :] else word
            )
            if found := _WINDOW.fullmatch(text):
                yield int(float(found[1]) * _UNITS[found[2].upper()]), program
