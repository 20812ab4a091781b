"""Tables as HTML: the first rows in sight, the rest folded, and what has nothing to say counted."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

Json = Mapping[str, Any]

MOST_WHOLE = 40
"""Rows of a table that is shown as it is."""
MOST_IN_SIGHT = 20
"""Rows of a larger table that are not folded."""
MOST_FOLDED = 200
"""Rows behind them. Of more, a table says how many there are and where."""


@dataclass(frozen=True)
class Cell:
    """Text with a class, or HTML that is there already."""

    text: str
    look: str = ""
    """Class of the cell."""
    is_html: bool = False
    columns: int = 1


@dataclass(frozen=True)
class Column:
    """A column of words, or of numbers, which are aligned at their end."""

    head: str
    is_number: bool = True


@dataclass(frozen=True)
class Row:
    """The cells of a row, and attributes of its element."""

    cells: Sequence[str | Cell]
    attributes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Table:
    """Rows under columns."""

    columns: Sequence[Column]
    rows: Sequence[Row]
    name: str = ""
    """Its ``id``."""
    look: str = ""
    """Its class."""
    foot: Row | None = None

    def __html__(self) -> str:
        """For templates."""
        head = "".join(
            f'<th class="n">{escape(each.head)}</th>' if each.is_number else f"<th>{escape(each.head)}</th>"
            for each in self.columns
        )
        body = "\n".join(self._row(row, "td") for row in self.rows)
        foot = f"\n<tfoot>{self._row(self.foot, 'th')}</tfoot>" if self.foot else ""
        about = (f' id="{self.name}"' if self.name else "") + (f' class="{self.look}"' if self.look else "")
        return (
            f'<div class="scroll" tabindex="0"><table{about}><thead><tr>{head}</tr></thead>\n'
            f"<tbody>{body}</tbody>{foot}</table></div>"
        )

    def _row(self, row: Row, tag: str) -> str:
        cells = []
        places = iter(self.columns)
        for each in row.cells:
            cell = each if isinstance(each, Cell) else Cell(each)
            column = next(places, None)
            number = "n" if column is not None and column.is_number and cell.columns == 1 else ""
            look = " ".join(filter(None, (number, cell.look)))
            about = f' class="{look}"' if look else ""
            if cell.columns > 1:
                about += f' colspan="{cell.columns}"'
            content = cell.text if cell.is_html else escape(cell.text)
            # A header without words heads nothing.
            kind = tag if content else "td"
            cells.append(f"<{kind}{about}>{content}</{kind}>")
        attributes = "".join(f' {name}="{escape(value)}"' for name, value in row.attributes.items())
        return f"<tr{attributes}>{''.join(cells)}</tr>"


@dataclass(frozen=True)
class Folded:
    """The busiest rows in sight, the others behind them, and how many are nowhere."""

    first: Table
    rest: Table | None = None
    summary: str = ""
    """Of the rest."""
    note: str = ""
    """What is not listed."""

    def __html__(self) -> str:
        """For templates."""
        parts = [self.first.__html__()]
        if self.rest is not None:
            parts.append(
                f"<details><summary>{escape(self.summary)}</summary>{self.rest.__html__()}</details>"
            )
        if self.note:
            parts.append(f'<p class="muted folded">{escape(self.note)}</p>')
        return "\n".join(parts)


def folded(
    table: Table,
    items: Sequence[Json],
    row: Callable[[Json], Iterable[Row]],
    *,
    key: Callable[[Json], float],
    names: tuple[str, str],
    file: str = "summary.json",
) -> Folded:
    """``table`` with the rows of each item; of many, the greatest ``key`` first, and none of 0.

    ``names``: of many items, and what the key is: ``("directions", "traffic")``. ``file`` has all items.
    """

    def filled(some: Sequence[Json], name: str = "", foot: Row | None = None) -> Table:
        rows = [each for item in some for each in row(item)]
        return Table(table.columns, rows, name=name, look=table.look, foot=foot)

    if len(items) <= MOST_WHOLE:
        return Folded(filled(items, table.name, table.foot))
    many, what = names
    busy = sorted((each for each in items if key(each) > 0), key=lambda each: -key(each))
    first, rest = busy[:MOST_IN_SIGHT], busy[MOST_IN_SIGHT : MOST_IN_SIGHT + MOST_FOLDED]
    notes = []
    if len(first) < len(busy):
        notes.append(f"The {len(first)} of {len(items):,} {many} with the most {what} are shown first.")
    if len(busy) < len(items):
        notes.append(f"{len(items) - len(busy):,} {many} without {what} are not listed.")
    if len(busy) > len(first) + len(rest):
        notes.append(f"{len(busy) - len(first) - len(rest):,} more {many} are in {file}.")
    return Folded(
        filled(first, table.name, table.foot),
        filled(rest) if rest else None,
        f"{len(rest)} more {many}",
        " ".join(notes),
    )


def words(*heads: str) -> list[Column]:
    """Columns of words."""
    return [Column(each, is_number=False) for each in heads]


def numbers(*heads: str) -> list[Column]:
    """Columns of numbers."""
    return [Column(each) for each in heads]
