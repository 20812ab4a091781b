"""Valid names from the names in a file."""

import re
import unicodedata
from collections.abc import Iterable

_LONGEST = 24
"""Characters of a node's name: a link's name holds two of them, and that of its host."""
_LETTERS = str.maketrans({"ß": "ss", "ø": "o", "Ø": "o", "ł": "l", "Ł": "l", "đ": "d", "æ": "ae", "ı": "i"})


def node_name(label: str, *, otherwise: str) -> str:
    """``label`` in lower-case letters, digits and hyphens; ``otherwise`` if nothing of it is left."""
    plain = unicodedata.normalize("NFKD", label.translate(_LETTERS)).encode("ascii", "ignore").decode()
    name = re.sub(r"[^a-z0-9]+", "-", plain.lower())[: _LONGEST + 1].strip("-")[:_LONGEST].strip("-")
    if not name or (name.isdigit() and not label.strip().isdigit()):
        name = otherwise
    # Hosts of a site end in -h1, and this name is every machine's own.
    return f"{name}-site" if re.search(r"(^|-)h[0-9]+$", name) or name == "localhost" else name


def unique(names: Iterable[str], *, taken: Iterable[str] = ()) -> tuple[str, ...]:
    """The same names, with -2, -3 and so on behind those that were there before or are ``taken``."""
    used = set(taken)
    wanted = list(names)
    kept = set(wanted)
    found = []
    for name in wanted:
        chosen, number = name, 1
        while chosen in used or (number > 1 and chosen in kept):
            number += 1
            chosen = f"{name}-{number}"
        used.add(chosen)
        found.append(chosen)
    return tuple(found)
