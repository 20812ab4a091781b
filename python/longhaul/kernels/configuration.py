"""The configuration of a guest kernel: what was asked for, compared with what the source made of it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError

_SECTION = re.compile(r"# \[(?P<name>[^]]+)\]")
_OPTION = re.compile(r"(?P<name>CONFIG_\w+)=(?P<value>.+)")
REQUIRED = "required"
"""The section of the fragment whose options a kernel cannot work without."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """An option of the fragment: ``n`` is off."""

    name: str
    value: str
    is_required: bool


def parse(fragment: str) -> list[Wanted]:
    """The options of a fragment, in its order."""
    section = ""
    options = []
    for line in fragment.splitlines():
        if heading := _SECTION.match(line):
            section = heading["name"]
        elif option := _OPTION.fullmatch(line):
            options.append(Wanted(option["name"], option["value"], section == REQUIRED))
    return options


def values(config: str) -> Mapping[str, str]:
    """The options that are set in the text of a ``.config``."""
    return {found["name"]: found["value"] for found in map(_OPTION.fullmatch, config.splitlines()) if found}


def unmet(wanted: list[Wanted], config: str, known: frozenset[str], version: str) -> list[str]:
    """The names of the wanted options that this version of Linux does not have.

    ``known`` are all options of its Kconfig files. Raises LonghaulError if one of them has another value, or
    if a required option is not set.
    """
    found = values(config)
    missed = [each for each in wanted if found.get(each.name, "n") != each.value]
    wrong = [each for each in missed if each.is_required or each.name in known]
    if wrong:
        names = ", ".join(f"{each.name}={each.value}" for each in wrong)
        raise LonghaulError(
            Code.KERNEL_SOURCE,
            f"Linux {version} cannot be configured with {names}",
            remedy="use a source of Linux 6.12",
        )
    return [each.name for each in missed]
