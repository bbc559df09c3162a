"""What goes in and what comes out."""

from __future__ import annotations

import datetime
import json
import pickle
import struct
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import nanoarrow
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import throng
from conftest import SECRET

AGES = throng.Policy(k=2, quasi=["age"], seed=1)


def frames(columns: dict[str, list[Any]], types: dict[str, Any]) -> dict[str, Any]:
    """The same table in all packages."""
    table = pa.table(columns, schema=pa.schema(list(types.items())))
    frame = pl.from_arrow(table)
    return {
        "pyarrow": table,
        "chunked": pa.concat_tables([table.slice(0, 1), table.slice(1, 0), table.slice(1)]),
        "batch": table.combine_chunks().to_batches()[0] if len(table) else table,
        "polars": frame,
        "pandas": table.to_pandas(types_mapper=pd.ArrowDtype),
        "duckdb": duckdb.sql("select * from frame"),
        "nanoarrow": nanoarrow.ArrayStream(table),
    }


@settings(max_examples=25, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_random_tables_give_the_same_release_from_every_package(tmp_path_factory: Any, data: Any) -> None:
    rows = data.draw(st.integers(2, 40))
    lists = lambda cells: data.draw(st.lists(cells, min_size=rows, max_size=rows))  # noqa: E731
    text = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), min_size=1, max_size=6)
    words = text.filter(lambda word: word.strip() == word and word != "*")
    columns = {
        "age": lists(st.none() | st.integers(0, 90)),
        "city": lists(st.none() | words.map(lambda word: "c" + word)),
        "ill": lists(st.booleans()),
        "since": lists(st.none() | st.dates(datetime.date(1990, 1, 1), datetime.date(2020, 1, 1))),
    }
    types = {"age": pa.int64(), "city": pa.string(), "ill": pa.bool_(), "since": pa.date32()}
    policy = throng.Policy(k=2, quasi={"age": {}, "city": {"kind": "categorical"}}, other=["ill", "since"], seed=1, strict=False)
    written = {}
    for name, table in frames(columns, types).items():
        release = throng.anonymize(table, policy, method="mondrian", secret=SECRET).release
        assert len(release) == rows
        written[name] = release.write(tmp_path_factory.mktemp("same") / "release.csv").read_bytes()
    own = throng.anonymize(columns, policy, method="mondrian", secret=SECRET).release
    written["dict"] = own.write(tmp_path_factory.mktemp("same") / "release.csv").read_bytes()
    assert len(set(written.values())) == 1, written


TYPES = {
    "whole": (pa.int16(), [1, 2, None, 4]),
    "real": (pa.float32(), [1.5, None, 2.5, 3.0]),
    "text": (pa.string(), ["a", "b", None, "d"]),
    "large": (pa.large_string(), ["a", "b", None, "d"]),
    "view": (pa.string_view(), ["a", "b", None, "a rather long text that is not inlined"]),
    "truth": (pa.bool_(), [True, None, False, True]),
    "day": (pa.date32(), [datetime.date(2024, 2, 29), None, datetime.date(1969, 1, 1), datetime.date(1970, 1, 1)]),
    "time": (pa.timestamp("us"), [datetime.datetime(2024, 2, 29, 12, 30), None, datetime.datetime(1969, 1, 1), datetime.datetime(1970, 1, 1)]),
    "paris": (pa.timestamp("ns", "Europe/Paris"), [datetime.datetime(2024, 2, 29, 12, 30, tzinfo=datetime.timezone.utc), None, None, None]),
    "zoned": (pa.timestamp("ms", "UTC"), [datetime.datetime(2024, 2, 29, 12, 30, tzinfo=datetime.timezone.utc), None, None, None]),
    "decimal": (pa.decimal128(10, 2), [Decimal("1.50"), None, Decimal("-2.25"), Decimal("3.00")]),
    "hour": (pa.time64("us"), [datetime.time(12, 30, 0, 5), None, datetime.time(0), datetime.time(23, 59, 59)]),
    "span": (pa.duration("ms"), [datetime.timedelta(milliseconds=-90_500), None, datetime.timedelta(0), datetime.timedelta(days=3)]),
    "nothing": (pa.null(), [None, None, None, None]),
    "dictionary": (pa.dictionary(pa.int8(), pa.string()), ["a", "b", None, "a"]),
    "numbered": (pa.dictionary(pa.int16(), pa.int64()), [10, 20, None, 10]),
    "unsigned": (pa.uint64(), [2**64 - 1, 2**63, None, 0]),
    "wide": (pa.decimal256(50, 3), [Decimal("1.050"), None, Decimal("-2.000"), Decimal("9" * 40 + ".125")]),
    "list": (pa.list_(pa.int64()), [[1, 2], None, [], [3]]),
    "struct": (pa.struct([("x", pa.int64())]), [{"x": 1}, None, {"x": 2}, {"x": 3}]),
}  # fmt: skip


@pytest.mark.parametrize("role", ["other", "sensitive", "classes"])
@pytest.mark.parametrize("name", TYPES)
def test_what_is_published_unchanged_keeps_its_type(name: str, role: str) -> None:
    kind, cells = TYPES[name]
    table = pa.table({"age": [31, 34, 56, 58], "own": pa.array(cells, kind)})
    policy = throng.Policy(k=2, quasi=["age"], strict=False, **{role: ["own"]})
    if role != "other" and pa.types.is_nested(kind):
        with pytest.raises(throng.DataError) as caught:
            throng.anonymize(table, policy)
        assert (caught.value.code, caught.value.place.attribute) == ("unreadable-type", "own")
        return
    release = throng.anonymize(table, policy, method="mondrian", order="keep").release.to_pyarrow()
    assert release.schema.field("own").type == kind
    assert release["own"].to_pylist() == cells
    assert release["age"].to_pylist() == ["[31-34]", "[31-34]", "[56-58]", "[56-58]"]


def test_categoricals_of_polars_and_pandas_survive() -> None:
    cells = ["a", "b", "a", "b"]
    policy = throng.Policy(k=2, quasi=["age"], sensitive=["own"])
    frame = pl.DataFrame({"age": [31, 34, 56, 58], "own": cells}, schema_overrides={"own": pl.Categorical})
    release = throng.anonymize(frame, policy, order="keep").release.to_polars()
    assert release["own"].dtype == pl.Categorical and release["own"].to_list() == cells
    pandas = frame.to_pandas()
    pandas["own"] = pandas["own"].astype("category")
    out = throng.anonymize(pandas, policy, order="keep").release.to_pandas()
    assert isinstance(out["own"].dtype, pd.CategoricalDtype) and list(out["own"]) == cells


def views(cells: list[bytes]) -> pa.Array:
    """Texts in views; pyarrow itself would not make some of them."""
    data, own = b"", b""
    for cell in cells:
        head = cell.ljust(12, b"\0") if len(cell) <= 12 else cell[:4] + struct.pack("<ii", 0, len(data))
        own += struct.pack("<i", len(cell)) + head
        data += cell if len(cell) > 12 else b""
    return pa.Array.from_buffers(pa.string_view(), len(cells), [None, pa.py_buffer(own), pa.py_buffer(data)])


def plain(cells: list[bytes], kind: Any = None) -> pa.Array:
    ends = [sum(map(len, cells[:at])) for at in range(len(cells) + 1)]
    offsets = struct.pack(f"<{len(ends)}{'q' if kind == pa.large_string() else 'i'}", *ends)
    return pa.Array.from_buffers(kind or pa.string(), len(cells), [None, pa.py_buffer(offsets), pa.py_buffer(b"".join(cells))])


def large(cells: list[bytes]) -> pa.Array:
    return plain(cells, pa.large_string())


@pytest.mark.parametrize("array", [plain, large, views])
@pytest.mark.parametrize("broken", [b"\xff\xfe", b"a text of more than twelve bytes \xff", "é".encode()[:1]])
def test_texts_are_checked_where_they_are_used(array: Any, broken: bytes) -> None:
    policy = throng.Policy(k=2, quasi={"word": {"kind": "categorical"}}, seed=1)
    good = ["a", "é", "a rather long text with an é in it", "a"] * 2
    cells = [*[word.encode() for word in good], broken]
    table = pa.table({"word": array(cells)})
    with pytest.raises(throng.DataError) as caught:
        throng.anonymize(table, policy)
    assert (caught.value.code, caught.value.place.attribute) == ("not-utf8", "word")
    # What a slice leaves out is nobody's table.
    kept = throng.anonymize(table.slice(0, 8), policy, order="keep", k=1, method="mondrian").release
    assert kept.to_dict() == {"word": good}


def test_half_a_letter_in_each_of_two_cells_is_no_text() -> None:
    table = pa.table({"age": plain(["é".encode()[:1], "é".encode()[1:]])})
    with pytest.raises(throng.DataError) as caught:
        throng.anonymize(table, AGES)
    assert caught.value.code == "not-utf8"


@pytest.mark.parametrize("ends", [(0, 3, 1), (0, -1, 2)])
def test_offsets_that_point_nowhere_are_refused(ends: tuple[int, ...]) -> None:
    text = pa.Array.from_buffers(pa.string(), 2, [None, pa.py_buffer(struct.pack("<3i", *ends)), pa.py_buffer(b"abcd")])
    with pytest.raises(throng.DataError) as caught:
        throng.anonymize(pa.table({"age": text}), AGES)
    assert caught.value.place.attribute == "age"


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view(), pa.binary()])
def test_a_chunk_without_rows_in_the_middle_is_none(kind: Any) -> None:
    ages = pa.chunked_array([[31, 34], [], [56, 58]])
    texts = pa.array(["first", "second", "third", "fourth"]).cast(kind)
    policy = throng.Policy(k=2, quasi=["age"], identifiers=["text"], seed=1)
    if kind != pa.binary():
        policy = throng.Policy(k=2, quasi=["age"], other=["text"], seed=1, strict=False)
    release = throng.anonymize(pa.table({"age": ages, "text": texts}), policy, method="mondrian").release
    assert len(release) == 4


def test_dictionaries_of_every_size_read_as_their_texts() -> None:
    # More values than rows, of which few are used; nulls among the values; rows without a value.
    few = pa.DictionaryArray.from_arrays(pa.array([99_999, 5, None, 5], pa.int32()), pa.array([f"v{at}" for at in range(100_000)]))
    nulls = pa.DictionaryArray.from_arrays(pa.array([1, 0, 1, None], pa.int8()), pa.array(["a", None]))
    numbers = pa.DictionaryArray.from_arrays(pa.array([1, 0, 1, 1], pa.int8()), pa.array([31, 34]))
    table = pa.table({"few": few, "nulls": nulls, "numbers": numbers})
    policy = throng.Policy(k=1, quasi={name: {"kind": "categorical"} for name in table.column_names}, strict=False)
    kept = throng.anonymize(table, policy, order="keep", method="mondrian").release.to_dict()
    assert kept == {"few": ["v99999", "v5", None, "v5"], "nulls": [None, "a", None, None], "numbers": ["34", "31", "34", "34"]}


def test_nested_columns_pass_through_and_are_refused_as_text(tmp_path: Path) -> None:
    frame = pl.DataFrame({"age": [31, 34], "tags": [["a"], ["b", "c"]]})
    policy = throng.Policy(k=2, quasi=["age"], other=["tags"], strict=False)
    release = throng.anonymize(frame, policy, order="keep").release
    assert release.to_polars()["tags"].to_list() == [["a"], ["b", "c"]]
    with pytest.raises(throng.DataError) as caught:
        release.write(tmp_path / "release.csv")
    assert caught.value.code == "nested-value" and list(tmp_path.iterdir()) == []
    assert pl.read_parquet(release.write(tmp_path / "release.parquet"))["tags"].to_list() == [["a"], ["b", "c"]]


def test_an_index_without_a_name_is_no_column_and_one_with_a_name_is() -> None:
    frame = pd.DataFrame({"age": [31, 34, 56, 58]})
    assert throng.anonymize(frame[frame["age"] > 31], AGES).release.columns == ["age"]
    named = frame.set_index(pd.Index([5, 6, 7, 8], name="number"))
    with pytest.raises(throng.DataError) as caught:
        throng.anonymize(named, AGES)
    assert caught.value.code == "unlisted-column"


def test_a_release_goes_wherever_arrow_goes(people: Any, policy: Any) -> None:
    release = throng.anonymize(people, policy, method="mondrian", order="keep").release
    expected = release.to_dict()
    assert release.to_polars().to_dict(as_series=False) == expected
    assert release.to_pyarrow().to_pydict() == expected
    assert {name: list(cells) for name, cells in release.to_pandas().items()} == expected
    assert duckdb.sql("select count(*) from release").fetchall() == [(6,)]
    assert throng.audit(people, release, policy).holds


def test_a_table_may_be_freed_while_it_is_used() -> None:
    import gc

    def seen(stage: str, done: int, total: int | None) -> None:
        gc.collect()

    result = throng.anonymize(pl.DataFrame({"age": list(range(50_000))}), AGES, method="mondrian", progress=seen)
    gc.collect()
    assert result.report.rows_published == 50_000 and len(result.release.to_dict()["age"]) == 50_000


def test_classes_are_those_of_the_release_by_row_of_the_table(adult: Path, adult_policy: Any) -> None:
    frame = pl.read_csv(adult).head(500)
    result = throng.anonymize(frame, adult_policy, method="mondrian", seed=3)
    assert len(result.classes) == 500 and len(set(result.classes)) == result.report.classes
    kept = throng.anonymize(frame, adult_policy, method="mondrian", seed=3, order="keep")
    rows = kept.release.to_polars().select(kept.report.quasi).rows()
    assert len(set(zip(rows, result.classes))) == result.report.classes
    assert result.classes == kept.classes


def test_rows_that_are_left_out_have_no_class() -> None:
    policy = throng.Policy(k=2, quasi=["age"], incomplete="drop", missing=[""])
    result = throng.anonymize({"age": [31, None, 34]}, policy)
    assert result.classes == [0, None, 0] and result.report.rows_dropped == 1


def test_everything_pickles(people: Any, policy: Any) -> None:
    again = lambda thing: pickle.loads(pickle.dumps(thing))  # noqa: E731
    assert again(policy) == policy and again(policy).toml() == policy.toml()
    result = throng.anonymize(people, policy, method="mondrian")
    copy = again(result)
    assert copy.release.to_dict() == result.release.to_dict() and copy.release.schema == result.release.schema
    assert copy.report.to_dict() == result.report.to_dict() and str(copy.report) == str(result.report)
    assert copy.report.html() == result.report.html() and copy.classes == result.classes
    with pytest.raises(throng.ThrongError) as caught:
        throng.anonymize(people, policy, k=50)
    error = again(caught.value)
    assert (type(error), str(error), error.reachable) == (throng.RequirementError, str(caught.value), {"k": 6})


def test_a_release_holds_nothing_that_undoes_its_order(people: Any, policy: Any) -> None:
    result = throng.anonymize(people, policy, method="mondrian", secret=SECRET)
    kept = throng.anonymize(people, policy, method="mondrian", secret=SECRET, order="keep")
    assert result.release.to_dict() != kept.release.to_dict()
    assert result._rows not in pickle.dumps(result.release)


def test_nothing_of_a_table_or_a_policy_is_shown_but_names(people: Any) -> None:
    city = throng.hierarchy({"Italy": ["Rome"], "Norway": ["Oslo"]})
    policy = throng.Policy(k=2, quasi={"age": {}, "city": city}, sensitive=["illness"], identifiers=["name"])
    result = throng.anonymize(people, policy)
    shown = repr(policy) + repr(result) + repr(result.release) + repr(result.report) + repr(city)
    for cell in ["Rome", "Italy", "Ada", "flu", "31"]:
        assert cell not in shown


NOBODY = pa.schema(
    {
        "name": pa.string(),
        "age": pa.int64(),
        "since": pa.date32(),
        "city": pa.dictionary(pa.int32(), pa.string()),
        "ill": pa.bool_(),
        "paid": pa.decimal128(9, 2),
        "visits": pa.list_(pa.int64()),
    }
)


def nobody_policy(**more: Any) -> throng.Policy:
    return throng.Policy(
        k=2, quasi=["age", "since", "city"], other=["paid", "visits"], identifiers=["name"], seed=1, strict=False, **more
    )


@pytest.mark.parametrize("publish", ["cells", "bounds", "midpoints"])
def test_frames_without_rows_give_releases_without_rows_and_the_same_types(publish: str) -> None:
    row = {
        "name": "Ada",
        "age": 31,
        "since": datetime.date(2020, 1, 1),
        "city": "Rome",
        "ill": True,
        "paid": Decimal("1.50"),
        "visits": [1],
    }
    full = pa.Table.from_pylist([row, row], schema=NOBODY)
    policy = nobody_policy(sensitive=["ill"])
    expected = throng.anonymize(full, policy, publish=publish).release.to_pyarrow().schema
    for name, table in frames({name: [] for name in NOBODY.names}, {field.name: field.type for field in NOBODY}).items():
        result = throng.anonymize(table, policy, publish=publish)
        release = result.release.to_pyarrow()
        assert release.num_rows == 0 and len(result.classes) == 0, name
        if name in ("pyarrow", "chunked", "nanoarrow"):
            assert release.schema.equals(expected), name
        assert release.schema.names == expected.names, name
    assert "nobody is in it" in str(result.report)
    assert (result.report.rows_in, result.report.gcp, result.report.violations) == (0, 0.0, [])
    json.dumps(result.report.to_dict(), allow_nan=False)
    assert pickle.loads(pickle.dumps(result)).release.to_pyarrow().schema == release.schema


def test_every_method_takes_a_frame_without_rows(tmp_path: Path) -> None:
    table = pl.from_arrow(NOBODY.empty_table())
    for method in throng.methods():
        labels = {"classes": ["ill"]} if method.name == "refine" else {"sensitive": ["ill"]}
        limits = {"max_loss": 0.5} if method.name.startswith("accuracy") else {}
        release = throng.anonymize(table, nobody_policy(**labels, **limits), method=method.name).release
        assert len(release) == 0
        release.write(tmp_path / "nobody.csv")
        assert "age" in (tmp_path / "nobody.csv").read_text().splitlines()[0]


def test_a_recipe_takes_a_frame_without_rows() -> None:
    table = pl.DataFrame({"age": [31, 34, 56, 58] * 2, "ill": ["flu", "cold"] * 4})
    recipe = throng.anonymize(table, throng.Policy(k=2, quasi=["age"], classes=["ill"]), method="refine", seed=1).recipe
    assert recipe is not None
    masked = recipe.apply(table.clear()).release.to_polars()
    assert masked.height == 0 and masked.schema == recipe.apply(table).release.to_polars().schema


def test_what_measures_refuses_a_frame_without_rows_and_so_does_a_file(tmp_path: Path) -> None:
    table = pl.DataFrame({"age": []}, schema={"age": pl.Int64})
    table.write_csv(tmp_path / "nobody.csv")
    for call in (
        lambda: throng.anonymize(tmp_path / "nobody.csv", AGES),
        lambda: throng.audit(table, table, AGES),
        lambda: throng.risk(table, AGES),
        lambda: throng.compare(table, AGES, methods=["mondrian"]),
        lambda: throng.evaluate(table, AGES),
        lambda: throng.anonymize(pl.DataFrame({"age": [None, None]}, schema={"age": pl.Int64}), throng.Policy(k=2, quasi=["age"], incomplete="drop")),
    ):
        with pytest.raises(throng.DataError) as caught:
            call()
        assert caught.value.code == "empty-table"


def test_what_stands_beside_columns_is_not_published() -> None:
    """Metadata of a schema, of fields and of fields within fields, names of identifiers, and categories that no row has."""
    said = {"note": "HIDDEN"}
    visits = pa.list_(pa.field("item", pa.struct([pa.field("at", pa.string(), metadata=said)]), metadata=said))
    fields = {
        "HIDDEN_name": pa.string(),
        "age": pa.int64(),
        "city": pa.dictionary(pa.int32(), pa.string()),
        "visits": visits,
    }
    schema = pa.schema([pa.field(name, kind, metadata=said) for name, kind in fields.items()], metadata=said)
    rows = [
        pa.array(["Ada", "Ben", "Cleo", "Dan"]),
        pa.array([31, 34, 56, 58]),
        pa.DictionaryArray.from_arrays(pa.array([0, 0, 1, 1], pa.int32()), pa.array(["Rome", "Bari", "HIDDEN"])),
        pa.array([[{"at": "9"}], [], None, [{"at": "8"}]], visits),
    ]
    table = pa.Table.from_arrays(rows, schema=schema)
    policy = throng.Policy(k=2, quasi=["age"], identifiers=["HIDDEN_name"], other=["city", "visits"], strict=False)
    result = throng.anonymize(table, policy)
    assert b"HIDDEN" not in pickle.dumps(result.release)
    sink = pa.BufferOutputStream()
    release = result.release.to_pyarrow()
    with pa.ipc.new_stream(sink, release.schema) as writer:
        writer.write_table(release)
    assert b"HIDDEN" not in sink.getvalue().to_pybytes()
    assert release.schema.field("city").type == fields["city"]
    assert pickle.loads(pickle.dumps(result.release)).to_pyarrow().equals(release)
