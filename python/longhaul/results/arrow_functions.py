"""Arrow's functions on columns.

Importing ``pyarrow.compute``, and calling methods of arrays that import it, wraps 300 functions, which takes
longer than a short simulation. Here they are called by their names, as that module does.
"""

from collections.abc import Collection
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow._compute import SetLookupOptions, call_function


def column_of(values: np.ndarray[Any, Any]) -> Any:
    """``values``, numbers or text, as a column.

    ``pyarrow.array`` imports ``numpy.ma`` to see whether arrays are masked; lists are not.
    """
    if values.dtype.kind not in "iuf":
        return pa.array(values.tolist(), None if values.dtype.kind == "b" else pa.string())
    numbers = pa.py_buffer(np.ascontiguousarray(values).data)
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [None, numbers])


def is_valid(column: Any) -> Any:
    """Where ``column`` is not null."""
    return call_function("is_valid", [column])


def is_in(column: Any, values: Collection[str]) -> Any:
    """Where ``column``, of text, has one of ``values``; false for null."""
    return call_function("is_in", [column], SetLookupOptions(pa.array(list(values), pa.string())))


def rows_where(table: Any, mask: Any) -> Any:
    """The rows of a table, batch or column where ``mask`` is true."""
    return call_function("filter", [table, mask])


def dictionary_encode(column: Any) -> Any:
    """``column`` as indices into its different values."""
    return call_function("dictionary_encode", [column])


def take(values: Any, indices: Any) -> Any:
    """The elements of ``values`` at ``indices``; null for a null index."""
    return call_function("take", [values, indices])


def subtract(column: Any, other: Any) -> Any:
    """The difference, element by element; null where one is null."""
    return call_function("subtract", [column, _datum(other)])


def multiply(column: Any, other: Any) -> Any:
    """The product, element by element; null where one is null."""
    return call_function("multiply", [column, _datum(other)])


def _datum(value: Any) -> Any:
    return pa.scalar(value) if isinstance(value, int) else value
