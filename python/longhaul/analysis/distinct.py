"""Different values, without what a short simulation need not import."""

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Number = TypeVar("Number", bound=np.number[Any])


def distinct(values: NDArray[Number]) -> NDArray[Number]:
    """Each of ``values``, none of which is NaN, once and in ascending order.

    :func:`numpy.unique` does the same after importing ``numpy.ma``, to see whether ``values`` are masked.
    """
    ascending = np.sort(values)
    is_new = np.ones(len(ascending), dtype=bool)
    is_new[1:] = ascending[1:] != ascending[:-1]
    return ascending[is_new]
