"""Errors of single values and of files that a scenario names."""

from collections.abc import Iterator
from contextlib import contextmanager

from longhaul.diagnostics import Code, Diagnostic
from longhaul.scenario.syntax.yaml_tree import Path


class ScenarioValueError(ValueError):
    """A value of the scenario that is wrong where it is, or with the others."""

    def __init__(self, code: Code, at: Path, message: str, remedy: str) -> None:
        """State what is wrong with the value at ``at``, a path below the model."""
        super().__init__(f"{message}; {remedy}")
        self.code = code
        self.at = at
        self.message = message
        self.remedy = remedy


class FileError(ValueError):
    """Something wrong in a file that a scenario names."""

    def __init__(self, problem: Diagnostic) -> None:
        """Keep ``problem``, whose address is in that file."""
        super().__init__(problem.text)
        self.problem = problem


@contextmanager
def within(*at: str | int) -> Iterator[None]:
    """Errors of a model as errors of key ``at`` of what holds the model."""
    try:
        yield
    except ScenarioValueError as error:
        raise ScenarioValueError(error.code, (*at, *error.at), error.message, error.remedy) from None
