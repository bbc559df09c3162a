"""The calls: from a table and a policy to a release, and everything around it."""

from __future__ import annotations

import contextlib
import functools
import json
import math
import operator
import os
import sys
from pathlib import Path
from typing import Any, Callable, Iterable, Iterator, Mapping, ParamSpec, Sequence, TypeVar, Union, overload

from . import _throng
from ._errors import PolicyError, ThrongError, Place
from ._policy import Policy
from ._report import Audit, Comparison, Evaluation, Method, Risk, Run, Simulation
from ._table import Release, Tabular, given

_P = ParamSpec("_P")
_R = TypeVar("_R")
Progress = Union[bool, Callable[[str, int, Union[int, None]], Any]]
Secret = Union[bytes, str, "os.PathLike[str]", None]


def naming_columns(call: Callable[_P, _R]) -> Callable[_P, _R]:
    """Lets mistakes of a call that are in a policy made of arguments name the argument."""

    @functools.wraps(call)
    def named(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        try:
            return call(*args, **kwargs)
        except ThrongError as error:
            for policy in (*args, *kwargs.values()):
                if isinstance(policy, Policy):
                    policy._naming_argument(error)
            raise

    return named


class Result:
    """A release with all that belongs to it."""

    __slots__ = ("release", "sensitive", "report", "recipe", "_rows", "_keys", "_classes")

    release: Release
    """What may be published."""
    sensitive: Release | None
    """The sensitive values by group, where the release is one by permutation; published beside it."""
    report: Run
    """What it achieves. For the holder of the table."""
    recipe: Recipe | None
    """How other records can be masked in the same way, if the method learned that (``refine``)."""

    def __init__(
        self,
        release: Release,
        sensitive: Release | None,
        report: Run,
        recipe: Recipe | None,
        rows: bytes,
        keys: list[str],
    ) -> None:
        self.release, self.sensitive, self.report, self.recipe = release, sensitive, report, recipe
        self._rows, self._keys = rows, keys
        self._classes: list[int | None] | None = None

    @property
    def classes(self) -> list[int | None]:
        """The class of each row of the table, numbered from 0; None for a row that is not in the release. For the holder of the
        table only: it tells who is who in the release.

        >>> import throng
        >>> policy = throng.Policy(k=2, quasi=["age"])
        >>> throng.anonymize({"age": [31, 58, 34, 56]}, policy, method="mondrian").classes
        [0, 1, 0, 1]
        """
        if self._classes is None:
            total = self.report.rows_in + self.report.rows_dropped
            self._classes = self.release._own.classes(self._keys, self._rows, total)
        return self._classes

    def write(self, path: str | os.PathLike[str], *, escape_formulas: bool | None = None) -> Path:
        """Writes the release to a file, and its sensitive values, where they are apart, beside it: ``release.sensitive.csv``."""
        if self.sensitive is not None:
            self.sensitive.write(_beside(Path(path)), escape_formulas=escape_formulas)
        return self.release.write(path, escape_formulas=escape_formulas)

    def __repr__(self) -> str:
        return f"Result({self.release!r}, method={self.report.method!r}, k={self.report.k})"

    def _repr_html_(self) -> str:
        return self.report._repr_html_()

    def __reduce__(self) -> Any:
        return Result, (self.release, self.sensitive, self.report, self.recipe, self._rows, self._keys)


class Recipe:
    """How records were masked, to mask others in the same way. Learned by the method ``refine``.

    >>> import throng
    >>> policy = throng.Policy(k=2, quasi=["age"], classes=["buys"], method="refine", seed=1)
    >>> known = {"age": [31, 34, 56, 58], "buys": ["no", "no", "yes", "yes"]}
    >>> recipe = throng.anonymize(known, policy).recipe
    >>> masked = recipe.apply({"age": [32, 33, 57, 57], "buys": ["no", "yes", "yes", "no"]}, order="keep")
    >>> masked.release.columns, masked.report.k >= 2
    (['age', 'buys'], True)
    """

    __slots__ = ("_own",)

    def __init__(self, own: _throng.Recipe) -> None:
        self._own = own

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Recipe:
        """Reads a recipe that `write` or the command line wrote."""
        return cls(_throng.Recipe.read(os.fspath(path)))

    @classmethod
    def parse(cls, text: str) -> Recipe:
        """Reads a recipe from JSON."""
        return cls(_throng.Recipe.parse(text))

    def to_json(self) -> str:
        """The recipe as JSON."""
        return self._own.json()

    def write(self, path: str | os.PathLike[str]) -> Path:
        """Writes the recipe to a file, for `read` and for ``throng apply``."""
        Path(path).write_text(self.to_json(), encoding="utf-8")
        return Path(path)

    def apply(
        self,
        table: Tabular,
        *,
        unmet: str = "refuse",
        order: str = "random",
        publish: str = "cells",
        escape_formulas: bool = False,
        secret: Secret = None,
        threads: int | None = None,
        progress: Progress = False,
    ) -> Result:
        """Masks other records. Where they do not meet the recipe's requirement, `unmet` says what happens: ``"refuse"`` is an
        error, ``"suppress"`` leaves out what falls short, ``"publish"`` gives it all the same. `publish` is ``"cells"`` or
        ``"bounds"`` (numbers as two columns)."""
        with _Listening(progress) as listener:
            running = _running(threads, listener, secret)
            written = (_text("order", order), _text("publish", publish), bool(escape_formulas))
            made = _throng.apply(self._own, given(table), _text("unmet", unmet), written, running)
        return _result(made)

    def __repr__(self) -> str:
        return "<throng.Recipe>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Recipe) and self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash(self.to_json())

    def __reduce__(self) -> Any:
        return Recipe.parse, (self.to_json(),)


class Written:
    """A release that stands in a file, or in a folder of files, with all that belongs to it."""

    __slots__ = ("path", "sensitive", "report", "recipe")

    path: Path
    """What may be published."""
    sensitive: Path | None
    """The sensitive values by group, where the release is one by permutation; published beside it."""
    report: Run
    """What it achieves. For the holder of the table."""
    recipe: Recipe | None
    """How other records can be masked in the same way, if the method learned that (``refine``)."""

    def __init__(self, path: Path, sensitive: Path | None, report: Run, recipe: Recipe | None) -> None:
        self.path, self.sensitive, self.report, self.recipe = path, sensitive, report, recipe

    def __repr__(self) -> str:
        return f"Written({str(self.path)!r}, method={self.report.method!r}, k={self.report.k})"

    def _repr_html_(self) -> str:
        return self.report._repr_html_()

    def __reduce__(self) -> Any:
        return Written, (self.path, self.sensitive, self.report, self.recipe)


@overload
def anonymize(
    table: Tabular,
    policy: Policy,
    *,
    output: None = None,
    method: str | None = None,
    k: int | None = None,
    l: float | None = None,
    seed: int | None = None,
    secret: Secret = None,
    seconds: float | None = None,
    options: Mapping[str, Any] | None = None,
    order: str = "random",
    publish: str = "cells",
    midpoint: str | None = None,
    escape_formulas: bool = False,
    memory: None = None,
    scratch: None = None,
    parts: None = None,
    threads: int | None = None,
    progress: Progress = False,
) -> Result: ...


@overload
def anonymize(
    table: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    policy: Policy,
    *,
    output: str | os.PathLike[str],
    method: str | None = None,
    k: int | None = None,
    l: float | None = None,
    seed: int | None = None,
    secret: Secret = None,
    seconds: float | None = None,
    options: Mapping[str, Any] | None = None,
    order: str = "random",
    publish: str = "cells",
    midpoint: str | None = None,
    escape_formulas: bool = False,
    memory: str | int | None = None,
    scratch: str | os.PathLike[str] | None = None,
    parts: int | None = None,
    threads: int | None = None,
    progress: Progress = False,
) -> Written: ...


@naming_columns
def anonymize(
    table: Any,
    policy: Policy,
    *,
    output: str | os.PathLike[str] | None = None,
    method: str | None = None,
    k: int | None = None,
    l: float | None = None,
    seed: int | None = None,
    secret: Secret = None,
    seconds: float | None = None,
    options: Mapping[str, Any] | None = None,
    order: str = "random",
    publish: str = "cells",
    midpoint: str | None = None,
    escape_formulas: bool = False,
    memory: str | int | None = None,
    scratch: str | os.PathLike[str] | None = None,
    parts: int | None = None,
    threads: int | None = None,
    progress: Progress = False,
) -> Result | Written:
    """Turns a table into a release that meets a policy. Nobody gets the release before an audit has read it back and found that
    everything that was asked for holds.

    `method`, `k`, `l` and `seed` take the place of the policy's; `options` are those of the method, `seconds` limits the time of the
    method and of the lower bound together. `order` is ``"random"`` or ``"keep"``; `secret` (bytes, or a file with them) repeats a random order. `publish` is
    ``"cells"``, ``"bounds"`` (numbers as two columns), ``"midpoints"`` (numbers as one for each class: `midpoint` is ``"median"``, which
    it is by default, or ``"mean"``) or ``"permutation"``. `escape_formulas` puts a ``'`` before cells that a spreadsheet would run, where
    the release is written as CSV or TSV. `progress` is True (a bar of tqdm, where there is one) or a callable that is told
    ``(stage, done, total)``.

    With `output` the table is a file, a folder, a pattern or a list of these, the release is written there, as the command line writes
    it, and nothing but the report comes back. The table need not fit into memory then: `memory` (``"2GiB"``, or bytes) is what
    the run may take, `scratch` a folder for what does not fit meanwhile, and `parts` the number of parts, to repeat a release.

    >>> import throng
    >>> ages = {"age": [31, 34, 56, 58]}
    >>> policy = throng.Policy(k=2, quasi=["age"])
    >>> throng.anonymize(ages, policy, method="mondrian", order="keep", publish="bounds").release.to_dict()
    {'age.min': [31, 31, 56, 56], 'age.max': [34, 34, 58, 58]}
    >>> throng.anonymize(ages, policy, method="mondrian", order="keep", publish="midpoints").release.to_dict()
    {'age.median': [32.5, 32.5, 57.0, 57.0]}
    """
    way = _way(publish, midpoint)
    own = _adjusted(policy, method=method, k=k, l=l, seed=seed, options=options)
    told = [("method", method), ("k", k), ("l", l), ("seed", seed), ("seconds", seconds)]
    told += [("memory", memory), ("parts", parts)]
    overrides = [f"{name}={value!r}" for name, value in told if value is not None]
    written = (_text("order", order), way, bool(escape_formulas))
    if output is None:
        _check_fits(table, own, {"memory": memory, "scratch": scratch, "parts": parts})
        with _Listening(progress) as listener, _naming(method=method):
            running = _running(threads, listener, secret, seconds)
            return _result(_throng.anonymize(given(table), own, written, overrides, running))
    if not _is_path(output):
        raise _bad("output", f"a value of type {type(output).__name__} is no name of a file", "give a path")
    limit = _limit(memory, scratch, parts)
    with _Listening(progress) as listener, _naming(method=method):
        running = _running(threads, listener, secret, seconds)
        made = _throng.anonymize_files(_files(table), os.fspath(output), own, written, limit, overrides, running)
    report, learned = made
    run = Run(report)
    sensitive = _beside(Path(output)) if run.to_dict().get("permuted") else None
    return Written(Path(output), sensitive, run, None if learned is None else Recipe(learned))


@naming_columns
def audit(
    table: Tabular,
    release: Tabular,
    policy: Policy,
    *,
    sensitive: Tabular | None = None,
    threads: int | None = None,
    progress: Progress = False,
) -> Audit:
    """Measures a release from the two tables and the policy alone, and looks whether each of its rows is true of a record.
    `sensitive` is the table of sensitive values of a release by permutation."""
    apart = None if sensitive is None else given(sensitive)
    with _Listening(progress) as listener:
        running = _running(threads, listener, None)
        return Audit(_throng.audit(given(table), given(release), apart, _checked(policy), running))


@naming_columns
def risk(
    table: Tabular,
    policy: Policy,
    *,
    population: Tabular | None = None,
    fraction: float | None = None,
    threads: int | None = None,
    progress: Progress = False,
) -> Risk:
    """Tells how easily people could be found in a table as it stands. `population` is a table of the people that it was drawn from,
    `fraction` the share of them that is in it."""
    people = None if population is None else given(population)
    with _Listening(progress) as listener:
        running = _running(threads, listener, None)
        return Risk(_throng.risk(given(table), people, _real("fraction", fraction), _checked(policy), running))


@naming_columns
def compare(
    table: Tabular,
    policy: Policy,
    *,
    methods: str | Sequence[str] = (),
    k: int | Sequence[int] = (),
    queries: bool = False,
    secret: Secret = None,
    threads: int | None = None,
    progress: Progress = False,
) -> Comparison:
    """Runs several methods and values of k on one table. By default: all methods that group records and take what the policy asks
    for, with its own k. `queries` asks too how far COUNT queries on each release are off."""
    names = [methods] if isinstance(methods, str) else list(methods)
    several = k if isinstance(k, Iterable) and not isinstance(k, str) else [k]
    ks = [number for number in (_whole("k", one) for one in several) if number is not None]
    with _Listening(progress) as listener, _naming(methods=names):
        running = _running(threads, listener, secret)
        return Comparison(_throng.compare(given(table), names, ks, queries, _checked(policy), running))


@naming_columns
def evaluate(
    table: Tabular,
    policy: Policy,
    *,
    release: Tabular | None = None,
    sensitive: Tabular | None = None,
    task: str = "queries",
    options: Mapping[str, Any] | None = None,
    method: str | None = None,
    k: int | None = None,
    seed: int | None = None,
    secret: Secret = None,
    threads: int | None = None,
    progress: Progress = False,
) -> Evaluation:
    """Tells what a release is still good for: ``"queries"``, ``"cube"``, ``"classify"``, ``"regress"`` or ``"partition"``. Without `release` one
    is made as the policy says. `options` are those of the task."""
    adjusted = _adjusted(policy, method=method, k=k, seed=seed)
    own = adjusted.with_task_options(_text("task", task), dict(options or {}))
    made = None if release is None else given(release)
    apart = None if sensitive is None else given(sensitive)
    with _Listening(progress) as listener, _naming(method=method, task=task):
        running = _running(threads, listener, secret)
        return Evaluation(_throng.evaluate(given(table), made, apart, task, own, running))


def simulate(
    *,
    attributes: int | None = None,
    values: int | Sequence[int] = 2,
    table: Tabular | None = None,
    policy: Policy | None = None,
    k: int,
    records: int | None = None,
    repetitions: int = 100,
    needed: float | None = None,
    seed: int = 1,
    threads: int | None = None,
    progress: Progress = False,
) -> Simulation:
    """Draws random tables to see whether k is reachable at all: with so many `records`, or how many would be `needed` for this
    share of successes. `values` is the number of equally frequent values of all attributes, or of each one; with `table` and
    `policy` the attributes and the shares of their values are those of a table."""
    if records is None and needed is None:
        raise _bad("records", "neither records nor needed is given", "say how many records, or which share of successes")
    if table is not None and policy is None:
        raise _bad("policy", "the policy of the table is missing", "it tells the quasi-identifiers")
    drawn: _throng.Drawn = {
        "values": _values(attributes, values) if table is None else None,
        "table": None if table is None else given(table),
        "k": _needed("k", _whole("k", k, most=_MOST_32)),
        "records": _whole("records", records),
        "repetitions": _needed("repetitions", _whole("repetitions", repetitions, most=_MOST_32)),
        "needed": _real("needed", needed),
        "seed": _needed("seed", _whole("seed", seed)),
    }
    own = None if policy is None else _checked(policy)
    with _Listening(progress) as listener:
        return Simulation(_throng.simulate(drawn, own, _running(threads, listener, None)))


def methods() -> list[Method]:
    """The methods, what each is for and where it was described."""
    return [Method(**known) for known in json.loads(_throng.methods())]


def _values(attributes: int | None, values: int | Sequence[int]) -> list[int]:
    count = _whole("attributes", attributes)
    if not isinstance(values, Iterable) or isinstance(values, str):
        if count is None:
            raise _bad("attributes", "how many attributes?", "give attributes=7, values=[2, 3, 5], or table and policy")
        if not 1 <= count <= 1000:
            raise _bad("attributes", "attributes must be from 1 to 1000", None)
        return [_needed("values", _whole("values", values, most=_MOST_32))] * count
    own = [_needed("values", _whole("values", value, most=_MOST_32)) for value in values]
    if attributes is not None and attributes != len(own):
        raise _bad("values", f"attributes is {attributes}, but values gives {len(own)}", "leave attributes out")
    return own


def _bad(argument: str, message: str, hint: str | None) -> ThrongError:
    return ThrongError(f"the argument {argument}: {message}", hint=hint, place=Place(argument=argument))


_MOST = 2**63 - 1
_MOST_32 = 2**32 - 1


def _whole(argument: str, value: Any, most: int = _MOST) -> int | None:
    """A whole number that is not negative, also one of numpy."""
    if value is None:
        return None
    try:
        number = -1 if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = -1
    if not 0 <= number <= most:
        raise _bad(argument, f"{value!r} is no number that fits", f"give a whole number from 0 to {most}")
    return number


def _real(argument: str, value: Any) -> float | None:
    """A number, also one of numpy."""
    if value is None:
        return None
    number = math.nan
    if not isinstance(value, (str, bytes, bool)):
        with contextlib.suppress(TypeError, ValueError, OverflowError):
            number = float(value)
    if math.isnan(number):
        raise _bad(argument, f"{value!r} is no number", "give a number")
    return number


def _text(argument: str, value: Any) -> str:
    if isinstance(value, str):
        return value
    raise _bad(argument, f"{value!r} is no text", "give a text")


def _needed(argument: str, value: int | None) -> int:
    if value is None:
        raise _bad(argument, "a number is missing", "give a whole number")
    return value


def _adjusted(
    policy: Any,
    *,
    method: str | None,
    k: int | None,
    l: float | None = None,
    seed: int | None,
    options: Mapping[str, Any] | None = None,
) -> _throng.Policy:
    """The policy with what a call says in place of its own."""
    own = _checked(policy)
    if method is not None:
        _text("method", method)
    if options is not None and not isinstance(options, Mapping):
        raise _bad("options", f"a value of type {type(options).__name__} holds no options", 'give a dict, such as {"improve": True}')
    more = {_text("options", name): value for name, value in (options or {}).items()}
    with _naming(method=method, k=k, l=l, seed=seed, options=options):
        return own.adjusted(method, _whole("k", k), _real("l", l), _whole("seed", seed), more or None)


_ARGUMENTS = {
    "unknown-method": ("method", "methods"),
    "method-does-not-fit": ("method", "methods"),
    "unknown-option": ("options",),
    "bad-option": ("options",),
    "unknown-task": ("task",),
    "bad-value": ("k", "l", "seed"),
}


@contextlib.contextmanager
def _naming(**arguments: Any) -> Iterator[None]:
    """Lets a mistake name the argument that it is in, where that is one of these."""
    try:
        yield
    except ThrongError as error:
        given_ones = [name for name in _ARGUMENTS.get(error.code, ()) if arguments.get(name) not in (None, [])]
        if len(given_ones) == 1 and error.place.argument is None:
            error.place = error.place._replace(argument=given_ones[0])
            error.message = f"the argument {given_ones[0]}: {error.message}"
            error.args = (error.message,)
        raise


def _is_path(table: Any) -> bool:
    return isinstance(table, (str, os.PathLike))


def _is_many(table: Any) -> bool:
    """Whether a table is several files: a list of paths, a folder, or a pattern."""
    if _is_path(table):
        path = Path(table)
        return path.is_dir() or (not path.exists() and any(mark in path.name for mark in "*?"))
    return isinstance(table, (list, tuple)) and bool(table) and all(map(_is_path, table))


def _check_fits(table: Any, policy: _throng.Policy, limit: Mapping[str, Any]) -> None:
    """A release that is handed over is in memory: a limit on memory can hold only where it goes to a file."""
    hint = 'say where the release goes, such as output="release.parquet"'
    for name, value in limit.items():
        if value is not None:
            raise _bad(name, "a limit on memory needs a file for the release", hint)
    if _is_many(table):
        raise _bad("table", "a table of several files is run within a limit on memory, which needs a file for the release", hint)
    if policy.memory is not None and _is_path(table):
        raise _bad("policy", "its [run] memory limits what a run over files takes, which needs a file for the release", hint)


def _files(table: Any) -> list[os.PathLike[str]]:
    if _is_path(table):
        return [Path(os.fspath(table))]
    if isinstance(table, (list, tuple)) and table and all(map(_is_path, table)):
        return [Path(os.fspath(one)) for one in table]
    raise _bad(
        "output",
        f"a table of type {type(table).__name__} is in memory already",
        "give the names of files, or leave output out and write the release with result.write(…)",
    )


def _limit(memory: Any, scratch: Any, parts: Any) -> _throng.Limit:
    if parts is not None and (isinstance(parts, bool) or not isinstance(parts, int) or parts < 1):
        raise _bad("parts", f"{parts!r} is no number of parts", "give a whole number from 1 on")
    if memory is not None and (isinstance(memory, bool) or not isinstance(memory, (int, str))):
        raise _bad("memory", f"{memory!r} is no size", 'give a text such as "2GiB", or bytes')
    return {
        "memory": None if memory is None else str(memory),
        "scratch": None if scratch is None else Path(os.fspath(scratch)),
        "parts": parts,
    }


def _way(publish: str, midpoint: str | None) -> str:
    """How numbers are published, in the words of the extension module."""
    _text("publish", publish)
    if publish != "midpoints":
        if midpoint is not None:
            raise _bad("midpoint", "it says nothing without midpoints", 'write publish="midpoints" too')
        if publish in ("medians", "means"):
            raise _bad("publish", f'"{publish}" is not one of the words that are allowed', 'write publish="midpoints"')
        return publish
    if midpoint not in (None, "median", "mean"):
        raise _bad("midpoint", f"{midpoint!r} is neither of the words that are allowed", 'write "median" or "mean"')
    return f"{midpoint or 'median'}s"


def _checked(policy: Any) -> _throng.Policy:
    if isinstance(policy, Policy):
        return policy._own
    raise PolicyError(
        f"the argument policy: an object of type {type(policy).__name__} is no policy",
        code="wrong-type",
        hint='give throng.Policy(k=…, quasi=[…]) or throng.Policy.read("policy.toml")',
        place=Place(argument="policy"),
    )


def _beside(path: Path) -> Path:
    """Where the command line writes the sensitive values of a release by permutation."""
    name = path.name
    plain = name.removesuffix(".gz").removesuffix(".zst")
    at = plain.rfind(".")
    at = at if at > 0 else len(plain)
    return path.with_name(f"{name[:at]}.sensitive{name[at:]}")


def _result(made: _throng.Made) -> Result:
    release, sensitive, report, learned, rows = made
    run = Run(report)
    keys = ["group"] if sensitive is not None else [f"{name}{end}" for name in run.quasi for end in ("", ".min", ".max", ".median", ".mean")]
    return Result(
        Release(release),
        None if sensitive is None else Release(sensitive),
        run,
        None if learned is None else Recipe(learned),
        rows,
        keys,
    )


def _running(threads: int | None, progress: Any, secret: Secret, seconds: float | None = None) -> _throng.Running:
    key = None if secret is None else _secret(secret)
    return {"threads": _whole("threads", threads), "progress": progress, "secret": key, "seconds": _real("seconds", seconds)}


def _secret(secret: Any) -> Any:
    if isinstance(secret, (bytes, bytearray)):
        return bytes(secret)
    if not _is_path(secret):
        raise _bad("secret", f"a value of type {type(secret).__name__} is no secret", "give bytes, or the name of a file with them")
    return Path(os.fspath(secret))


class _Listening:
    """What is told of the progress: a callable, or a bar of tqdm."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._bar: Any = None

    def __enter__(self) -> Any:
        if callable(self._progress):
            return self._progress
        if not isinstance(self._progress, (bool, type(None))):
            raise _bad("progress", f"a value of type {type(self._progress).__name__} cannot be told of progress", "give True or a callable")
        return self._tell if self._progress and self._start() else None

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()

    def _start(self) -> bool:
        try:
            from tqdm.auto import tqdm
        except ImportError:
            return False
        self._bar = tqdm(leave=False, file=sys.stderr)
        return True

    def _tell(self, stage: str, done: int, total: int | None) -> None:
        if self._bar.desc != f"{stage}: ":
            self._bar.reset(total=total)
            self._bar.set_description(stage)
        self._bar.n = done
        self._bar.refresh()
