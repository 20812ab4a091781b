"""Events that the processes of runs and sweeps send to the server."""

from typing import Literal

from typing_extensions import TypedDict

from longhaul.page.responses.events import Happening
from longhaul.page.responses.studies import SweepProgress
from longhaul.page.responses.texts import Refused
from longhaul.page.responses.transfers import TransferProgress


class Directory(TypedDict):
    """The run begins, and this is its directory."""

    event: Literal["directory"]
    directory: str


class Progress(TypedDict):
    """A simulation has come so far, in so much time."""

    event: Literal["progress"]
    t_ns: int
    real_s: float


class Swept(SweepProgress):
    """A sweep has come so far."""

    event: Literal["swept"]


class Failed(Refused):
    """There will be no results."""

    event: Literal["failed"]
    exit_code: int


class Transferred(TransferProgress):
    """Transfers have come so far."""

    event: Literal["transferred"]


Told = Happening | Directory | Progress | Swept | Transferred | Failed
