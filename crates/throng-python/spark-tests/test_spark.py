"""throng.spark on a real cluster: the release of one machine, clean exceptions, and executors that are killed."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

import pyarrow.csv
import pyarrow.parquet
import pytest

import bench_spark
import throng
import throng.spark
from conftest import REPOSITORY, SECRET

POLICY = """
[privacy]
k = 10
[method]
name = "{method}"
seed = 7
[data]
missing = ["?"]
unlisted = "drop"
[attribute.age]
role = "quasi"
kind = "numeric"
[attribute.workclass]
role = "quasi"
[attribute.education]
role = "quasi"
hierarchy = "hierarchies/education.csv"
[attribute.sex]
role = "quasi"
[attribute.race]
role = "other"
[attribute.hours-per-week]
role = "other"
[attribute.salary-class]
role = "class"
"""


def policy_of(method: str = "mondrian") -> throng.Policy:
    return throng.Policy.parse(POLICY.format(method=method), REPOSITORY / "data" / "policy.toml")


@pytest.fixture(scope="module")
def parquet(adult: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample as one machine and a cluster both read it, with some cells missing and a date."""
    path = tmp_path_factory.mktemp("table") / "adult.parquet"
    options = pyarrow.csv.ConvertOptions(null_values=["?"], strings_can_be_null=True)
    pyarrow.parquet.write_table(pyarrow.csv.read_csv(adult, convert_options=options), path)
    return path


def on_one_machine(table: Path, policy: throng.Policy, parts: int, folder: Path) -> tuple[list[Any], throng.Run]:
    output = folder / "one-machine.parquet"
    written = throng.anonymize(table, policy, output=output, parts=parts, memory="1GiB", secret=SECRET)
    release = pyarrow.parquet.read_table(output)
    return list(zip(*(column.to_pylist() for column in release.columns))), written.report


def rows_of(frame: Any) -> list[Any]:
    return [tuple(row) for row in frame.collect()]


@pytest.mark.parametrize("method, parts", [("mondrian", 4), ("hilbert", 2)])
def test_the_release_is_that_of_one_machine(method: str, parts: int, spark: Any, parquet: Path, tmp_path: Path) -> None:
    policy = policy_of(method)
    expected, report = on_one_machine(parquet, policy, parts, tmp_path)
    frame = spark.read.parquet(str(parquet)).repartition(5)
    result = throng.spark.anonymize(frame, policy, parts=parts, secret=SECRET)
    # Rows come in the order of their lots there too.
    assert rows_of(result.release) == expected
    own, other = result.report.to_dict(), report.to_dict()
    assert own["parts"]["parts"] == other["parts"]["parts"] and own["parts"]["parts"][0] == parts
    for key in ("k", "gcp", "ncp", "classes", "class_sizes", "requirements", "published_as_is", "rows_published", "examples"):
        assert own[key] == other[key], key
    kinds = dict(result.release.dtypes)
    assert kinds["age"] == "string" and kinds["hours-per-week"] == dict(frame.dtypes)["hours-per-week"]
    assert result.report.holds and "on a cluster" in str(result.report)


def test_partitions_and_the_order_of_rows_decide_nothing(spark: Any, parquet: Path) -> None:
    frame = spark.read.parquet(str(parquet)).limit(600)
    rows = frame.toArrow()
    runs = [spark.createDataFrame(rows.slice(0)).coalesce(1), spark.createDataFrame(rows.take(list(range(599, -1, -1)))).repartition(3, "age")]
    first, second = (rows_of(throng.spark.anonymize(one, policy_of(), parts=2, secret=SECRET).release) for one in runs)
    assert first == second and len(first) == 600


@pytest.mark.parametrize(
    "change, kind, code",
    [
        (("attribute.age", "attribute.agee"), throng.DataError, "unknown-column"),
        (("{method}", "refine"), throng.ThrongError, "bad-usage"),
        (("k = 10", "k = 10000000"), throng.RequirementError, "k-exceeds-table"),
        (('unlisted = "drop"', 'unlisted = "refuse"'), throng.DataError, "unlisted-column"),
        (('kind = "numeric"', 'kind = "numeric"\nweight = -1'), throng.PolicyError, "bad-value"),
        # Found on an executor, or on the driver after executors have looked at all rows.
        (('[attribute.sex]\nrole = "quasi"', '[attribute.sex]\nrole = "quasi"\nhierarchy = {{ all = ["Male"] }}'), throng.DataError, "hierarchy-leaf-missing"),
    ],
)
def test_a_mistake_is_one_clean_exception(
    change: tuple[str, str], kind: type[throng.ThrongError], code: str, spark: Any, parquet: Path
) -> None:
    frame = spark.read.parquet(str(parquet)).limit(500)
    text = POLICY.replace(*change).format(method="mondrian")
    with pytest.raises(kind) as caught:
        policy = throng.Policy.parse(text, REPOSITORY / "data" / "policy.toml")
        throng.spark.anonymize(frame, policy, parts=2)
    told = str(caught.value)
    assert caught.value.code == code and len(told.splitlines()) < 12, told
    assert "java" not in told.lower() and "Traceback" not in told
    assert caught.value.__cause__ is None


def test_what_an_executor_meets_is_one_clean_exception(spark: Any) -> None:
    frame = spark.range(100).selectExpr("id as age", "array(id) as list")
    policy = throng.Policy(k=5, quasi=["age"], other=["list"])
    with pytest.raises(throng.DataError) as caught:
        throng.spark.anonymize(frame, policy)
    assert caught.value.code == "nested-value" and caught.value.place.attribute == "list"
    assert "java" not in str(caught.value).lower()
    with pytest.raises(throng.DataError, match="PySpark"):
        throng.spark.anonymize({"age": [1]}, policy)
    with pytest.raises(throng.ThrongError, match="no number of parts"):
        throng.spark.anonymize(frame, policy, parts=0)


def test_a_table_that_changes_is_refused(spark: Any) -> None:
    from pyspark.sql import functions as F

    drawn = F.udf(lambda _: random.randrange(50), "int", useArrow=False).asNondeterministic()
    frame = spark.range(400).select(drawn("id").alias("age"))
    with pytest.raises(throng.ThrongError) as caught:
        throng.spark.anonymize(frame, throng.Policy(k=5, quasi=["age"], seed=1), parts=2)
    assert caught.value.code == "table-changed"


def test_many_rows_on_two_executors(spark: Any, tmp_path: Path) -> None:
    """A small run of `bench_spark.py`, which does the same with a million rows."""
    path = tmp_path / "table"
    bench_spark.table(spark, 40_000).write.parquet(str(path))
    for extra in path.glob("_*"):
        extra.unlink()
    rules = bench_spark.policy("mondrian", 10)
    expected, report = on_one_machine(path, rules, 8, tmp_path)
    result = throng.spark.anonymize(spark.read.parquet(str(path)), rules, parts=8, secret=SECRET)
    assert rows_of(result.release) == expected and len(expected) == 40_000
    assert result.report.gcp == report.gcp


def executors() -> list[int]:
    """Processes of executors that this process started."""
    found = subprocess.run(["ps", "-wweo", "pid,ppid,args"], capture_output=True, text=True, check=True).stdout
    rows = [line.split(None, 2) for line in found.splitlines()[1:]]
    children: dict[int, list[int]] = {}
    for pid, parent, _ in rows:
        children.setdefault(int(parent), []).append(int(pid))
    below, waiting = set(), [os.getpid()]
    while waiting:
        for child in children.get(waiting.pop(), []):
            below.add(child)
            waiting.append(child)
    return [int(pid) for pid, _, words in rows if int(pid) in below and "CoarseGrainedExecutorBackend" in words]


def test_an_executor_that_is_killed_changes_nothing(spark: Any, parquet: Path, tmp_path: Path) -> None:
    policy = policy_of("hilbert")
    expected, _ = on_one_machine(parquet, policy, 4, tmp_path)
    before = executors()
    assert len(before) == 2, before
    killed: list[int] = []
    solving = tmp_path / "solving"

    def kill() -> None:
        limit = time.time() + 60
        while time.time() < limit and not solving.exists():
            time.sleep(0.02)
        os.kill(before[0], signal.SIGKILL)
        killed.append(before[0])

    # The moment is told from within: the first task that solves a part says so, and waits a little.
    original = throng.spark._solver

    def slow(shared: Any, order: bytes) -> Any:
        solve, mark = original(shared, order), str(solving)

        def solve_slowly(key: Any, table: Any) -> Any:
            Path(mark).touch()
            time.sleep(1.0)
            return solve(key, table)

        return solve_slowly

    killer = threading.Thread(target=kill)
    killer.start()
    throng.spark._solver = slow
    try:
        result = throng.spark.anonymize(spark.read.parquet(str(parquet)).repartition(4), policy, parts=4, secret=SECRET)
    finally:
        throng.spark._solver = original
        killer.join()
    assert killed and killed[0] not in executors()
    assert rows_of(result.release) == expected


def test_the_example_runs(parquet: Path, tmp_path: Path) -> None:
    """As a user submits it, to a cluster of its own."""
    import pyspark

    submit = Path(pyspark.__file__).parent / "bin" / "spark-submit"
    script = REPOSITORY / "crates" / "throng-python" / "examples" / "release_on_spark.py"
    words = [str(submit), "--master", "local[2]", "--conf", "spark.ui.enabled=false", str(script)]
    some = tmp_path / "some.parquet"
    pyarrow.parquet.write_table(pyarrow.parquet.read_table(parquet).slice(0, 800), some)
    words += [str(some), str(REPOSITORY / "data" / "adult.toml"), str(tmp_path / "release"), "--parts", "2"]
    done = subprocess.run(words, capture_output=True, text=True, check=False, env={**os.environ})
    assert done.returncode == 0, done.stderr[-3000:]
    assert "The requirement is met" in done.stdout
    assert pyarrow.parquet.read_table(tmp_path / "release").num_rows == 800
    assert (tmp_path / "release.report.html").exists()
