"""Responses about texts: files, templates, problems, quantities; and refusals."""

from typing import Literal, NotRequired

from typing_extensions import TypedDict

from longhaul.diagnostics import Severity
from longhaul.results.certificate import Certificate


class Problem(TypedDict):
    """What is wrong in a text, or stands in the way of a run; without a line if it is not in the text."""

    code: str | None
    """What kind of problem; a hint has none."""
    explanation: str | None
    """What the code means, whatever the text."""
    path: str
    line: int | None
    column: int | None
    width: int
    message: str
    remedy: str | None
    severity: Severity


class Refusal(TypedDict):
    """Why there is no answer: the first problem, and all of a text that cannot be run."""

    code: str
    explanation: NotRequired[str]
    message: str
    remedy: str | None
    path: NotRequired[str]
    line: NotRequired[int | None]
    column: NotRequired[int | None]
    in_range: NotRequired[str | None]
    problems: NotRequired[list[Problem]]


class Refused(TypedDict):
    """The answer of a status from 400 on."""

    error: Refusal


class Done(TypedDict):
    """It was asked for, and there is nothing to say."""

    ok: Literal[True]


class Option(TypedDict):
    """Of a template: its default, and the words that it can be, if not any; ``about`` says what it is."""

    name: str
    about: str
    default: str
    choices: list[str]


class Template(TypedDict):
    """A text to begin with."""

    name: str
    title: str
    options: list[Option]


class BuiltIn(TypedDict):
    """A scenario that came with Longhaul; its title is the comment's first line."""

    name: str
    title: str
    comment: str


class FileEntry(TypedDict):
    """A scenario file of the directory."""

    name: str
    mtime_unix_s: float
    etag: str


class Finding(TypedDict):
    """One thing that was looked at; poor costs accuracy or comfort, missing makes live runs impossible."""

    what: str
    state: Literal["good", "poor", "missing"]
    detail: str
    fix: str | None


class Host(TypedDict):
    """This machine."""

    name: str
    kernel: str
    cpus: int | None
    findings: list[Finding]


class Can(TypedDict):
    """Whether live runs are possible, and if not, why."""

    live: bool
    why: str | None
    remedy: str | None


class State(TypedDict):
    """What the page needs to begin."""

    version: str
    directory: str
    host: Host
    can: Can
    read_only: bool
    templates: list[Template]
    scenarios: list[BuiltIn]
    files: list[FileEntry]


class BuiltInText(TypedDict):
    """A scenario that came with Longhaul; with its ``base``, files that the text names are found."""

    name: str
    text: str
    base: str


class TemplateText(TypedDict):
    """A template, filled in."""

    text: str


class FileText(TypedDict):
    """A file, and what tells its content from another."""

    name: str
    text: str
    etag: str


class Saved(TypedDict):
    """A file that was written."""

    name: str
    etag: str


class Preflight(TypedDict):
    """What stands between a text and a faithful run."""

    warnings: list[Problem]
    expected: str | None
    """The round trips between hosts, in one line."""


class Findings(TypedDict):
    """What was found on this machine, and of a scenario on it."""

    findings: list[Finding]


class Quantity(TypedDict):
    """A quantity in ns, bit/s, bytes, or a share, with its exact spelling; or what is wrong with it."""

    ok: bool
    value: float | None
    canonical: str | None
    message: str | None
    remedy: str | None


class Certified(TypedDict):
    """What ``longhaul calibrate`` measured here, if ever."""

    certificate: Certificate | None
