"""The same table, policy, seed and secret give the bytes that the command line writes: every method, every kind of frame."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow.csv
import pytest

import throng
from conftest import SECRET

QUASI = """
[attribute.age]
role = "quasi"
[attribute.workclass]
role = "quasi"
[attribute.education]
role = "quasi"
[attribute.sex]
role = "quasi"
[attribute.race]
role = "{race}"
[attribute.salary-class]
role = "{salary}"
"""
ASKED = {
    "accuracy": "max_loss = 0.6",
    "accuracy-search": "max_loss = 0.6",
    "anatomy": "l = 1.2",
    "exact": "k = 3",
}
ROWS = {"exact": 30}
READERS: dict[str, Any] = {"polars": pl.read_csv, "pandas": pd.read_csv, "pyarrow": pyarrow.csv.read_csv}
# What has types has those of the frame, and polars has others than Parquet: recipients see the same cells.
RECIPIENTS: dict[str, Any] = {
    "csv.gz": lambda path: gzip.decompress(path.read_bytes()),
    "parquet": lambda path: pl.read_parquet(path).rows(),
    "arrow": lambda path: pl.read_ipc(path).rows(),
    "arrows": lambda path: pl.read_ipc_stream(path).rows(),
}
METHODS = [method.name for method in throng.methods()]


def policy_of(method: str) -> str:
    salary = "sensitive" if method == "anatomy" else "class"
    return f"[privacy]\n{ASKED.get(method, 'k = 5')}\n" + QUASI.format(salary=salary, race="other")


@pytest.fixture(scope="module")
def tables(adult: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("tables")
    columns = ["age", "workclass", "education", "sex", "race", "salary-class"]
    frame = pl.read_csv(adult).select(columns)
    (folder / "secret").write_bytes(SECRET)

    def table(method: str) -> Path:
        path = folder / f"{ROWS.get(method, 200)}.csv"
        if not path.exists():
            frame.head(ROWS.get(method, 200)).write_csv(path)
        return path

    return table


@pytest.mark.parametrize("method", METHODS)
def test_every_method_from_every_frame(method: str, tables: Any, command: Any, tmp_path: Path) -> None:
    path = tables(method)
    (tmp_path / "policy.toml").write_text(policy_of(method))
    done = command(
        "anonymize", path, "--policy", tmp_path / "policy.toml", "-o", tmp_path / "cli.csv",
        "--method", method, "--seed", 7, "--secret", path.parent / "secret", "--quiet",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    policy = throng.Policy.parse(policy_of(method))
    for name, read in READERS.items():
        result = throng.anonymize(read(path), policy, method=method, seed=7, secret=SECRET)
        result.write(tmp_path / f"{name}.csv")
        assert (tmp_path / f"{name}.csv").read_bytes() == (tmp_path / "cli.csv").read_bytes(), name
        beside = tmp_path / "cli.sensitive.csv"
        if beside.exists():
            assert (tmp_path / f"{name}.sensitive.csv").read_bytes() == beside.read_bytes(), name


@pytest.mark.parametrize("ending", ["csv", "tsv", "csv.gz", "parquet", "arrow", "arrows", "jsonl"])
def test_every_format_reads_as_the_file_of_the_command_line(
    ending: str, tables: Any, command: Any, tmp_path: Path
) -> None:
    path = tables("mondrian")
    parquet = tmp_path / "table.parquet"
    pl.read_csv(path).write_parquet(parquet)
    (tmp_path / "policy.toml").write_text(policy_of("mondrian"))
    done = command(
        "anonymize", parquet, "--policy", tmp_path / "policy.toml", "-o", tmp_path / f"cli.{ending}",
        "--method", "mondrian", "--seed", 7, "--secret", path.parent / "secret", "--quiet",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    policy = throng.Policy.parse(policy_of("mondrian"))
    release = throng.anonymize(pl.read_csv(path), policy, method="mondrian", seed=7, secret=SECRET).release
    release.write(tmp_path / f"python.{ending}")
    read = RECIPIENTS.get(ending, Path.read_bytes)
    assert read(tmp_path / f"python.{ending}") == read(tmp_path / f"cli.{ending}")


@pytest.mark.parametrize("publish", ["cells", "bounds", "permutation"])
def test_every_way_to_publish(publish: str, tables: Any, command: Any, tmp_path: Path) -> None:
    path, text = tables("mondrian"), policy_of("anatomy")
    (tmp_path / "policy.toml").write_text(text)
    done = command(
        "anonymize", path, "--policy", tmp_path / "policy.toml", "-o", tmp_path / "cli.csv", "--publish", publish,
        "--method", "mondrian", "--seed", 7, "--secret", path.parent / "secret", "--quiet",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    policy = throng.Policy.parse(text)
    result = throng.anonymize(pl.read_csv(path), policy, method="mondrian", seed=7, secret=SECRET, publish=publish)
    result.write(tmp_path / "python.csv")
    for ending in ["csv", "sensitive.csv"] if publish == "permutation" else ["csv"]:
        assert (tmp_path / f"python.{ending}").read_bytes() == (tmp_path / f"cli.{ending}").read_bytes()
