"""The table of links that ``run --watch`` shows."""

import time

from rich.table import Table

from longhaul.run.live_links import LinkNow, Watch
from longhaul.units.text import rate_text, share_text, time_text

REFRESH_S = 0.25
_BAR = 8
"""Characters of a full bar."""


class Screen:
    """A :class:`Watch` as a table of at most so many rows, made anew a few times a second."""

    def __init__(self, watch: Watch) -> None:
        """Show ``watch``."""
        self._watch = watch
        self._made_s = 0.0
        self._table = Table()

    def table(self, rows: int) -> Table:
        """The table, cut to ``rows`` lines below its header."""
        now_s = time.monotonic()
        if now_s - self._made_s >= REFRESH_S:
            self._made_s = now_s
            self._table = link_table(self._watch.links(), rows)
        return self._table


def link_table(links: list[LinkNow], rows: int) -> Table:
    """One line for each direction of a link, in 80 columns; those beyond ``rows`` are counted in the last."""
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for column in ("link", "", ">throughput", "used", "", ">queueing", ">lost", ">p99 lateness"):
        right = column.startswith(">")
        table.add_column(column.lstrip(">"), justify="right" if right else "left", no_wrap=True)
    shown = links if len(links) <= rows else links[: max(rows - 1, 0)]
    for now in shown:
        table.add_row(
            now.name,
            "->" if now.way == "forward" else "<-",
            rate_text(now.throughput_bits_per_s),
            _bar(now.utilisation),
            "" if now.utilisation is None else share_text(now.utilisation),
            time_text(now.queueing_delay_ns),
            str(now.undelivered_packets),
            time_text(now.lateness_p99_ns),
        )
    if len(shown) < len(links):
        table.add_row(f"and {len(links) - len(shown)} more")
    return table


def _bar(used: float | None) -> str:
    """A share as eighths of a bar."""
    if used is None:
        return ""
    eighths = round(min(used, 1.0) * _BAR * 8)
    part = " ▏▎▍▌▋▊▉"[eighths % 8] if eighths % 8 else ""
    return ("█" * (eighths // 8) + part).ljust(_BAR)
