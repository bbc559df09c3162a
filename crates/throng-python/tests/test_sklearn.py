"""The transformer in pipelines, and scikit-learn's own checks."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import check_estimator

import throng
from throng.sklearn import Anonymizer

QUASI = ["age", "workclass", "education", "sex"]


@pytest.fixture(scope="module")
def sample(adult: Path) -> pd.DataFrame:
    return pd.read_csv(adult).head(1500)


def anonymizer(**options: Any) -> Anonymizer:
    return Anonymizer(throng.Policy(k=5, quasi=QUASI), seed=1, unmet="publish", **options)


def test_a_model_sees_in_use_what_it_saw_when_it_was_trained(sample: pd.DataFrame) -> None:
    model = make_pipeline(anonymizer(), OneHotEncoder(handle_unknown="ignore"), DecisionTreeClassifier(random_state=1))
    model.fit(sample[QUASI][:1000], sample["salary-class"][:1000])
    assert model.score(sample[QUASI][1000:], sample["salary-class"][1000:]) > 0.7
    assert model[0].report_.k >= 5 and model[0].report_.holds


def test_masks_are_those_of_the_recipe(sample: pd.DataFrame) -> None:
    own = anonymizer().fit(sample[QUASI], sample["salary-class"])
    masked = own.transform(sample[QUASI])
    pd.testing.assert_frame_equal(masked, anonymizer().fit_transform(sample[QUASI], sample["salary-class"]))
    assert list(masked.columns) == QUASI == list(own.get_feature_names_out())
    assert list(own.feature_names_in_) == QUASI and own.n_features_in_ == 4
    assert list(masked.index) == list(sample.index)
    again = pickle.loads(pickle.dumps(own))
    pd.testing.assert_frame_equal(again.transform(sample[QUASI]), masked)


def test_clone_set_output_and_column_transformer(sample: pd.DataFrame) -> None:
    copy = clone(anonymizer(k=7))
    assert copy.get_params()["k"] == 7 and not hasattr(copy, "recipe_")
    made = copy.set_output(transform="polars").fit_transform(sample[QUASI])
    assert isinstance(made, pl.DataFrame) and copy.report_.k >= 7
    both = ColumnTransformer([("masked", anonymizer(), QUASI)], remainder="drop").set_output(transform="pandas")
    assert list(both.fit_transform(sample).columns) == [f"masked__{name}" for name in QUASI]


def test_identifiers_do_not_come_out(sample: pd.DataFrame) -> None:
    policy = throng.Policy(k=5, quasi=QUASI, identifiers=["fnlwgt"])
    frame = sample[[*QUASI, "fnlwgt"]]
    own = Anonymizer(policy, seed=1).fit(frame)
    assert list(own.get_feature_names_out()) == QUASI == list(own.transform(frame).columns)


def test_other_records_that_are_too_few_are_refused(sample: pd.DataFrame) -> None:
    own = Anonymizer(throng.Policy(k=5, quasi=QUASI), seed=1).fit(sample[QUASI])
    with pytest.raises(throng.RequirementError):
        own.transform(sample[QUASI][:3])
    with pytest.raises(ValueError, match="expecting 4 features"):
        own.transform(sample[QUASI[:2]])


TEXTS = "cells that come out are texts such as [24-32], which this check compares as numbers"
EXPECTED = {
    "check_estimators_pickle": TEXTS,
    "check_fit_idempotent": TEXTS,
    "check_methods_sample_order_invariance": TEXTS,
    "check_methods_subset_invariance": TEXTS,
    "check_pipeline_consistency": TEXTS,
    "check_transformer_data_not_an_array": TEXTS,
    "check_transformer_general": TEXTS,
    "check_fit2d_1sample": "one record cannot hide among others",
}


@pytest.mark.filterwarnings("ignore")
def test_the_checks_of_scikit_learn() -> None:
    results = check_estimator(Anonymizer(k=2, unmet="publish", seed=1), expected_failed_checks=EXPECTED, on_fail=None)
    failed = {one["check_name"]: one["exception"] for one in results if one["status"] == "failed"}
    assert not failed, failed
    assert sum(one["status"] == "passed" for one in results) > 25
