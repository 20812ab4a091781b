"""Files that a scenario names: they are beside it, and errors in them have their own place."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Any

from longhaul.diagnostics import Code, Diagnostic, printable
from longhaul.regular_files import read_regular
from longhaul.scenario.syntax.csv_file import MAX_BYTES, MAX_ROWS, CsvFile, InputFile, check_table
from longhaul.scenario.syntax.value_errors import ScenarioValueError
from longhaul.scenario.traces import builtin

MAX_CAPTURE_BYTES = 256 << 20
MAX_HOST_FILE_BYTES = 16 << 20


@dataclass
class Inputs:
    """Reads the files that a scenario names, each once."""

    folder: FilePath
    called: FilePath
    """The folder as errors call it."""
    read: dict[FilePath, InputFile] = field(default_factory=dict)
    ends_ns: list[int] = field(default_factory=list)
    """When traces end that are to end the run."""
    captures: dict[FilePath, bytes] = field(default_factory=dict)
    """The captures, the files of hosts, and those of topologies, that were read."""
    contents: Mapping[str, bytes] | None = None
    """The files by path where they do not come from disk."""
    warnings: list[Diagnostic] = field(default_factory=list)
    """What in the files need not be wrong."""
    round_trips: list[tuple[Any, str]] = field(default_factory=list)
    """Models of delay that are half of a round trip, and of which column."""
    tables: dict[str, "CsvFile"] = field(default_factory=dict)
    delays: Mapping[tuple[str, str], list[list[int]]] = field(default_factory=dict)
    """What links follow that a topology made, by their ends: time and delay in ns."""
    series: dict[tuple[Any, ...], Any] = field(default_factory=dict)
    """What models follow of files, by file and columns; nobody changes it."""

    def table(self, name: str, *, at: str) -> "CsvFile":
        """File ``name`` as CSV with a header, which key ``at`` of a model names."""
        if name not in self.tables:
            self.tables[name] = CsvFile(self.file(name, at=at))
        return self.tables[name]

    def warn(self, code: Code, file: InputFile, message: str) -> None:
        """Say ``message`` of ``file``, once."""
        warning = Diagnostic(code, message, file=file.name)
        if warning not in self.warnings:
            self.warnings.append(warning)

    def file(self, name: str, *, at: str) -> InputFile:
        """File ``name``, or the trace of a built-in set, which key ``at`` of a model names."""
        if builtin.is_builtin(name):
            try:
                return InputFile(name, tuple(builtin.text_of(name).splitlines()))
            except builtin.UnknownTraceError as error:
                raise ScenarioValueError(error.code, (at,), error.message, error.remedy) from None
        path = self.folder / name
        if path in self.read:
            return self.read[path]
        shown = printable(name)
        content = self._content(path, shown, at=at, most=MAX_BYTES)
        if len(content) > MAX_BYTES:
            message = f'"{shown}" has more than {MAX_BYTES >> 20} MiB'
            raise ScenarioValueError(Code.FILE_TOO_LARGE, (at,), message, "write a shorter trace")
        lines = tuple(content.decode("utf-8-sig", errors="replace").splitlines())
        found = InputFile(str(self.called / name), lines[: MAX_ROWS + 1])
        if len(lines) > MAX_ROWS:
            raise found.wrong(
                Code.FILE_TOO_LARGE, MAX_ROWS + 1, f"more than {MAX_ROWS} lines", "write a shorter trace"
            )
        check_table(found)
        self.read[path] = found
        return found

    def capture(self, name: str, *, at: str) -> bytes:
        """The bytes of file ``name``, a capture, which key ``at`` of a model names."""
        remedy = "keep a part of it: editcap -r IN OUT 1-100000"
        return self.whole(name, at=at, most=MAX_CAPTURE_BYTES, remedy=remedy)

    def host_file(self, name: str) -> bytes:
        """The bytes of file ``name``, which a host is given."""
        remedy = "name the place of the file in a program's arguments"
        return self.whole(name, at="files", most=MAX_HOST_FILE_BYTES, remedy=remedy)

    def whole(self, name: str, *, at: str, most: int, remedy: str) -> bytes:
        """The bytes of file ``name``, which key ``at`` names; ``remedy`` is that of a longer file."""
        path = self.folder / name
        if path not in self.captures:
            content = self._content(path, printable(name), at=at, most=most)
            if len(content) > most:
                message = f'"{printable(name)}" has more than {most >> 20} MiB'
                raise ScenarioValueError(Code.FILE_TOO_LARGE, (at,), message, remedy)
            self.captures[path] = content
        return self.captures[path]

    def paths(self) -> tuple[FilePath, ...]:
        """The files that were read, but those of built-in sets."""
        return (*self.read, *self.captures)

    def _content(self, path: FilePath, shown: str, *, at: str, most: int) -> bytes:
        """The first bytes of a file, at least one more than ``most`` if it is larger."""
        if self.contents is not None:
            known = self.contents.get(str(path))
            if known is None:
                raise ScenarioValueError(
                    Code.INPUT_FILE_MISSING,
                    (at,),
                    f'"{shown}" is not there',
                    "no variant named it when the sweep began",
                )
            return known
        try:
            if not path.is_file():
                what = "is not a file" if path.exists() else "is not there"
                raise ScenarioValueError(
                    Code.INPUT_FILE_MISSING,
                    (at,),
                    f'"{shown}" {what}',
                    f"put it beside the scenario, in {self.called}/",
                )
            return read_regular(path, most_bytes=most + 1)
        except (OSError, ValueError) as error:
            if isinstance(error, ScenarioValueError):
                raise
            what = getattr(error, "strerror", None) or "has an impossible name"
            raise ScenarioValueError(
                Code.INPUT_FILE_MISSING,
                (at,),
                f'"{shown}": {str(what).lower()}',
                "name a file that can be read",
            ) from None


def inputs_of(name: str, *, folder: FilePath | None, contents: Mapping[str, bytes] | None) -> Inputs:
    """The files of scenario ``name``: those of ``contents`` by path, or else in ``folder`` or beside it."""
    called = FilePath(name).parent
    if contents is not None:
        return Inputs(FilePath(), called, contents=contents)
    return Inputs(folder or called, called)
