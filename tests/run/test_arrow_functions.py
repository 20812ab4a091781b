"""Columns are what pyarrow makes of the same values."""

import numpy as np
import pyarrow as pa
import pytest

from longhaul.results.arrow_functions import column_of


@pytest.mark.parametrize(
    "values",
    [
        np.array(["a1", "Ålesund", ""]),
        np.array(["a1", None], dtype=object),
        np.array([True, False, True]),
        np.array([1.5, np.nan, -0.0]),
        np.arange(9, dtype=np.int64)[::2],
        np.array([], dtype=np.float64),
        np.array([7], dtype=np.uint64),
    ],
    ids=["text", "text or nothing", "truth", "floats", "a part of an array", "nothing", "unsigned"],
)
def test_a_column_is_that_of_pyarrow(values: np.ndarray) -> None:  # type: ignore[type-arg]
    assert str(column_of(values)) == str(pa.array(values))
    assert column_of(values).type == pa.array(values).type
