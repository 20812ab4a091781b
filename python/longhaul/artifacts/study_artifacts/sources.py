"""The files that a study needs to be measured again, and the packages that its programs import."""

import ast
import sys
from collections.abc import Iterable, Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.studies.catalogue import SETTINGS, StudyFolder

DATA = (".yaml", ".yml", ".toml", ".csv", ".json")
"""Endings of files in a directory of studies that several studies may read."""


def own_files(study: StudyFolder) -> list[Path]:
    """The files of the study's folder. Raises LonghaulError for one that is not a regular file."""
    return list(_regular_files(study.folder))


def shared_files(study: StudyFolder) -> list[Path]:
    """Files beside the study's folder: data, and the modules that its programs import, one by another.

    Raises LonghaulError for one that is not a regular file.
    """
    beside = study.shared
    found = [path for path in sorted(beside.iterdir()) if path.suffix in DATA and path.name != SETTINGS]
    waiting = _imported(own_files(study))
    seen: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        module, package = beside / f"{name}.py", beside / name
        new = [module] if module.is_file() else []
        if (package / "__init__.py").is_file():
            new += _regular_files(package)
        found += new
        waiting |= _imported(new)
    for path in found:
        _check_regular(path)
    return [path for path in sorted(found) if not path.name.startswith(".") and path.is_file()]


def packages(study: StudyFolder) -> tuple[str, ...]:
    """The installed packages that programs of the study import, without Longhaul."""
    known = packages_distributions()
    names = _imported([*own_files(study), *shared_files(study)]) - set(sys.stdlib_module_names)
    return tuple(sorted({each for name in names - {"longhaul"} for each in known.get(name, ())}))


def _regular_files(folder: Path) -> Iterator[Path]:
    """All files in a folder, without hidden ones and compiled modules."""
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        if any(part.startswith(".") or part == "__pycache__" for part in parts):
            continue
        _check_regular(path)
        if path.is_file():
            yield path


def _check_regular(path: Path) -> None:
    if path.is_symlink() or not (path.is_file() or path.is_dir()):
        raise LonghaulError(
            Code.STUDY_NOT_REPEATABLE,
            f"{path} is not a regular file",
            remedy="replace it with a copy of what it leads to, or remove it",
            exit_code=2,
        )


def _imported(paths: Iterable[Path]) -> set[str]:
    """The first names of the modules that Python files import; files that are not Python have none."""
    found = set()
    for path in paths:
        if path.suffix != ".py":
            continue
        try:
            tree = ast.parse(path.read_bytes())
        except (SyntaxError, ValueError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                found |= {each.name.partition(".")[0] for each in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found.add(node.module.partition(".")[0])
    return found
