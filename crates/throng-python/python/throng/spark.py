"""throng on a cluster of Apache Spark (PySpark 4): the release that one machine makes, from a table of any size.

    import throng
    import throng.spark

    result = throng.spark.anonymize(spark.read.parquet("claims"), policy, parts=64)
    result.release.write.parquet("release")
    print(result.report)

The table is looked at twice: for a sketch, and to deal its rows to parts. Parts are solved on the executors; what came out dearest
is cut elsewhere and solved again, until it fits into one part. The release is materialized, dealt by its published cells,
and audited before anybody gets it. ``docs/scale.md`` has the sizes to choose.

All executors need this package. Rows travel as compressed blocks of Arrow, a few large values in place of every row.
"""

from __future__ import annotations

import functools
import os
import pickle
from typing import TYPE_CHECKING, Any, Callable, Iterable, Iterator, Mapping

from . import _throng
from ._errors import DataError, ThrongError
from ._policy import Policy
from ._report import Run
from ._run import Secret, _bad, _checked, _secret

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["Result", "anonymize"]

_BLOCKS = "part int, block binary"
"""What travels between steps: a part and rows that go there; below zero a state, or an error."""
_ERROR = -1_000
_SLOTS = 32
"""States are merged on the executors until at most so many are left for the driver."""
_ROWS = 1 << 18
"""Rows that are looked at together."""
_BYTES = 1 << 26
"""Bytes of blocks that are handed to Spark together."""
_TRIES = 3

_Pair = tuple[int, bytes]
_Shared = Callable[[], bytes]


class Result:
    """A release on a cluster with what it achieves."""

    __slots__ = ("release", "report")

    release: DataFrame
    """What may be published: materialized and audited, its rows in the order of their lots. Quasi-identifiers, sensitive and class
    columns are texts; what is passed through keeps its type."""
    report: Run
    """What it achieves. For the holder of the table."""

    def __init__(self, release: DataFrame, report: Run) -> None:
        self.release, self.report = release, report

    def __repr__(self) -> str:
        return f"Result({self.release!r}, method={self.report.method!r}, k={self.report.k})"

    def _repr_html_(self) -> str:
        return self.report._repr_html_()


def anonymize(
    df: DataFrame,
    policy: Policy,
    *,
    parts: int | None = None,
    memory: str | int = "1GiB",
    method: str | None = None,
    k: int | None = None,
    l: float | None = None,
    seed: int | None = None,
    secret: Secret = None,
    options: Mapping[str, Any] | None = None,
) -> Result:
    """Turns a DataFrame into a release that meets a policy. It is the release that ``throng.anonymize`` and the command line make of
    the same rows with the same policy, `seed`, `secret` and number of `parts`; executors, partitions, retries and the order of
    rows decide nothing.

    `parts` is the number of parts that the table is solved in, in the first of several rounds. Without it there are as few as `memory` allows:
    what solving one part may take in a Python worker. More parts use more executors and lose a little more. `method`, `k`, `l`, `seed`
    and `options` take the place of the policy's; `secret` (bytes, or a file with them on the driver) repeats lots and the order of rows.

    Mistakes in policy and table are raised here, as one `ThrongError`, however far away they were found."""
    own = _checked(policy)
    if parts is not None and (isinstance(parts, bool) or not isinstance(parts, int) or parts < 1):
        raise _bad("parts", f"{parts!r} is no number of parts", "give a whole number from 1 on")
    if isinstance(memory, bool) or not isinstance(memory, (int, str)):
        raise _bad("memory", f"{memory!r} is no size", 'give a text such as "1GiB", or bytes')
    _check_frame(df)
    changes = {"method": method, "k": k, "l": l, "seed": seed, "options": dict(options or {}) or None}
    told = {**changes, "parts": parts, "memory": memory}
    overrides = [f"{name}={value!r}" for name, value in told.items() if value is not None]
    schema = df.limit(0).toArrow()
    key = None if secret is None else _secret(secret)
    driver = _throng.Driver(schema, own, changes, key, str(memory), parts, overrides)
    run = _Cluster(df, driver, schema.schema)
    try:
        return run.run()
    finally:
        run.forget()


def _check_frame(df: Any) -> None:
    if not (hasattr(df, "mapInArrow") and hasattr(df, "toArrow")):
        raise DataError(
            f"a table on a cluster cannot be an object of type {type(df).__name__}",
            code="unreadable-type",
            hint="give a DataFrame of PySpark 4 or newer; throng.anonymize takes other tables",
        )
    names = list(df.columns)
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise DataError(
            f'two columns of the table are called "{twice[0]}"', code="duplicate-column", hint="rename one of them"
        )


class _Cluster:
    """One run: what Spark is told, and when. What is decided, the driver of the extension module decides."""

    def __init__(self, df: DataFrame, driver: _throng.Driver, schema: Any) -> None:
        self._df, self._driver, self._schema = df, driver, schema
        self._spark: SparkSession = df.sparkSession
        self._held: list[Any] = []
        self._lot = "throng_lot"
        while self._lot in df.columns:
            self._lot += "_"

    def run(self) -> Result:
        from pyspark.sql import functions as F

        schema, shared = self._schema, self._share()
        sketches = self._df.mapInArrow(_over(lambda rows: _sketch(shared, schema, rows)), _BLOCKS)
        cuts = self._driver.sketched(self._states(sketches, "sketch"))
        shared = self._share()
        rows = self._keep(self._df.mapInArrow(_over(functools.partial(_deal, shared, schema, cuts)), _BLOCKS))
        kept: list[tuple[DataFrame, bytes]] = []
        while True:
            order, groups = self._driver.dealt(self._states(rows, "dealt"))
            if not kept:
                # Only now is it known what is required of the classes of a whole table.
                shared = self._share()
            group = F.get(F.lit(groups), F.col("part"))
            blocks = rows.where(F.col("part") >= 0).select(group.cast("int").alias("part"), "block")
            solved = self._keep(blocks.groupBy("part").applyInArrow(_solver(shared, order), _BLOCKS))
            limit, next_cuts = self._driver.solved(self._states(solved, "solved"))
            solved = solved.where(F.col("part") >= 0)
            kept.append((solved, limit))
            if next_cuts is None:
                break
            rows = self._keep(solved.mapInArrow(_over(functools.partial(_onward, shared, limit, next_cuts)), _BLOCKS))
        return self._published(shared, kept)

    def _published(self, shared: _Shared, kept: list[tuple[DataFrame, bytes]]) -> Result:
        schema = self._release_schema()
        some = [solved.mapInArrow(_publisher(shared, limit, self._lot), schema) for solved, limit in kept]
        whole = functools.reduce(lambda one, other: one.unionAll(other), some)
        whole = whole.orderBy(self._lot).drop(self._lot)
        for left in reversed(range(_TRIES)):
            try:
                # What is audited is what is handed out: it does not come from the table again.
                release = self._materialized(whole)
                return Result(release, self._audited(shared, release))
            except Exception as error:
                # The machine that held it may be lost; what it held is made again.
                if left == 0 or isinstance(error, ThrongError) or "heckpoint block" not in str(error):
                    raise
        raise AssertionError("unreachable")

    def _audited(self, shared: _Shared, release: DataFrame) -> Run:
        from pyspark.sql import functions as F

        parts = self._driver.audit_parts()
        rows = self._keep(release.mapInArrow(_over(functools.partial(_deal_release, shared, parts)), _BLOCKS))
        count = self._driver.released(self._states(rows, "released"))
        audits = rows.where(F.col("part") >= 0).groupBy("part").applyInArrow(_auditor(shared, count), _BLOCKS)
        found = sorted(_checked_rows(audits.collect()))
        return Run(self._driver.audited([findings for _, findings in found]))

    def _release_schema(self) -> Any:
        from pyspark.sql.types import LongType, StringType, StructField, StructType

        columns = _throng.Steps.decode(self._driver.shared()).columns()
        kinds = {field.name: field.dataType for field in self._df.schema.fields}
        fields = [StructField(name, kinds[name] if same else StringType()) for name, same in columns]
        return StructType([*fields, StructField(self._lot, LongType())])

    def _states(self, frame: DataFrame, kind: str) -> list[bytes]:
        from pyspark.sql import functions as F

        merged = frame.where(F.col("part") < 0).groupBy("part").applyInArrow(_merger(kind), _BLOCKS)
        return [state for _, state in _checked_rows(merged.collect())]

    def _keep(self, frame: DataFrame) -> DataFrame:
        from pyspark import StorageLevel

        kept = frame.persist(StorageLevel.MEMORY_AND_DISK)
        self._held.append(kept)
        return kept

    def _share(self) -> _Shared:
        """What all machines know: broadcast where the driver is here, along with every function where it is elsewhere."""
        bytes_ = self._driver.shared()
        if type(self._spark).__module__.startswith("pyspark.sql.connect"):
            return lambda: bytes_
        broadcast = self._spark.sparkContext.broadcast(bytes_)
        return lambda: broadcast.value

    def _materialized(self, frame: DataFrame) -> DataFrame:
        if self._spark.conf.get("spark.checkpoint.dir", None) or self._has_checkpoint_folder():
            return frame.checkpoint()
        return frame.localCheckpoint()

    def _has_checkpoint_folder(self) -> bool:
        if type(self._spark).__module__.startswith("pyspark.sql.connect"):
            return False
        return self._spark.sparkContext.getCheckpointDir() is not None

    def forget(self) -> None:
        """Lets go of what was kept between steps."""
        for frame in self._held:
            try:
                frame.unpersist()
            except Exception:  # The cluster may be gone, which the run has told.
                pass


def _checked_rows(rows: Iterable[Any]) -> list[_Pair]:
    """What executors sent; an error that one of them met is raised here."""
    found = [(int(row[0]), bytes(row[1])) for row in rows]
    for part, error in found:
        if part == _ERROR:
            raise pickle.loads(error)
    return found


# What runs on executors. pyarrow is there wherever PySpark runs these.


@functools.lru_cache(maxsize=2)
def _steps(shared: bytes) -> _throng.Steps:
    return _throng.Steps.decode(shared)


def _threads() -> int:
    from pyspark import TaskContext

    context = TaskContext.get()
    return max(1, context.cpus() if context is not None else os.cpu_count() or 1)


def _partition() -> int:
    from pyspark import TaskContext

    context = TaskContext.get()
    return 0 if context is None else context.partitionId()


def _slot(number: int) -> int:
    """Where a state waits to be merged."""
    return -1 - number % _SLOTS


def _table(pairs: list[_Pair]) -> Any:
    import pyarrow

    parts = pyarrow.array([part for part, _ in pairs], pyarrow.int32())
    blocks = pyarrow.array([block for _, block in pairs], pyarrow.binary())
    return pyarrow.table({"part": parts, "block": blocks})


def _batches(pairs: Iterable[_Pair]) -> Iterator[Any]:
    some: list[_Pair] = []
    size = 0
    for pair in pairs:
        some.append(pair)
        size += len(pair[1])
        if size >= _BYTES:
            yield from _table(some).to_batches()
            some, size = [], 0
    if some:
        yield from _table(some).to_batches()


def _over(task: Callable[[Iterator[Any]], Iterator[_Pair]]) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """A task over the rows of a partition. An error of ours is sent as a row, so that the driver raises it and nothing else."""

    def pairs(batches: Iterator[Any]) -> Iterator[_Pair]:
        try:
            yield from task(batches)
        except ThrongError as error:
            yield _ERROR, pickle.dumps(error)
            for _ in batches:
                pass

    def over(batches: Iterator[Any]) -> Iterator[Any]:
        return _batches(pairs(batches))

    return over


def _grouped(task: Callable[[int, list[bytes]], list[_Pair]]) -> Callable[[Any, Any], Any]:
    """A task over the blocks of a part."""

    def over(key: Any, table: Any) -> Any:
        part = key[0].as_py()
        try:
            return _table(task(part, table.column("block").to_pylist()))
        except ThrongError as error:
            return _table([(_ERROR, pickle.dumps(error))])

    return over


def _pieces(batches: Iterator[Any], schema: Any = None) -> Iterator[Any]:
    """Rows in tables of bounded size, with the types that the driver knows of."""
    import pyarrow

    some: list[Any] = []
    count = 0
    for batch in batches:
        some.append(batch)
        count += batch.num_rows
        if count >= _ROWS:
            yield _cast(pyarrow.Table.from_batches(some), schema)
            some, count = [], 0
    if count:
        yield _cast(pyarrow.Table.from_batches(some), schema)


def _cast(table: Any, schema: Any) -> Any:
    return table if schema is None or table.schema.equals(schema) else table.cast(schema)


def _sketch(shared: _Shared, schema: Any, batches: Iterator[Any]) -> Iterator[_Pair]:
    sketcher = _steps(shared()).sketcher()
    for piece in _pieces(batches, schema):
        sketcher.add(piece, _threads())
    yield _slot(_partition()), sketcher.finish()


def _deal(shared: _Shared, schema: Any, cuts: bytes, batches: Iterator[Any]) -> Iterator[_Pair]:
    dealer = _steps(shared()).dealer(cuts)
    for piece in _pieces(batches, schema):
        yield from dealer.deal(piece, _threads())
    yield _slot(_partition()), dealer.finish()


def _onward(shared: _Shared, limit: bytes, cuts: bytes, batches: Iterator[Any]) -> Iterator[_Pair]:
    onward = _steps(shared()).onward(limit, cuts)
    for blocks in _some_blocks(batches):
        yield from onward.deal(blocks, _threads())
    yield _slot(_partition()), onward.finish()


def _deal_release(shared: _Shared, parts: int, batches: Iterator[Any]) -> Iterator[_Pair]:
    dealer = _steps(shared()).audit_dealer(parts, _partition())
    for piece in _pieces(batches):
        yield from dealer.deal(piece, _threads())
    yield _slot(_partition()), dealer.finish()


def _some_blocks(batches: Iterator[Any]) -> Iterator[list[bytes]]:
    """Blocks, as many as are handled at once."""
    some: list[bytes] = []
    size = 0
    for batch in batches:
        for block in batch.column("block"):
            some.append(block.as_py())
            size += len(some[-1])
            if size >= _BYTES:
                yield some
                some, size = [], 0
    if some:
        yield some


def _solver(shared: _Shared, order: bytes) -> Callable[[Any, Any], Any]:
    def solve(part: int, blocks: list[bytes]) -> list[_Pair]:
        solved, state = _steps(shared()).solve(order, part, blocks, _threads())
        return [*((part, block) for block in solved), (_slot(part), state)]

    return _grouped(solve)


def _auditor(shared: _Shared, rows: int) -> Callable[[Any, Any], Any]:
    def audit(part: int, blocks: list[bytes]) -> list[_Pair]:
        return [(part, _steps(shared()).audit(blocks, rows, _threads()))]

    return _grouped(audit)


def _merger(kind: str) -> Callable[[Any, Any], Any]:
    def merge(slot: int, states: list[bytes]) -> list[_Pair]:
        return [(slot, states[0])] if slot == _ERROR else [(slot, _throng.merge(kind, states))]

    return _grouped(merge)


def _publisher(shared: _Shared, limit: bytes, lot: str) -> Callable[[Iterator[Any]], Iterator[Any]]:
    def publish(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow

        for blocks in _some_blocks(batches):
            yield from pyarrow.table(_steps(shared()).publish(limit, blocks, lot, _threads())).to_batches()

    return publish
