"""Which ranks stand at the same site."""

import re
from collections.abc import Sequence
from itertools import pairwise

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError

VARIABLE = "LONGHAUL_SITES"
"""Hosts of each site, with commas between hosts and semicolons between sites: ``a1,a2;b1,b2``."""


def sites_of(hosts: Sequence[str], *, sizes: Sequence[int] = (), listed: str = "") -> list[list[int]]:
    """Ranks by site: by ``sizes``, ranks in order; else as ``listed``; else by the letters of host names.

    Letters are those before the first digit, so that ``par1`` and ``par12`` are at one site.
    """
    if sizes:
        if sum(sizes) != len(hosts) or min(sizes) < 1:
            raise LonghaulError(
                Code.RANKS_UNSUITABLE,
                f"sites of {'+'.join(map(str, sizes))} ranks are not {len(hosts)}",
                remedy=f"give sizes that add up to {len(hosts)}, such as --sites {_halves(len(hosts))}",
                exit_code=2,
            )
        ends = [sum(sizes[:count]) for count in range(len(sizes) + 1)]
        return [list(range(begin, end)) for begin, end in pairwise(ends)]
    names = {
        host.strip(): f"{number}"
        for number, site in enumerate(listed.split(";"))
        for host in site.split(",")
        if host.strip()
    }
    found: dict[str, list[int]] = {}
    for rank, host in enumerate(hosts):
        if names and host not in names:
            raise LonghaulError(
                Code.ARGUMENT_INVALID,
                f'{VARIABLE} does not name the host "{host}"',
                remedy='write the hosts of all sites, such as "a1,a2;b1,b2"',
                exit_code=2,
            )
        found.setdefault(names.get(host) or _letters(host), []).append(rank)
    return list(found.values())


def _letters(host: str) -> str:
    return re.split(r"\d", host.partition(".")[0], maxsplit=1)[0]


def _halves(ranks: int) -> str:
    return f"{ranks - ranks // 2},{ranks // 2}" if ranks > 1 else "1"
