"""throng turns a table about people into one that can be published.

>>> import throng
>>> people = {
...     "name": ["Ada", "Ben", "Cleo", "Dan"],
...     "age": [31, 34, 56, 58],
...     "illness": ["flu", "cold", "flu", "gout"],
... }
>>> policy = throng.Policy(k=2, quasi=["age"], sensitive=["illness"], identifiers=["name"])
>>> result = throng.anonymize(people, policy, method="mondrian", seed=7, order="keep")
>>> result.release.to_dict()
{'age': ['[31-34]', '[31-34]', '[56-58]', '[56-58]'], 'illness': ['flu', 'cold', 'flu', 'gout']}
>>> result.report.k
2

Tables may be frames of polars and pandas, tables of pyarrow, relations of DuckDB, anything else with ``__arrow_c_stream__`` or
``__arrow_c_array__``, a dict of lists, or the path of a file.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ._errors import Bug, DataError, Place, PolicyError, RequirementError, ThrongError
from ._policy import Hierarchy, Policy, dates, ema, hierarchy, intervals, prefix, safe_harbor
from ._report import Audit, Comparison, Evaluation, Method, Report, Risk, Run, Simulation
from ._run import (
    Recipe,
    Result,
    Written,
    anonymize,
    audit,
    compare,
    evaluate,
    methods,
    risk,
    simulate,
)
from ._table import Release, Tabular
from ._throng import __version__

if TYPE_CHECKING:
    from . import sklearn as sklearn
    from . import spark as spark

__all__ = [
    "Audit",
    "Bug",
    "Comparison",
    "DataError",
    "Evaluation",
    "Hierarchy",
    "Method",
    "Place",
    "Policy",
    "PolicyError",
    "Recipe",
    "Release",
    "Report",
    "RequirementError",
    "Result",
    "Risk",
    "Run",
    "Simulation",
    "Tabular",
    "ThrongError",
    "Written",
    "__version__",
    "anonymize",
    "audit",
    "compare",
    "dates",
    "ema",
    "evaluate",
    "hierarchy",
    "intervals",
    "methods",
    "prefix",
    "risk",
    "safe_harbor",
    "simulate",
]


def __getattr__(name: str) -> Any:
    # They need packages that not everybody has.
    if name in ("sklearn", "spark"):
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
