"""throng in pipelines of scikit-learn.

`Anonymizer` learns a recoding from the records that it is fitted on (the method ``refine``) and masks others in the same way, so that
a model sees in use what it saw when it was trained.

>>> import pandas as pd
>>> import throng
>>> from throng.sklearn import Anonymizer
>>> X = pd.DataFrame({"age": [31, 34, 36, 56, 58, 59], "city": ["Rome", "Oslo"] * 3})
>>> y = ["no", "no", "no", "yes", "yes", "yes"]
>>> anonymizer = Anonymizer(throng.Policy(k=3, quasi=["age", "city"]), seed=1)
>>> list(anonymizer.fit_transform(X, y).columns)
['age', 'city']
>>> anonymizer.report_.k
3
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ._errors import DataError
from ._policy import Policy
from ._run import Recipe, Result, anonymize

__all__ = ["Anonymizer"]


class Anonymizer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Masks quasi-identifiers so that the records it is fitted on meet a policy.

    Parameters: `policy` (without one every column is a quasi-identifier), `k` in place of the policy's (5 if neither says), `unmet`: what
    happens where other records do not meet the requirement (``"refuse"``; ``"publish"`` where the table itself may be seen, as
    within a model; ``"suppress"`` leaves rows out and so does not fit pipelines), `seed`, `threads`.

    ``fit(X, y)`` learns masks that let ``y`` be predicted, unless the policy names a class of its own in ``X``. Rows keep their order.
    Frames come back as frames; arrays have columns ``x0``, ``x1``, … and come back as arrays of texts.

    After `fit`: ``recipe_``, ``report_`` (what the training records achieve), ``feature_names_in_``, ``n_features_in_``.
    """

    def __init__(
        self,
        policy: Policy | None = None,
        *,
        k: int | None = None,
        unmet: str = "refuse",
        seed: int | None = None,
        threads: int | None = None,
    ) -> None:
        self.policy = policy
        self.k = k
        self.unmet = unmet
        self.seed = seed
        self.threads = threads

    def fit(self, X: Any, y: Any = None) -> Anonymizer:
        """Learns the recoding."""
        self._learn(X, y)
        return self

    def fit_transform(self, X: Any, y: Any = None, **_: Any) -> Any:
        """Learns the recoding and gives the records that it was learned from, masked."""
        result = self._learn(X, y)
        return self._given_back(result, X)

    def transform(self, X: Any) -> Any:
        """Masks other records as those were that it was fitted on."""
        check_is_fitted(self, "recipe_")
        frame = self._frame(X)
        if list(frame.columns) != list(self._names):
            raise ValueError(
                f"X has {frame.shape[1]} features, but Anonymizer is expecting {self.n_features_in_} features as input: "
                f"the names of the columns are not those that it was fitted on"
            )
        recipe: Recipe = self.recipe_
        result = recipe.apply(frame, unmet=self.unmet, order="keep", threads=self.threads)
        return self._given_back(result, X)

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Names of the columns that come out: those that went in, without identifiers."""
        check_is_fitted(self, "recipe_")
        return np.asarray(self._out, dtype=object)

    def _learn(self, X: Any, y: Any) -> Result:
        frame = self._frame(X)
        if len(frame) < 1:
            raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
        policy = self._policy(frame)
        target = None
        if y is not None and "class" not in policy.roles.values():
            target = _free_name(getattr(y, "name", None) or "y", frame)
            if len(y) != len(frame):
                raise ValueError(f"X has {len(frame)} records and y has {len(y)}")
            policy = Policy.parse(
                f'{policy.toml()}\n[attribute."{target}"]\nrole = "class"\nconfirmed = true\n', policy._own.path
            )
        table = frame if target is None else frame.assign(**{target: [str(label) for label in y]})
        result = anonymize(
            table, policy, method="refine", k=self.k, seed=self.seed, order="keep", threads=self.threads
        )
        assert result.recipe is not None  # The method refine always learns one.
        self.recipe_ = result.recipe
        self.report_ = result.report
        self.n_features_in_ = frame.shape[1]
        self._names = list(frame.columns)
        if hasattr(X, "columns"):
            self.feature_names_in_ = np.asarray(self._names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self._target = target
        self._out = [name for name in result.release.columns if name != target]
        return result

    def _policy(self, frame: pd.DataFrame) -> Policy:
        if self.policy is not None:
            return self.policy
        return Policy(k=self.k or 5, quasi=[str(name) for name in frame.columns])

    def _frame(self, X: Any) -> pd.DataFrame:
        if hasattr(X, "to_pandas"):
            X = X.to_pandas()
        if isinstance(X, pd.DataFrame):
            return X.set_axis([str(name) for name in X.columns], axis=1)
        if hasattr(X, "tocsr"):
            raise TypeError("Sparse data was passed, but tables are dense: sparse input is not supported.")
        cells = np.asarray(X)
        if cells.ndim != 2:
            raise ValueError(f"Expected 2D array, got {cells.ndim}D array instead. Reshape your data.")
        if np.iscomplexobj(cells):
            raise ValueError("Complex data not supported")
        if cells.shape[1] == 0:
            raise ValueError(f"0 feature(s) (shape={cells.shape}) while a minimum of 1 is required.")
        frame = pd.DataFrame(cells, columns=[f"x{at}" for at in range(cells.shape[1])])
        if cells.dtype == object:
            frame = frame.infer_objects()
        return frame

    def _given_back(self, result: Result, X: Any) -> Any:
        if len(result.release) != result.report.rows_in + result.report.rows_dropped:
            raise DataError(
                "records were left out, and a transformer must give one row for each",
                code="cell-does-not-fit",
                hint='fit with unmet="refuse" or unmet="publish", or use Recipe.apply',
            )
        frame = result.release.to_pandas()[self._out]
        if hasattr(X, "to_pandas"):
            return result.release.to_polars().select(self._out) if _is_polars(X) else frame
        if isinstance(X, pd.DataFrame):
            return frame.set_axis(X.index, axis=0)
        return frame.astype(object).to_numpy()

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "recipe_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = []
        return tags


def _is_polars(X: Any) -> bool:
    return type(X).__module__.partition(".")[0] == "polars"


def _free_name(name: Any, frame: pd.DataFrame) -> str:
    own = str(name)
    while own in frame.columns:
        own += "_"
    return own
