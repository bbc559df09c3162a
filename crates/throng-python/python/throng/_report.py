"""What is told of runs: figures as attributes, the text of the terminal, pages for notebooks and files."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any, Callable, Iterator

from . import _throng
from ._errors import ThrongError


class Report:
    """What a call found out. Figures are attributes, `to_dict` has all of them, `str` gives the text that the command line prints."""

    _own: _throng.Report
    _figures: dict[str, Any]

    def __init__(self, own: _throng.Report) -> None:
        self._own = own
        self._figures = json.loads(own.json())

    def to_dict(self) -> dict[str, Any]:
        """All figures, with the keys of the JSON report."""
        copy: dict[str, Any] = json.loads(self._own.json())
        return copy

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_") and name in self._figures:
            return self._figures[name]
        raise AttributeError(f"{type(self).__name__} has no figure {name!r}; to_dict() has all of them")

    def __dir__(self) -> list[str]:
        return sorted({*object.__dir__(self), *self._figures})

    def __str__(self) -> str:
        return self._own.text().rstrip()

    def __repr__(self) -> str:
        return f"<throng.{type(self).__name__}>"

    def html(self) -> str:
        """The report as one page that needs nothing else."""
        page = self._own.html()
        if page is not None:
            return page
        return f"<!doctype html><meta charset='utf-8'><pre>{_escaped(str(self))}</pre>\n"

    def _repr_html_(self) -> str:
        page = self._own.html()
        return _fragment(page) if page is not None else f"<pre>{_escaped(str(self))}</pre>"

    @property
    def plots(self) -> list[str]:
        """The charts of the page, each an SVG that stands by itself."""
        return list(_plots(self._own.html() or ""))

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Writes the report to a file: ``.html`` a page, ``.json`` the figures, ``.txt`` the text."""
        forms: dict[str, Callable[[], str]] = {
            ".html": self.html,
            ".json": self._own.json,
            ".txt": lambda: f"{self}\n",
        }
        ending = Path(path).suffix
        if ending not in forms:
            raise ThrongError(
                f"a report cannot be written to a file that ends in {ending or 'nothing'}",
                code="bad-file-ending",
                hint="use .html, .json or .txt",
            )
        Path(path).write_text(forms[ending](), encoding="utf-8")
        return Path(path)

    def __reduce__(self) -> Any:
        return type(self), (self._own,)


class Measured(Report):
    """What a release achieves, in figures."""

    k: int
    """The smallest class."""
    l: float | None
    """What diversity is reached, where there is a sensitive attribute."""
    t: float | None
    """What closeness is reached, where there is a sensitive attribute."""
    rows_in: int
    rows_dropped: int
    rows_published: int
    suppressed: int
    classes: int
    gcp: float
    """The loss, from 0 to 1."""
    ncp: float
    discernibility: float
    c_avg: float
    gcp_per_attribute: dict[str, float]
    violations: list[str]
    requirements: list[dict[str, Any]]

    @property
    def holds(self) -> bool:
        """Whether everything that was asked for holds; of an audit, also whether each row is true of a record."""
        return not self.violations


class Run(Measured):
    """What a release achieves, measured from the release itself. For the holder of the table: it counts original values.

    >>> import throng
    >>> policy = throng.Policy(k=2, quasi=["age"])
    >>> report = throng.anonymize({"age": [31, 34, 56, 58]}, policy, method="mondrian", seed=1).report
    >>> report.k, report.classes, report.rows_published, report.holds
    (2, 2, 4, True)
    >>> print(report)  # doctest: +ELLIPSIS
    The requirement is met
    ...
    """

    method: str
    seed: int
    order: str
    seconds: dict[str, float]
    notes: list[str]
    provenance: dict[str, Any]


class Audit(Measured):
    """What somebody else's release achieves, and whether it is true of its table.

    >>> import throng
    >>> policy = throng.Policy(k=2, quasi=["age"])
    >>> audit = throng.audit({"age": [31, 34, 56]}, {"age": ["[31-34]", "[31-34]", "56"]}, policy)
    >>> audit.holds, audit.k
    (False, 1)
    """

    truth: dict[str, Any] | None
    """How the release was compared with its table, and what was found."""


class Risk(Report):
    """How easily people could be found in a table as it stands.

    >>> import throng
    >>> throng.risk({"age": [31, 31, 56]}, throng.Policy(k=2, quasi=["age"])).unique_records
    1
    """

    rows: int
    unique_records: int
    unique_share: float
    k: int
    classes: int
    quasi: list[str]
    notes: list[str]


class Comparison(Report):
    """Several methods and several k side by side.

    >>> import throng
    >>> ages = {"age": [31, 34, 56, 58, 40, 45]}
    >>> comparison = throng.compare(ages, throng.Policy(k=2, quasi=["age"]), methods=["mondrian", "hilbert"], k=[2, 3])
    >>> [(run["method"], run["k"]) for run in comparison.runs]
    [('mondrian', 2), ('hilbert', 2), ('mondrian', 3), ('hilbert', 3)]
    """

    rows: int
    runs: list[dict[str, Any]]
    left_out: list[dict[str, Any]]
    quasi: list[str]


class Evaluation(Report):
    """What a release is still good for.

    >>> import throng
    >>> evaluation = throng.evaluate({"age": [31, 34, 56, 58]}, throng.Policy(k=2, quasi=["age"], seed=1), task="queries")
    >>> evaluation.task, evaluation.k
    ('queries', 2)
    """

    task: str
    method: str | None
    k: int
    l: float | None
    gcp: float
    rows_published: int
    suppressed: int


class Simulation(Report):
    """Whether k is reachable at all.

    >>> import throng
    >>> throng.simulate(attributes=3, k=2, records=100, repetitions=20).successes
    20
    """

    k: int
    repetitions: int
    seed: int


class Method:
    """What the registry knows of a method.

    >>> import throng
    >>> "mondrian" in [method.name for method in throng.methods()]
    True
    """

    __slots__ = ("name", "summary", "takes", "guarantee", "citation", "options")
    name: str
    summary: str
    takes: list[str]
    guarantee: str
    citation: str
    options: list[dict[str, Any]]

    def __init__(self, **known: Any) -> None:
        for name in self.__slots__:
            setattr(self, name, known[name])

    def __repr__(self) -> str:
        return f"Method({self.name!r}: {self.summary})"


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _style(page: str) -> str:
    found = re.search(r"<style>(.*?)</style>", page, re.DOTALL)
    return found.group(1) if found else ""


def _fragment(page: str) -> str:
    """The body of a page, with its style for this part of a notebook alone."""
    body = re.search(r"<main[^>]*>(.*)</main>", page, re.DOTALL)
    # Within @scope the root of the page is the element that holds the style.
    style = re.sub(r":root|(?m:^body)\b", ":scope", _style(page))
    return f"<div><style>@scope {{ {style} }}</style>{body.group(1) if body else page}</div>"


def _plots(page: str) -> Iterator[str]:
    style = re.sub(r"</", "", _style(page))
    for plot in re.findall(r"<svg(?! class=\"swatch\").*?</svg>", page, re.DOTALL):
        head, _, rest = plot.partition(">")
        spaced = head if "xmlns=" in head else head.replace("<svg", '<svg xmlns="http://www.w3.org/2000/svg"', 1)
        yield f"{spaced}><style>{_escaped(style)}</style>{rest}"
