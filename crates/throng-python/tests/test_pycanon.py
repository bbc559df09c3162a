"""k, l and t as pyCANON measures them are those of the report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

pycanon = pytest.importorskip("pycanon.anonymity")

import throng  # noqa: E402

METHODS = ["mondrian", "hilbert", "top-down", "bottom-up", "peel", "rv-local"]
QUASI = ["age", "workclass", "education", "marital-status", "race", "sex"]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.filterwarnings("ignore")
def test_privacy_as_pycanon_measures_it(method: str, adult: Path) -> None:
    frame = pd.read_csv(adult).head(2000)[[*QUASI, "occupation"]]
    policy = throng.Policy(k=10, l=2, diversity="distinct", quasi=QUASI, sensitive=["occupation"], seed=1)
    result = throng.anonymize(frame, policy, method=method)
    release: Any = result.release.to_pandas().astype(str)
    own = next(one for one in result.report.sensitive if one["attribute"] == "occupation")
    assert pycanon.k_anonymity(release, QUASI) == result.report.k
    assert pycanon.l_diversity(release, QUASI, ["occupation"]) == own["l_distinct"]
    assert pycanon.t_closeness(release, QUASI, ["occupation"]) == pytest.approx(own["t"], abs=1e-9)
