"""The types of plans, which ``__init__.pyi`` has.

They are for mypy alone: at run time each name is ``Any``, so that importing them costs nothing.
"""

from typing import Any

WAYS = ("forward", "reverse")
"""The directions of a link: from its first endpoint to its second, and back."""


def __getattr__(name: str) -> Any:
    """``Any``, whatever the type."""
    if name.startswith("_"):
        raise AttributeError(name)
    return Any
