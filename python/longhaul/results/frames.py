"""Tables of results as data frames of pandas and polars, which users install themselves."""

from typing import TYPE_CHECKING, Any, Literal

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError

if TYPE_CHECKING:
    import pyarrow as pa

Library = Literal["pandas", "polars"]


def frame(table: "pa.Table", library: Library = "pandas") -> Any:
    """A ``pandas.DataFrame`` or a ``polars.DataFrame`` with the columns of ``table``.

    Whole numbers stay whole where values are missing: in pandas they are ``Int64`` and ``UInt64``. Raises
    LonghaulError if the library is not installed.
    """
    if library not in ("pandas", "polars"):
        raise ValueError(f'{library!r} is not a library of frames: name "pandas" or "polars"')
    try:
        if library == "polars":
            import polars

            return polars.from_arrow(table)
        import pandas
        import pyarrow as pa
    except ImportError as error:
        raise LonghaulError(
            Code.NOT_INSTALLED,
            f"{library} is not installed",
            remedy=f'pip install "longhaul[{library}]"',
            exit_code=3,
        ) from error
    whole: dict[pa.DataType, Any] = {pa.int64(): pandas.Int64Dtype(), pa.uint64(): pandas.UInt64Dtype()}

    def mapped(kind: pa.DataType) -> Any:
        return whole.get(kind)

    return table.to_pandas(types_mapper=mapped)
