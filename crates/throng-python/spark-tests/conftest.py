"""A cluster on this machine: two executors in processes of their own, with a real shuffle between them."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any, Iterator

import pytest

REPOSITORY = Path(__file__).resolve().parents[3]
SECRET = b"a secret of the tests, 32 bytes."

sys.path.insert(0, str(REPOSITORY / "crates" / "throng-python"))

# Everything stays on this machine.
os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master("local-cluster[2,1,1024]")
        .appName("throng tests")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "4")
        .config("spark.executor.memory", "640m")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.sql.session.timeZone", "UTC")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@pytest.fixture(scope="session")
def adult() -> Path:
    """The bundled sample."""
    return REPOSITORY / "data" / "adult-sample.csv"
