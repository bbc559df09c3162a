"""A release of a table on a cluster:

    spark-submit --conf spark.executor.memory=2g --conf spark.executor.memoryOverhead=2g \\
        release_on_spark.py claims.parquet policy.toml release --parts 64

reads a folder of Parquet, writes the release as another one, and the report, which is not to be published, beside it.
"""

from __future__ import annotations

import argparse
import sys

from pyspark.sql import SparkSession

import throng
import throng.spark


def main() -> int:
    arguments = argparse.ArgumentParser(description="Publish a table about people safely, on a cluster.")
    arguments.add_argument("table", help="a folder of Parquet")
    arguments.add_argument("policy", help="the policy, a file of the driver")
    arguments.add_argument("release", help="where the release is written; must not be there yet")
    arguments.add_argument("--parts", type=int, help="parts that are solved at once; as few as memory allows by default")
    arguments.add_argument("--memory", default="1GiB", help="what solving a part may take")
    given = arguments.parse_args()
    spark = SparkSession.builder.appName("throng").getOrCreate()
    try:
        policy = throng.Policy.read(given.policy)
        table = spark.read.parquet(given.table)
        result = throng.spark.anonymize(table, policy, parts=given.parts, memory=given.memory)
    except throng.ThrongError as error:
        print(error, file=sys.stderr)
        return 1 if isinstance(error, throng.RequirementError) else 2
    result.release.write.parquet(given.release)
    result.report.save(f"{given.release}.report.html")
    print(result.report)
    return 0


if __name__ == "__main__":
    sys.exit(main())
