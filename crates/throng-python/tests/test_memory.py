"""Files to files within a limit on memory: the bytes of the command line, and no release where one is refused."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import throng
from conftest import SECRET

POLICY = """
[privacy]
k = 5
[method]
name = "mondrian"
seed = 7
[attribute.age]
role = "quasi"
[attribute.education]
role = "quasi"
[attribute.sex]
role = "quasi"
[attribute.race]
role = "other"
[attribute.salary-class]
role = "class"
"""


@pytest.fixture(scope="module")
def folder(adult: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table as one file, as two, and as a folder of Parquet."""
    made = tmp_path_factory.mktemp("memory")
    frame = pl.read_csv(adult).select("age", "education", "sex", "race", "salary-class").head(2000)
    frame.write_csv(made / "table.csv")
    frame.head(700).write_csv(made / "part-1.csv")
    frame.tail(1300).write_csv(made / "part-2.csv")
    (made / "parquet").mkdir()
    frame.head(900).write_parquet(made / "parquet" / "a.parquet")
    frame.tail(1100).write_parquet(made / "parquet" / "b.parquet")
    (made / "policy.toml").write_text(POLICY)
    (made / "secret").write_bytes(SECRET)
    return made


def by_command(command: Any, folder: Path, output: Path, *arguments: object) -> None:
    options = ["--policy", folder / "policy.toml", "-o", output, "--secret", folder / "secret", "--quiet"]
    done = command("anonymize", *arguments, *options)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("names", [["table.csv"], ["part-1.csv", "part-2.csv"], ["part-*.csv"], ["parquet"]])
@pytest.mark.parametrize("parts", [1, 4])
def test_the_bytes_are_those_of_the_command_line(
    names: list[str], parts: int, folder: Path, command: Any, tmp_path: Path
) -> None:
    files = [folder / name for name in names]
    by_command(command, folder, tmp_path / "cli.csv", *files, "--memory", "256MiB", "--parts", parts)
    policy = throng.Policy.read(folder / "policy.toml")
    table: Any = files if len(files) > 1 else files[0]
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    written = throng.anonymize(
        table, policy, output=tmp_path / "python.csv", memory="256MiB", parts=parts, scratch=scratch, secret=SECRET
    )
    assert (tmp_path / "python.csv").read_bytes() == (tmp_path / "cli.csv").read_bytes()
    assert written.path == tmp_path / "python.csv" and written.report.k >= 5
    assert written.report.to_dict()["parts"]["parts"][0] == parts
    assert not list(scratch.iterdir())
    again = pickle.loads(pickle.dumps(written))
    assert again.path == written.path and again.report.k == written.report.k


def test_a_release_may_be_a_folder(folder: Path, command: Any, tmp_path: Path) -> None:
    by_command(command, folder, Path(f"{tmp_path}/cli.csv"), folder / "table.csv", "--parts", 2)
    policy = throng.Policy.read(folder / "policy.toml")
    output = f"{tmp_path}/python.csv/"
    throng.anonymize(folder / "table.csv", policy, output=output, parts=2, secret=SECRET)
    frames = [pl.read_csv(path) for path in sorted(Path(output).iterdir())]
    assert pl.concat(frames).rows() == pl.read_csv(tmp_path / "cli.csv").rows()


def test_a_file_to_a_file_without_a_limit(folder: Path, command: Any, tmp_path: Path) -> None:
    by_command(command, folder, tmp_path / "cli.csv", folder / "table.csv")
    policy = throng.Policy.read(folder / "policy.toml")
    written = throng.anonymize(str(folder / "table.csv"), policy, output=tmp_path / "python.csv", secret=SECRET)
    assert (tmp_path / "python.csv").read_bytes() == (tmp_path / "cli.csv").read_bytes()
    assert "parts" not in written.report.to_dict() and written.recipe is None and written.sensitive is None


@pytest.mark.parametrize("limit", [{"memory": "1GiB"}, {"memory": 1 << 30}, {"parts": 2}, {"scratch": "."}])
def test_a_limit_needs_a_file_for_the_release(limit: dict[str, Any], folder: Path) -> None:
    policy = throng.Policy.read(folder / "policy.toml")
    with pytest.raises(throng.ThrongError, match="needs a file for the release") as caught:
        throng.anonymize(folder / "table.csv", policy, **limit)
    assert caught.value.place.argument == next(iter(limit)) and "output=" in str(caught.value.hint)


def test_a_limit_of_the_policy_is_not_passed_over(folder: Path, tmp_path: Path) -> None:
    policy = throng.Policy.parse(POLICY + '\n[run]\nmemory = "256MiB"\n')
    with pytest.raises(throng.ThrongError, match="needs a file"):
        throng.anonymize(folder / "table.csv", policy)
    written = throng.anonymize(folder / "table.csv", policy, output=tmp_path / "release.csv")
    assert written.report.to_dict()["parts"]["memory"] == 256 << 20


@pytest.mark.parametrize("table", ["parquet", "part-*.csv", ["part-1.csv", "part-2.csv"]])
def test_several_files_need_a_file_for_the_release(table: Any, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    with pytest.raises(throng.ThrongError, match="several files"):
        throng.anonymize(table, throng.Policy.read("policy.toml"))


def test_what_is_refused_leaves_nothing(folder: Path, tmp_path: Path) -> None:
    policy = throng.Policy.read(folder / "policy.toml")
    refused: list[tuple[dict[str, Any], str]] = [
        ({"order": "keep", "memory": "1GiB"}, 'order="keep"'),
        ({"method": "refine", "memory": "1GiB"}, "as a whole"),
        ({"memory": "so much"}, "no size of memory"),
        ({"memory": True}, "no size"),
        ({"parts": 0}, "no number of parts"),
        ({"k": 5000, "memory": "1GiB"}, "k"),
    ]
    for arguments, words in refused:
        with pytest.raises(throng.ThrongError, match=words):
            throng.anonymize(folder / "table.csv", policy, output=tmp_path / "release.csv", **arguments)
        assert not list(tmp_path.iterdir()), arguments
    with pytest.raises(throng.ThrongError, match="in memory already"):
        throng.anonymize(pl.read_csv(folder / "table.csv"), policy, output=tmp_path / "release.csv")  # type: ignore[call-overload]
