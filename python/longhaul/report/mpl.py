"""matplotlib, isolated from settings in the working directory.

It reads a ``matplotlibrc`` there before any other, which could have it run TeX (``text.usetex``); a FIFO of
that name would keep it waiting for ever.
"""

import ctypes
import os
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

_CLONE_FS = 0x200


def _import_elsewhere() -> None:
    """Import matplotlib in a thread that works in ``/``, as nobody but root can leave a file there."""

    def work() -> None:
        # From here on this thread has a working directory of its own.
        if ctypes.CDLL(None, use_errno=True).unshare(_CLONE_FS) == 0:
            os.chdir("/")
        import matplotlib  # noqa: F401

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


if "matplotlib" not in sys.modules:
    _import_elsewhere()

import matplotlib as mpl  # noqa: E402
from matplotlib import patches  # noqa: E402
from matplotlib.axes import Axes  # noqa: E402
from matplotlib.colors import get_named_colors_mapping, to_rgb  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402
from matplotlib.lines import Line2D  # noqa: E402
from matplotlib.rcsetup import cycler  # noqa: E402

__all__ = [
    "Axes",
    "Figure",
    "Line2D",
    "cycler",
    "get_named_colors_mapping",
    "patches",
    "settings",
    "to_rgb",
]

_NOT_OF_FIGURES = ("backend", "interactive", "toolbar", "timezone", "date.", "docstring.", "tk.", "webagg.")
_DEFAULTS: Any = {
    name: value for name, value in mpl.rcParamsDefault.items() if not name.startswith(_NOT_OF_FIGURES)
}


@contextmanager
def settings(values: Mapping[str, Any], *, fresh: bool = False) -> Iterator[None]:
    """Inside, matplotlib draws with ``values``; ``fresh``: and everything else is as matplotlib has it."""
    changes: Any = {**_DEFAULTS, **values} if fresh else dict(values)
    with mpl.rc_context(changes):
        yield
