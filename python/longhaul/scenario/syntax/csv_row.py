"""The cells of one line of CSV."""

import csv

from longhaul.diagnostics import Code

MOST = 131_072
"""Characters in a quoted cell: the limit of Python's csv module."""


class RowError(ValueError):
    """A line that is not a row of CSV: the message, and what helps."""

    def __init__(self) -> None:
        """The one reason that there is: :data:`MOST`."""
        self.code = Code.CELL_INVALID
        self.message, self.remedy = f"a value has more than {MOST} characters", "shorten it"
        super().__init__(f"{self.message}; {self.remedy}")


def cells_of(line: str) -> list[str]:
    """The cells of ``line``, without blanks around them; raises :class:`RowError`."""
    if '"' not in line:
        return [cell.strip() for cell in line.split(",")]
    try:
        return [cell.strip() for cell in next(csv.reader([line]), [])]
    except csv.Error:
        raise RowError from None
