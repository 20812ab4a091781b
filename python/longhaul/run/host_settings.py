"""What hosts ask of this machine beside a network, and their files in the run directory."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from longhaul import storage
from longhaul.diagnostics import Code
from longhaul.run.ports import EXIT_CANNOT

if TYPE_CHECKING:
    from longhaul.diagnostics import Diagnostic
    from longhaul.plan import Node
    from longhaul.scenario import Resolved

CONTENTS = "raw/files"
"""Files of hosts in the run directory, by their hash; the twin of ``CONTENTS`` in ``crates/live``."""
_READABLE, _EXECUTABLE = 0o444, 0o555


def require(resolved: "Resolved") -> None:
    """Raise ScenarioError with the place of each setting that this machine cannot give."""
    problems = list(_problems(resolved))
    if problems:
        from longhaul.scenario import ScenarioError

        refused = ScenarioError(problems)
        refused.exit_code = EXIT_CANNOT
        raise refused


def _problems(resolved: "Resolved") -> "Iterator[Diagnostic]":
    for key, node in resolved.scenario.document.nodes.items():
        for target in node.files:
            if wrong := _wrong_target(Path(target)):
                yield resolved.scenario.problem(
                    Code.HOST_SETTINGS_UNAVAILABLE, ("nodes", key, "files", target), *wrong
                )


def _wrong_target(target: Path) -> tuple[str, str] | None:
    """Why no file can be in this place, and what helps."""
    from longhaul import _longhaul

    if target.is_file():
        return None
    if target.exists():
        return f"{target} is not a file on this machine", "name a file, or one that is not there"
    above = next(each for each in target.parents if each.exists())
    if not above.is_dir():
        return f"{above} is not a directory on this machine", "name a place in a directory"
    directories = [Path(each) for each in _longhaul.system_directories()]
    if not any(above.resolve().is_relative_to(each) for each in directories):
        listed = ", ".join(str(each) for each in directories if each.is_dir())
        return (
            f"{target} does not exist on this machine, and hosts write to {above}",
            f"make it, so that it can be replaced; files are added only to {listed}",
        )
    return None


def contents(resolved: "Resolved", nodes: "Sequence[Node]") -> Mapping[str, tuple[bytes, int]]:
    """The files of hosts, by their places in the run directory, each with its mode."""
    known: dict[str, bytes] | None = None
    found: dict[str, tuple[bytes, int]] = {}
    for node in nodes:
        for file in (node.get("settings") or {}).get("files", ()):
            known = resolved.files() if known is None else known
            is_program = file.get("executable", False)
            place = f"{CONTENTS}/{file['sha256']}{'.x' if is_program else ''}"
            found[place] = known[_name(resolved, file["source"])], _EXECUTABLE if is_program else _READABLE
    return found


def _name(resolved: "Resolved", source: str) -> str:
    """What the files of a scenario call the one that it calls ``source``."""
    folder = resolved.scenario.inputs().folder
    path = folder / source
    return str(path.relative_to(folder) if path.is_relative_to(folder) else path)


def write(directory: Path, files: Mapping[str, tuple[bytes, int]]) -> None:
    """Write ``files`` into the run directory. Raises LonghaulError."""
    if files:
        storage.make_directory(directory / CONTENTS)
    for place, (content, mode) in files.items():
        storage.replace_bytes(directory / place, content)
        (directory / place).chmod(mode)
