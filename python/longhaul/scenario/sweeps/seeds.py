"""The seed of each repetition."""

import hashlib
from typing import Literal

_SEEDS = 1 << 64


def seed_of(base: int, variant: int, repeat: int, *, kind: Literal["paired", "independent"]) -> int:
    """The seed of repetition ``repeat``, from 0, of ``variant``.

    ``paired``: ``base + repeat``, so that all variants of a repetition meet the same losses (common random
    numbers): their difference has less noise. ``independent``: another one for every variant, too.
    """
    if kind == "paired":
        return (base + repeat) % _SEEDS
    return int.from_bytes(hashlib.sha256(f"{base}/{variant}/{repeat}".encode()).digest()[:8], "big")
