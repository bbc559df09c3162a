"""Tables in and out."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Mapping, Protocol, Sequence, Union

from . import _throng
from ._errors import DataError

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow


class _Stream(Protocol):
    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...


class _Array(Protocol):
    def __arrow_c_array__(self, requested_schema: Any = None) -> Any: ...


Tabular = Union[_Stream, _Array, Mapping[str, Sequence[Any]], str, "os.PathLike[str]"]
"""What may be given as a table."""


def given(table: Any) -> _throng.Given:
    """A table as the extension module takes it."""
    if isinstance(table, (str, os.PathLike)):
        return os.fspath(table), None
    if isinstance(table, Release):
        return None, table._own
    if isinstance(table, Mapping):
        return None, dict(table)
    if type(table).__module__.partition(".")[0] == "pandas":
        return None, _pandas(table)
    if hasattr(table, "__arrow_c_stream__") or hasattr(table, "__arrow_c_array__"):
        return None, table
    raise DataError(
        f"a table cannot be an object of type {type(table).__name__}",
        code="unreadable-type",
        hint="give a frame of polars or pandas, a table of pyarrow, a relation of DuckDB, a dict of lists, or a path",
    )


def _pandas(frame: Any) -> Any:
    """A frame whose index is a column only if it has a name: the numbers of rows are no data."""
    if not hasattr(frame, "columns"):
        raise DataError(
            f"a table cannot be an object of type {type(frame).__name__}",
            code="unreadable-type",
            hint="give a DataFrame: series.to_frame()",
        )
    names = [str(name) for name in frame.columns]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise DataError(
            f'two columns of the table are called "{twice[0]}"',
            code="duplicate-column",
            hint="rename one of them",
        )
    unnamed = all(name is None for name in frame.index.names)
    return frame.reset_index(drop=True) if unnamed else frame.reset_index()


class Release:
    """A table that may be published. It speaks Arrow (``__arrow_c_stream__``), so most packages take it as it is.

    >>> import throng
    >>> policy = throng.Policy(k=2, quasi=["age"])
    >>> release = throng.anonymize({"age": [31, 34, 56, 58]}, policy, method="mondrian", order="keep").release
    >>> release
    Release(rows=4, columns=['age'])
    >>> release.to_dict()
    {'age': ['[31-34]', '[31-34]', '[56-58]', '[56-58]']}
    """

    __slots__ = ("_own",)

    def __init__(self, own: _throng.Table) -> None:
        self._own = own

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._own.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> Any:
        return self._own.__arrow_c_schema__()

    def __len__(self) -> int:
        return self._own.rows

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return self._own.names()

    @property
    def schema(self) -> dict[str, str]:
        """The Arrow type of each column, in words."""
        return dict(self._own.columns())

    def to_polars(self) -> polars.DataFrame:
        """A frame of polars."""
        import polars

        return polars.DataFrame(self)

    def to_pandas(self) -> pandas.DataFrame:
        """A frame of pandas."""
        import pandas

        if hasattr(pandas.DataFrame, "from_arrow"):
            frame: pandas.DataFrame = pandas.DataFrame.from_arrow(self)
            return frame
        table: pandas.DataFrame = self.to_pyarrow().to_pandas()
        return table

    def to_pyarrow(self) -> pyarrow.Table:
        """A table of pyarrow."""
        import pyarrow

        return pyarrow.table(self)

    def to_dict(self) -> dict[str, list[Any]]:
        """Columns as lists. Needs no other package."""
        return dict(self._own.lists())

    def write(self, path: str | os.PathLike[str], *, escape_formulas: bool | None = None) -> Path:
        """Writes a file in the format that its name tells: CSV, TSV, Parquet, Arrow, JSON Lines, each with ``.gz`` and ``.zst``
        too. The bytes are those that the command line writes. The file appears complete or not at all. `escape_formulas` puts
        a ``'`` before cells of CSV and TSV that a spreadsheet would run; None does as the run was told."""
        self._own.write(os.fspath(path), escape_formulas)
        return Path(path)

    def __repr__(self) -> str:
        return f"Release(rows={len(self)}, columns={self.columns!r})"

    def __reduce__(self) -> Any:
        return Release, (self._own,)
