"""What a host has of its own in a live run, beside its network."""

import re
from typing import Annotated, Any, Literal, get_args

from pydantic import BeforeValidator, Field, WithJsonSchema

from longhaul.diagnostics import Code, printable
from longhaul.scenario.model.base import Text, problem
from longhaul.units.quantities import Size

MOST_NAME = 64
"""Characters of a host name (``uname(2)``)."""
_LABEL = r"[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_HOSTNAME = re.compile(rf"{_LABEL}(\.{_LABEL})*")
_MACHINES = ("/proc", "/sys", "/dev")
"""Directories that are the kernel's."""


def _hostname(value: Any) -> Any:
    if not isinstance(value, str) or len(value) > MOST_NAME or not _HOSTNAME.fullmatch(value):
        message = f'"{printable(str(value))}" is not a host name'
        remedy = f"write letters, digits, hyphens and dots, {MOST_NAME} characters at most"
        raise problem(Code.NAME_INVALID, message, remedy)
    return value


HostnameText = Annotated[str, BeforeValidator(_hostname), Field(examples=["db.example.org"])]
"""A host name of RFC 1123."""


def _target(value: Any) -> Any:
    shown = f'"{printable(str(value))}"'
    steps = value.split("/")[1:] if isinstance(value, str) else []
    if not isinstance(value, str) or not value.startswith("/") or "\0" in value:
        raise problem(
            Code.HOST_SETTINGS_INVALID, f"{shown} is not an absolute path", "write for example /etc/x.conf"
        )
    if any(step in ("", ".", "..") for step in steps):
        shortest = "/" + "/".join(step for step in steps if step not in ("", "."))
        remedy = "write it without .." if ".." in steps or shortest == "/" else f"write {shortest}"
        raise problem(Code.HOST_SETTINGS_INVALID, "is not a path in its shortest form", remedy)
    if any(value == top or value.startswith(f"{top}/") for top in _MACHINES):
        raise problem(Code.HOST_SETTINGS_INVALID, "belongs to the kernel", "name a file elsewhere")
    return value


FilePlace = Annotated[str, BeforeValidator(_target), WithJsonSchema({"type": "string"})]
"""Where a host has a file: an absolute path."""
HostFiles = dict[FilePlace, Text]
"""Files of a host, by the place that they have there; the names are relative to the scenario."""
_IMAGE = re.compile(r"[a-z0-9]([A-Za-z0-9._:@/-]{0,253}[A-Za-z0-9._@/-])?")


def _image(value: Any) -> Any:
    if not isinstance(value, str) or not _IMAGE.fullmatch(value):
        message = f'"{printable(str(value))}" is not the name of an image'
        raise problem(Code.NAME_INVALID, message, "write for example localhost/web:1")
    return value


HostImage = Annotated[str, BeforeValidator(_image), Field(examples=["localhost/web"])]
"""The name of an image in podman's store, ``docker-daemon:NAME`` in docker's, or ``oci:DIR`` of a folder of
the OCI image layout (containers-transports(5))."""
LEAST_MEMORY = Size(4 << 20)
"""Of a host whose memory is limited."""


def _memory(value: Any) -> Any:
    text = str(value)
    if re.fullmatch(r"[1-9][0-9]{0,6}", text):
        raise problem(Code.UNIT_MISSING, f'"{text}" has no unit', f'write "{text}MiB"')
    return value


HostMemory = Annotated[Size, BeforeValidator(_memory)]
"""A limit of memory. A number without a unit is not likely to be bytes."""


def _user(value: Any) -> Any:
    text = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    if not isinstance(text, str) or not re.fullmatch(r"[a-z_][a-z0-9_-]{0,31}|[0-9]{1,10}", text):
        message = f'"{printable(str(value))}" is not a user'
        raise problem(Code.NAME_INVALID, message, "write for example www-data, or a number")
    if text.isdecimal() and int(text) >= 2**32 - 1:
        raise problem(Code.OUT_OF_RANGE, f"there is no user {text}", "write a number of 32 bits")
    return text


HostUser = Annotated[
    str,
    BeforeValidator(_user),
    WithJsonSchema({"type": ["string", "integer"]}),
    Field(examples=["www-data"]),
]
"""The name of a user, or its number."""
Capability = Literal[
    "CHOWN",
    "DAC_OVERRIDE",
    "DAC_READ_SEARCH",
    "FOWNER",
    "FSETID",
    "KILL",
    "SETGID",
    "SETUID",
    "SETPCAP",
    "LINUX_IMMUTABLE",
    "NET_BIND_SERVICE",
    "NET_BROADCAST",
    "NET_ADMIN",
    "NET_RAW",
    "IPC_LOCK",
    "IPC_OWNER",
    "SYS_MODULE",
    "SYS_RAWIO",
    "SYS_CHROOT",
    "SYS_PTRACE",
    "SYS_PACCT",
    "SYS_ADMIN",
    "SYS_BOOT",
    "SYS_NICE",
    "SYS_RESOURCE",
    "SYS_TIME",
    "SYS_TTY_CONFIG",
    "MKNOD",
    "LEASE",
    "AUDIT_WRITE",
    "AUDIT_CONTROL",
    "SETFCAP",
    "MAC_OVERRIDE",
    "MAC_ADMIN",
    "SYSLOG",
    "WAKE_ALARM",
    "BLOCK_SUSPEND",
    "AUDIT_READ",
    "PERFMON",
    "BPF",
    "CHECKPOINT_RESTORE",
]
"""A capability (capabilities(7)), in the order of linux/capability.h."""
CAPABILITIES: tuple[str, ...] = get_args(Capability)
