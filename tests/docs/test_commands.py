"""Every command of Longhaul that a document shows is one that the command line understands."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from longhaul.cli.main import longhaul
from longhaul.errors import LonghaulError

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "README.md", *(ROOT / "docs").rglob("*.md")))
BLOCK = re.compile(r"^```(?:sh|console)[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)


def commands(page: Path) -> Iterator[str]:
    """The commands of the page's blocks, with their continued lines."""
    for block in BLOCK.findall(page.read_text(encoding="utf-8")):
        for line in re.sub(r"\\\n\s*", "", block).splitlines():
            found = re.match(r"(?:\$ )?(longhaul .*)", line)
            if found:
                # Up to the end of the command: a pipe, a redirection or a comment.
                yield re.split(r"\s+[|>&]|\s+#", found[1])[0]


def misunderstood(command: str) -> str:
    """Why the command line does not understand a command; empty if it does."""
    words = shlex.split(command)[1:]
    found: click.Command | None = longhaul
    context: click.Context | None = None
    try:
        while found:
            context = found.make_context(found.name, words, parent=context)
            if not isinstance(found, click.Group):
                break
            rest = [*context._protected_args, *context.args]
            _name, found, words = found.resolve_command(context, rest)
    except click.exceptions.Exit:
        return ""
    except click.BadParameter as error:
        # A file of the reader's is not here.
        return "" if "does not exist" in str(error) else error.format_message()
    except (LonghaulError, click.UsageError) as error:
        return str(error)
    return ""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_command_line_understands_every_command_of_a_page(page: Path) -> None:
    wrong = {command: misunderstood(command) for command in commands(page)}
    assert {command: reason for command, reason in wrong.items() if reason} == {}


@pytest.mark.parametrize("command", ["longhaul runn a.yaml", "longhaul sim a.yaml --sede 1", "longhaul set"])
def test_a_misspelt_command_is_found(command: str) -> None:
    assert misunderstood(command)
