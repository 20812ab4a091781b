"""Responses about jobs: commands that the page has started and that take a while."""

from typing import Literal

from typing_extensions import TypedDict

JobState = Literal["running", "stopping", "done", "failed", "stopped"]


class JobProgress(TypedDict):
    """How many steps of a job are over, what it does now, and how long the rest takes, as text."""

    done: int
    of: int
    text: str
    left_text: str


class Job(TypedDict):
    """A job; ``command`` is what does the same on the command line."""

    id: str
    kind: str
    title: str
    command: str
    state: JobState
    exit_code: int | None
    started_unix_s: float
    ended_unix_s: float | None
    progress: JobProgress | None
    last_line: str


class JobList(TypedDict):
    """The jobs of this server, newest first."""

    jobs: list[Job]


class JobOutput(TypedDict):
    """A job, lines of its output, and how many lines it has written in all."""

    job: Job
    lines: list[str]
    said: int
