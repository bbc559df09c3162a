"""One number for each class, and cells that a spreadsheet would run."""

from __future__ import annotations

import datetime
from pathlib import Path
from statistics import mean, median
from typing import Any

import polars as pl
import pytest

import throng

TABLE = {
    "age": [20, 24, 26, 40, 44, 90, 33, 37],
    "born": [datetime.date(1990, 1, day) for day in (1, 2, 9, 11, 12, 19, 21, 23)],
    "city": ["Bern", "Bern", "Bern", "Ulm", "Ulm", "Ulm", "Bern", "Ulm"],
}
POLICY = throng.Policy(k=2, quasi=["age", "born", "city"], method="mondrian", seed=1)


@pytest.mark.parametrize(("which", "of"), [("median", median), ("mean", mean)])
def test_numbers_stand_for_their_classes(which: str, of: Any) -> None:
    result = throng.anonymize(TABLE, POLICY, publish="midpoints", midpoint=which, order="keep")
    frame = result.release.to_polars()
    assert frame.schema[f"age.{which}"] == pl.Float64 and frame.schema[f"born.{which}"] == pl.Date
    numbers = frame[f"age.{which}"].to_list()
    for number in set(numbers):
        own = [age for age, told in zip(TABLE["age"], numbers) if told == number]
        assert abs(of(own) - number) <= 0.05
    classes = result.classes
    assert all(classes.count(one) >= 2 for one in classes)
    assert result.report.midpoints["known_by"] == "run"


@pytest.mark.parametrize("order", ["keep", "random"])
def test_an_audit_reads_them_back(order: str) -> None:
    release = throng.anonymize(TABLE, POLICY, publish="midpoints", order=order).release
    audit = throng.audit(TABLE, release, POLICY)
    assert audit.holds and audit.k >= 2
    assert audit.midpoints["known_by"] == {"keep": "order", "random": "bound"}[order]
    changed = release.to_polars().with_columns(pl.col("age.median") + 200)
    assert not throng.audit(TABLE, changed, POLICY).holds


def test_words_that_are_not_allowed_name_the_argument() -> None:
    for wrong in [{"publish": "medians"}, {"midpoint": "mean"}, {"publish": "midpoints", "midpoint": "mode"}]:
        with pytest.raises(throng.ThrongError) as caught:
            throng.anonymize(TABLE, POLICY, **wrong)  # type: ignore[arg-type]
        assert caught.value.place.argument in {"publish", "midpoint"}


def test_formulas_get_a_mark_in_csv_only_where_asked(tmp_path: Path) -> None:
    table = {"age": [31, 34, 56, 58], "note": ["=1+1", "ok", "@SUM(A1)", "'=2"]}
    policy = throng.Policy(k=2, quasi=["age"], other={"note": {"confirmed": True}}, method="mondrian", seed=1)

    def written(**choices: Any) -> str:
        result = throng.anonymize(table, policy, order="keep", escape_formulas=choices.pop("run", False))
        assert result.release.to_dict()["note"] == table["note"]
        return Path(result.write(tmp_path / "r.csv", **choices)).read_text()

    assert "'=1+1" not in written()
    for marked in [written(run=True), written(escape_formulas=True)]:
        assert "'=1+1" in marked and "'@SUM(A1)" in marked and "''=2" in marked
    assert "'=1+1" not in written(run=True, escape_formulas=False)
    assert throng.audit(table, tmp_path / "r.csv", policy).holds
    written(run=True)
    assert throng.audit(table, tmp_path / "r.csv", policy).holds


def test_a_recipe_can_publish_bounds() -> None:
    table = {"age": [31, 34, 56, 58, 40, 47], "buys": ["no", "no", "yes", "yes", "no", "yes"]}
    policy = throng.Policy(k=2, quasi=["age"], classes=["buys"], method="refine", seed=1)
    recipe = throng.anonymize(table, policy).recipe
    assert recipe is not None
    masked = recipe.apply(table, publish="bounds", order="keep", unmet="publish").release.to_dict()
    assert list(masked) == ["age.min", "age.max", "buys"]
    assert all(low <= age <= high for low, age, high in zip(masked["age.min"], table["age"], masked["age.max"]))
    with pytest.raises(throng.ThrongError):
        recipe.apply(table, publish="permutation")
