"""A table of a million rows on two executors of this machine, beside one machine alone:

    python crates/throng-python/bench_spark.py --rows 1000000 --parts 16

prints seconds, rounds, loss and bytes handed between steps, and whether both releases are the same, row for row. It needs a Java of
version 17 or newer and an environment with this package and `spark-tests/requirements.txt`. Executors are processes
of their own with a core each; rows are drawn like those of a register, by a rule that needs no data set.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import throng
import throng.spark

SECRET = b"a secret of the benchmark, known"
COLUMNS = [
    "cast(18 + pmod(xxhash64(id, 1), 30) + pmod(xxhash64(id, 2), 45) as int) as age",
    "cast(10000 + pmod(xxhash64(id, 3), 40) * pmod(xxhash64(id, 4), 25) as string) as zip",
    "if(pmod(xxhash64(id, 5), 100) < 49, 'm', 'f') as sex",
    "concat('job', least(pmod(xxhash64(id, 6), 60), pmod(xxhash64(id, 7), 60))) as job",
    "cast(pmod(xxhash64(id, 8), 16) as int) as education",
    "concat('country', least(pmod(xxhash64(id, 9), 40), pmod(xxhash64(id, 10), 90))) as country",
    "concat('ill', least(pmod(xxhash64(id, 11), 30), pmod(xxhash64(id, 12), 30))) as illness",
    "cast(pmod(xxhash64(id, 13), 1000) / 10.0 as double) as measured",
    "date_add(date'2020-01-01', cast(pmod(xxhash64(id, 14), 900) as int)) as seen",
]


def policy(method: str, k: int) -> throng.Policy:
    """People by six quasi-identifiers."""
    return throng.Policy(
        k=k,
        method=method,
        seed=7,
        quasi=["age", "zip", "sex", "job", "education", "country"],
        sensitive=["illness"],
        other=["measured", "seen"],
    )


def table(spark: Any, rows: int) -> Any:
    """A table of so many rows, the same whenever it is made."""
    return spark.range(rows, numPartitions=8).selectExpr(*COLUMNS)


def cluster(executors: int, memory: int) -> Any:
    """Executors of one core each on this machine, with so many MiB; everything stays on it."""
    from pyspark.sql import SparkSession

    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    builder = SparkSession.builder.master(f"local-cluster[{executors},1,{memory}]").appName("throng benchmark")
    settings = {
        "spark.ui.enabled": "false",
        "spark.executor.memory": f"{memory * 5 // 8}m",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "16",
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    return spark


def main() -> int:
    given = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    given.add_argument("--rows", type=int, default=1_000_000)
    given.add_argument("--parts", type=int, default=16)
    given.add_argument("--method", default="mondrian")
    given.add_argument("--k", type=int, default=10)
    given.add_argument("--executors", type=int, default=2)
    given.add_argument("--memory", type=int, default=2048, help="MiB of each executor")
    arguments = given.parse_args()
    spark = cluster(arguments.executors, arguments.memory)
    rules = policy(arguments.method, arguments.k)
    with tempfile.TemporaryDirectory(prefix="throng-spark-") as folder:
        path = Path(folder) / "table"
        table(spark, arguments.rows).write.parquet(str(path))
        for extra in path.glob("_*"):
            extra.unlink()
        start = time.perf_counter()
        result = throng.spark.anonymize(spark.read.parquet(str(path)), rules, parts=arguments.parts, secret=SECRET)
        seconds = time.perf_counter() - start
        start = time.perf_counter()
        output = Path(folder) / "release.parquet"
        one = throng.anonymize(path, rules, output=output, memory="2GiB", parts=arguments.parts, secret=SECRET)
        alone = time.perf_counter() - start
        same = _rows(result.release.toArrow()) == _rows(_read(output))
    figures = result.report.to_dict()
    told = {
        "rows": arguments.rows,
        "method": arguments.method,
        "k": figures["k"],
        "parts": figures["parts"]["parts"],
        "gcp": figures["gcp"],
        "gcp_one_machine": one.report.gcp,
        "seconds": round(seconds, 1),
        "seconds_of_steps": {name: round(own, 1) for name, own in figures["seconds"].items()},
        "seconds_one_machine": round(alone, 1),
        "bytes_between_steps": figures["parts"]["scratch_bytes"],
        "same_release": same,
    }
    print(json.dumps(told, indent=2))
    spark.stop()
    return 0 if same else 1


def _read(path: Path) -> Any:
    import pyarrow.parquet

    return pyarrow.parquet.read_table(path)


def _rows(release: Any) -> list[Any]:
    return list(zip(*(column.to_pylist() for column in release.columns)))


if __name__ == "__main__":
    sys.exit(main())
