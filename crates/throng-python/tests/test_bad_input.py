"""What is not a table, not a policy, or cannot be met: the exception, its code and its words."""

from __future__ import annotations

from typing import Any, Callable

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import throng

AGES = throng.Policy(k=2, quasi=["age"])


def broken_text() -> pa.Table:
    text = pa.StringArray.from_buffers(2, pa.py_buffer(b"\0\0\0\0\1\0\0\0\2\0\0\0"), pa.py_buffer(b"\xff\xfe"))
    return pa.table({"age": text})


def failing() -> pa.RecordBatchReader:
    def batches() -> Any:
        yield pa.record_batch({"age": [31, 34]})
        raise RuntimeError("the source is gone")

    return pa.RecordBatchReader.from_batches(pa.schema([("age", pa.int64())]), batches())


def spent() -> Any:
    """A stream that was read already."""

    class Once:
        capsule = pa.table({"age": [31, 34]}).__arrow_c_stream__()

        def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
            return self.capsule

    once = Once()
    assert throng.anonymize(once, AGES).report.k == 2
    return once


def twice() -> pd.DataFrame:
    return pd.DataFrame([[1, 2]], columns=["age", "age"])


TABLES: list[tuple[str, Callable[[], Any], str, str]] = [
    ("a number", lambda: 7, "unreadable-type", "type int"),
    ("None", lambda: None, "unreadable-type", "type NoneType"),
    ("a list", lambda: [1, 2], "unreadable-type", "type list"),
    ("a series", lambda: pd.Series([1, 2]), "unreadable-type", "Series"),
    ("an empty dict", dict, "empty-table", "no columns"),
    ("a dict of a text", lambda: {"age": "31"}, "unreadable-type", "no list but str"),
    ("a dict of a number", lambda: {"age": 31}, "unreadable-type", "no list but int"),
    ("a name that is no text", lambda: {1: [31]}, "unreadable-type", "not a text"),
    ("a ragged dict", lambda: {"age": [1, 2], "sex": ["f"]}, "wrong-cell-count", '"sex" has 1 cells, "age" has 2'),
    ("mixed cells", lambda: {"age": [31, "old"]}, "unreadable-type", "type str does not fit"),
    ("cells of objects", lambda: {"age": [object()]}, "unreadable-type", "type object"),
    ("a number that is too large", lambda: {"age": [10**30]}, "unreadable-type", "type int does not fit"),
    ("a text of half a letter", lambda: {"age": ["\ud800"]}, "not-utf8", "not UTF-8"),
    ("texts that are not UTF-8", broken_text, "not-utf8", "not UTF-8"),
    ("a frame of two types", lambda: pd.DataFrame({"age": [1, "x"]}), "unreadable-type", "could not give its table"),
    ("a stream that fails", failing, "unreadable-file", "could not be read to its end"),
    ("a spent stream", spent, "unreadable-type", "could not give its table"),
    ("two columns of a name", twice, "duplicate-column", '"age"'),
    ("two columns of a name in pyarrow", lambda: pa.table([[1, 2], [3, 4]], names=["age", "age"]), "duplicate-column", '"age"'),
    ("no such column", lambda: {"agee": [31, 34]}, "unknown-column", '"age"'),
    ("one column more", lambda: {"age": [31, 34], "name": ["Ada", "Ben"]}, "unlisted-column", '"name"'),
    ("lists as quasi-identifiers", lambda: pl.DataFrame({"age": [[1], [2]]}), "unreadable-type", "List"),
    ("no such file", lambda: "/no/such/file.csv", "file-not-found", "cannot read"),
]  # fmt: skip


@pytest.mark.parametrize(("table", "code", "words"), [row[1:] for row in TABLES], ids=[row[0] for row in TABLES])
def test_tables(table: Callable[[], Any], code: str, words: str) -> None:
    with pytest.raises(throng.DataError) as caught:
        throng.anonymize(table(), AGES)
    error = caught.value
    assert error.code == code, error
    assert words in str(error)
    assert isinstance(error, ValueError)


POLICIES: list[tuple[str, Callable[[], Any], str, str | None, str]] = [
    ("k = 0", lambda: throng.Policy(k=0, quasi=["age"]), "bad-value", "k", ""),
    ("k of a text", lambda: throng.Policy(k="many", quasi=["age"]), "wrong-type", "k", ""),  # type: ignore[arg-type]
    ("nothing asked", lambda: throng.Policy(quasi=["age"]), "nothing-required", None, ""),
    ("no quasi-identifier", lambda: throng.Policy(k=2), "no-quasi-identifier", None, ""),
    ("an unknown argument", lambda: throng.Policy(k=2, quazi=["age"]), "unknown-key", "quazi", 'did you mean "quasi"'),
    ("an unknown key", lambda: throng.Policy(k=2, quasi={"zip": {"wieght": 2}}), "unknown-key", 'quasi["zip"]["wieght"]', "weight"),
    ("a weight below 0", lambda: throng.Policy(k=2, quasi={"zip": {"weight": -1}}), "bad-value", 'quasi["zip"]["weight"]', ""),
    ("a bad prefix", lambda: throng.Policy(k=2, quasi={"zip": throng.prefix(2, 4)}), "bad-hierarchy", 'quasi["zip"]["hierarchy"]', ""),
    ("a column twice", lambda: throng.Policy(k=2, quasi=["age"], sensitive=["age"]), "duplicate-key", "sensitive", "one role"),
    ("a column that is a number", lambda: throng.Policy(k=2, quasi={"age": 3}), "wrong-type", 'quasi["age"]', ""),
    ("a name that is a number", lambda: throng.Policy(k=2, quasi=[3]), "wrong-type", "quasi", ""),  # type: ignore[list-item]
    ("a value of no policy", lambda: throng.Policy(k=2, quasi={"age": {"weight": object()}}), "wrong-type", 'quasi["age"]["weight"]', ""),
    ("l without sensitive", lambda: throng.Policy(k=2, l=2, quasi=["age"]), "no-sensitive-attribute", "l", ""),
    ("a text that is no TOML", lambda: throng.Policy.parse("k = "), "bad-policy-syntax", None, ""),
    ("no policy", lambda: throng.anonymize({"age": [1, 2]}, "policy.toml"), "wrong-type", "policy", ""),  # type: ignore[arg-type]
    ("an unknown method", lambda: throng.anonymize({"age": [1, 2]}, AGES, method="mondrain"), "unknown-method", "method", "mondrian"),
    ("an unknown method in a policy", lambda: throng.anonymize({"age": [1, 2]}, throng.Policy(k=2, quasi=["age"], method="mondrain")), "unknown-method", None, "mondrian"),
    ("a method that does not take it", lambda: throng.anonymize({"age": [1, 2]}, AGES, method="accuracy"), "method-does-not-fit", "method", ""),
    ("an unknown option", lambda: throng.anonymize({"age": [1, 2]}, AGES, method="mondrian", options={"x": 1}), "unknown-option", "options", ""),
    ("k = 0 in a call", lambda: throng.anonymize({"age": [1, 2]}, AGES, k=0), "bad-value", "k", ""),
]  # fmt: skip


@pytest.mark.parametrize(
    ("build", "code", "argument", "hint"), [row[1:] for row in POLICIES], ids=[row[0] for row in POLICIES]
)
def test_policies(build: Callable[[], Any], code: str, argument: str | None, hint: str) -> None:
    with pytest.raises(throng.PolicyError) as caught:
        build()
    error = caught.value
    assert error.code == code, error
    assert error.place.argument == argument
    assert hint in (error.hint or "")


def test_mistakes_in_a_text_name_the_line() -> None:
    with pytest.raises(throng.PolicyError) as caught:
        throng.Policy.parse("[privacy]\nk = 0\n", "adult.toml")
    assert (caught.value.place.file, caught.value.place.line, caught.value.place.column) == ("adult.toml", 2, 5)
    assert "    k = 0\n        ^" in str(caught.value)


def test_what_cannot_be_met_says_what_can() -> None:
    with pytest.raises(throng.RequirementError) as caught:
        throng.anonymize({"age": [31, 34]}, throng.Policy(k=3, quasi=["age"]))
    assert (caught.value.code, caught.value.reachable) == ("k-exceeds-table", {"k": 2})
    diverse = throng.Policy(k=2, l=3, quasi=["age"], sensitive=["ill"])
    with pytest.raises(throng.RequirementError) as caught:
        throng.anonymize({"age": [1, 2, 3, 4], "ill": ["a", "a", "b", "c"]}, diverse)
    assert caught.value.reachable == {"l": 2}


ARGUMENTS: list[tuple[dict[str, Any], str, str | None]] = [
    ({"threads": 0}, "bad-usage", "threads"),
    ({"threads": 5000}, "bad-usage", "threads"),
    ({"threads": "2"}, "bad-usage", "threads"),
    ({"threads": -1}, "bad-usage", "threads"),
    ({"order": "sorted"}, "bad-usage", "order"),
    ({"order": None}, "bad-usage", "order"),
    ({"publish": "cell"}, "bad-usage", "publish"),
    ({"publish": 3}, "bad-usage", "publish"),
    ({"secret": b"short"}, "weak-secret", "secret"),
    ({"secret": "/no/such/secret"}, "file-not-found", None),
    ({"secret": 7}, "bad-usage", "secret"),
    ({"k": -3}, "bad-usage", "k"),
    ({"k": 2.5}, "bad-usage", "k"),
    ({"k": "5"}, "bad-usage", "k"),
    ({"k": 2**70}, "bad-usage", "k"),
    ({"seed": -1}, "bad-usage", "seed"),
    ({"seed": True}, "bad-usage", "seed"),
    ({"l": "two"}, "bad-usage", "l"),
    ({"seconds": "10"}, "bad-usage", "seconds"),
    ({"method": 3}, "bad-usage", "method"),
    ({"options": [1]}, "bad-usage", "options"),
    ({"options": {1: 2}}, "bad-usage", "options"),
    ({"progress": 3}, "bad-usage", "progress"),
    ({"output": 7}, "bad-usage", "output"),
]


@pytest.mark.parametrize(("options", "code", "argument"), ARGUMENTS, ids=[str(row[0]) for row in ARGUMENTS])
def test_arguments(options: dict[str, Any], code: str, argument: str | None) -> None:
    with pytest.raises(throng.ThrongError) as caught:
        throng.anonymize({"age": [31, 34]}, AGES, **options)
    assert (caught.value.code, caught.value.place.argument) == (code, argument), caught.value


def test_numbers_of_numpy_are_numbers() -> None:
    import numpy as np

    table = {"age": [31, 34, 56, 58]}
    assert throng.anonymize(table, AGES, k=np.int64(2), seed=np.uint8(3), threads=np.int32(1)).report.seed == 3
    comparison = throng.compare(table, AGES, methods="mondrian", k=np.arange(1, 3))
    assert [run["k"] for run in comparison.runs] == [1, 2]


def test_files_that_cannot_be_written(tmp_path: Any) -> None:
    result = throng.anonymize({"age": [31, 34]}, AGES)
    with pytest.raises(throng.ThrongError):
        result.write(tmp_path / "no" / "such" / "folder.csv")
    with pytest.raises(throng.ThrongError) as caught:
        result.report.save(tmp_path / "report.pdf")
    assert caught.value.code == "bad-file-ending"
    assert list(tmp_path.iterdir()) == []


def test_a_mistake_of_ours_is_an_exception() -> None:
    for _ in range(3):
        with pytest.raises(throng.Bug) as caught:
            throng.anonymize({"age": [31, 34]}, AGES, method="panic for the tests")
        assert caught.value.code == "bug"
        assert "fails on purpose" in str(caught.value) and "calls.rs" in str(caught.value)
    assert throng.anonymize({"age": [31, 34]}, AGES).report.k == 2


def test_every_code_has_a_class() -> None:
    from throng import _errors, _throng

    known = {code for code, _ in _throng.error_codes()}
    assert _errors._POLICY <= known and _errors._DATA <= known
    assert not _errors._POLICY & _errors._DATA


def test_a_table_without_a_column_names_the_argument_and_no_text_that_nobody_wrote() -> None:
    policy = throng.Policy(k=2, quasi={"age": {}, "zip": throng.prefix(2)}, sensitive=["ill"])
    table = {"age": [31, 34], "zip": ["12", "13"]}
    for call in (throng.anonymize, throng.risk, throng.compare, throng.evaluate):
        with pytest.raises(throng.DataError) as caught:
            call(table, policy)
        assert caught.value.place == throng.Place(argument='sensitive["ill"]', attribute="ill"), call
        assert str(caught.value).startswith('the argument sensitive["ill"]: the table has no column "ill"')
        assert "[attribute" not in str(caught.value)
    # What was written as a text has lines.
    with pytest.raises(throng.DataError) as caught:
        throng.anonymize(table, throng.Policy.parse(policy.toml()))
    assert caught.value.place.line and "[attribute" in str(caught.value)
