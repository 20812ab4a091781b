"""Python that stands in other texts (pages' tests, documents, shell) imports only what exists."""

import importlib
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
IMPORT = re.compile(
    r"^\s*(?:.*`)?(?:from (longhaul(?:\.\w+)*) import ([\w, ]+)|import (longhaul(?:\.\w+)+))", re.MULTILINE
)


def test_imports_outside_python_files_exist() -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    texts = [
        ROOT / name
        for name in listed.stdout.splitlines()
        if name.endswith((".ts", ".mjs", ".md", ".j2", ".sh"))
    ]
    found, missing = 0, []
    for text in texts:
        for module, names, alone in IMPORT.findall(text.read_text()):
            found += 1
            missing += [f"{text.relative_to(ROOT)}: {what}" for what in _missing(module or alone, names)]
    assert found > 5
    assert missing == []


def _missing(module: str, names: str) -> list[str]:
    try:
        imported = importlib.import_module(module)
    except ModuleNotFoundError:
        return [module]
    wanted = [name.split(" as ")[0].strip() for name in names.split(",") if name.strip()]
    return [
        f"{module}.{name}"
        for name in wanted
        if not (hasattr(imported, name) or _is_module(f"{module}.{name}"))
    ]


def _is_module(name: str) -> bool:
    try:
        importlib.import_module(name)
    except ModuleNotFoundError:
        return False
    return True
