"""Programs that move the data of live transfers: our own paced sender, or commands from templates."""

import shlex
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.scenario.syntax.problems import did_you_mean
from longhaul.subprocesses import find_program

WORDS = (
    "name",
    "address",
    "port",
    "bytes",
    "rate_bits",
    "rate_bytes",
    "rate_kbytes",
    "seconds",
    "source",
    "destination",
    "folder",
)
"""What a template may name, in braces."""


@dataclass(frozen=True)
class TransferProgram:
    """Commands that move one transfer; none: our own sender."""

    name: str
    what: str
    client: str = ""
    server: str = ""
    """Started first, at the destination; ended when the client has ended."""
    file: str = ""
    """What the server wants to read, at ``{folder}/server.conf``."""
    resumes: bool = False
    """A restarted client resumes where the last one ended; so its rate can be changed, too."""


PACED = TransferProgram("paced", "our own sender over TCP, whose rate can be changed at any time")
TRANSFER_PROGRAMS: Mapping[str, TransferProgram] = {
    each.name: each
    for each in (
        PACED,
        TransferProgram(
            "iperf3",
            "iperf3, paced by its own timer (-b)",
            client="iperf3 -c {address} -p {port} -n {bytes} -b {rate_bits}",
            server="iperf3 -s -1 -p {port}",
        ),
        TransferProgram(
            "rsync",
            "rsync to a daemon, with --bwlimit in KiB/s; resumes",
            client=(
                "rsync --inplace --append --bwlimit={rate_kbytes}K {source} "
                "rsync://{address}:{port}/here/{name}"
            ),
            server="rsync --daemon --no-detach --config={folder}/server.conf --port={port}",
            file=(
                "use chroot = no\nreverse lookup = no\n"
                "[here]\npath = {folder}\nread only = no\nuid = {uid}\ngid = {gid}\n"
            ),
            resumes=True,
        ),
        TransferProgram(
            "rclone",
            "rclone to a WebDAV server of its own, with --bwlimit in bytes/s",
            client=(
                "rclone copyto --bwlimit {rate_bytes}B --retries 1 {source} :webdav:{name} "
                "--webdav-url http://{address}:{port} --webdav-vendor other"
            ),
            server="rclone serve webdav {folder} --addr {address}:{port}",
        ),
    )
}


def transfer_program(name: str, *, command: str | None, server: str | None) -> TransferProgram:
    """The transfer program of this name; raises LonghaulError if it is unknown or not installed."""
    if command is not None:
        found = TransferProgram("command", "a command of your own", client=command, server=server or "")
    elif name not in TRANSFER_PROGRAMS:
        message = f'there is no transfer program "{name}"'
        raise LonghaulError(
            Code.WORD_UNKNOWN, message, remedy=did_you_mean(name, TRANSFER_PROGRAMS), exit_code=2
        )
    else:
        found = TRANSFER_PROGRAMS[name] if server is None else replace(TRANSFER_PROGRAMS[name], server=server)
    return replace(
        found,
        client=_with_program(found.client, own=command is None),
        server=_with_program(found.server, own=command is None and server is None),
    )


def _with_program(template: str, *, own: bool) -> str:
    """The template, with the whole path of its program if it is one of our ``own``."""
    name = (filled(template, dict.fromkeys(WORDS, "1")) or [""])[0]
    if not name:
        return template
    place = find_program(name) if own else shutil.which(name)
    if place is None:
        raise LonghaulError(
            Code.NOT_INSTALLED,
            f"transfers need {name}, not found on this machine",
            remedy=f"sudo apt-get install {name}, or choose another --with",
            exit_code=3,
        )
    return f"{shlex.quote(place)}{template.removeprefix(name)}" if own else template


def filled(template: str, words: Mapping[str, Any]) -> list[str]:
    """The arguments of a template; raises LonghaulError for words that there are not."""
    try:
        return [each.format(**words) for each in shlex.split(template)]
    except (KeyError, IndexError, ValueError) as error:
        message = f'"{template}" is not a template: {error}'
        remedy = f"use {', '.join(f'{{{word}}}' for word in WORDS)}"
        raise LonghaulError(Code.ARGUMENT_INVALID, message, remedy=remedy, exit_code=2) from None
