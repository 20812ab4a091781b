"""Relays: application-level gateways, from the command line and from Python."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from longhaul.relay.api import Message, Opened, Parameters, Running, Wrapper, running, serve

__all__ = ["Message", "Opened", "Parameters", "Running", "Wrapper", "running", "serve"]


def __getattr__(name: str) -> Any:
    """Import on first use, so that ``longhaul relay connect`` starts quickly."""
    if name in __all__:
        from longhaul.relay import api

        return getattr(api, name)
    raise AttributeError(f"module 'longhaul.relay' has no attribute {name!r}")
