"""Responses about exports to real machines."""

from typing_extensions import TypedDict

from longhaul.page.responses.texts import Problem


class ExportedFile(TypedDict):
    """A file of an export."""

    path: str
    text: str


class ExportedFiles(TypedDict):
    """The files of an export, and what differs from a run."""

    files: list[ExportedFile]
    warnings: list[Problem]
    command: str


class MachineDevice(TypedDict):
    """The device of a machine at a link; of a link's own machine at a node."""

    link: str
    device: str


class MachineMapped(TypedDict):
    """The machine of a node or of a link; ``is_written`` says that its devices are not the defaults."""

    name: str
    is_link: bool
    address: str
    user: str
    devices: list[MachineDevice]
    is_written: bool


class MachinesMapped(TypedDict):
    """The mapping to machines as a table; ``links`` have no machine of their own."""

    text: str
    rows: list[MachineMapped]
    links: list[str]
    problems: list[Problem]
