"""What reaches the terminal."""

import pytest
from rich.table import Table

from longhaul.report.console import Console


def test_an_address_is_no_emoji_and_a_bracket_no_markup(capsys: pytest.CaptureFixture[str]) -> None:
    table = Table(box=None)
    table.add_column("fd00:0:b::1")
    table.add_row("fd00:6c68:0:a::ffff [red]")
    Console().print(table, "2001:db8:o::x")
    said = capsys.readouterr().out
    for text in ("fd00:0:b::1", "fd00:6c68:0:a::ffff [red]", "2001:db8:o::x"):
        assert text in said
