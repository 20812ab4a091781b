"""Responses about guest kernels, which hosts on the virtual clock run."""

from typing_extensions import TypedDict


class GuestKernel(TypedDict):
    """A kernel in this user's cache; runs do not use one that another version of Longhaul built."""

    name: str
    release: str
    built: str
    source: str
    outdated: bool


class Want(TypedDict):
    """What is missing, and what to do."""

    message: str
    remedy: str | None


class KernelList(TypedDict):
    """The kernels, the newest first.

    ``missing``: why no run on the virtual clock can start, if so; ``command`` builds a kernel and ``takes``
    what it says; ``build_lacks``: programs that a build needs and that are not installed, if any.
    """

    kernels: list[GuestKernel]
    missing: Want | None
    command: str
    takes: str
    build_lacks: Want | None
