"""What `run --watch` shows: a table, on a real terminal."""

import io
from pathlib import Path

from rich.console import Console
from terminals import on_a_terminal

from longhaul.cli.terminal.links import link_table
from longhaul.run.live_links import LinkNow

PAIR = """
version: 1
name: pair
duration: 3s
nodes: {a: {kind: host}, b: {kind: host}}
links: {wan: {endpoints: [a, b], delay: 10ms, rate: 10Mbit}}
traffic:
  load: {kind: udp, from: a, to: b, rate: 5Mbit, simulated: true}
"""


def test_the_busiest_links_are_shown_as_far_as_there_is_room() -> None:
    links = [LinkNow(f"link{n}", "forward", False, 1e6 * n, 0.5, 1e6, n, 500.0) for n in range(30, 0, -1)]
    out = io.StringIO()
    Console(file=out, width=80).print(link_table(links, 10))
    lines = out.getvalue().splitlines()
    assert len(lines) == 11
    assert lines[1].split() == [
        "link30",
        "->",
        "30",
        "Mbit/s",
        "████",
        "50",
        "%",
        "1",
        "ms",
        "30",
        "500",
        "ns",
    ]
    assert lines[-1].strip() == "and 21 more"
    assert max(map(len, lines)) <= 80


def test_a_terminal_shows_links_while_the_run_goes_on(tmp_path: Path) -> None:
    (tmp_path / "pair.yaml").write_text(PAIR)
    said, code = on_a_terminal(tmp_path, "run", "pair.yaml", "--watch", "--no-report")
    assert code in (0, 4), said
    rows = [line for line in said.splitlines() if "wan" in line and "->" in line and "Mbit/s" in line]
    # 5 Mbit/s of payload are 5.1 with headers; half of the link is in use.
    assert any(" 5." in row and "5" in row.partition("%")[0][-4:] for row in rows), said
