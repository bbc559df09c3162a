"""Policies: what must hold, and what each column is."""

from __future__ import annotations

import datetime
import difflib
import os
from typing import Any, Iterable, Mapping, Sequence, Union

from . import _throng
from ._errors import Place, PolicyError, ThrongError
from ._table import Tabular, given

_Names = Union[str, Sequence[str], Mapping[str, Any], None]

_ROLES = {
    "quasi": "quasi",
    "sensitive": "sensitive",
    "identifiers": "identifier",
    "classes": "class",
    "person": "person",
    "other": "other",
}
_DATA = ("missing", "incomplete", "unlisted", "header", "max_expansion")
_REPORT = ("bound",)
_PRIVACY = (
    "k", "l", "t", "diversity", "c", "beta", "likeness", "delta", "alpha", "alpha_values", "k_column", "own_k", "quasi_identifiers", "k_map",
    "population", "fraction", "max_loss", "max_span", "max_gcp", "max_query_error", "queries", "suppress", "strict",
)  # fmt: skip
_METHOD = ("method", "seed", "options", "evaluate")


class Hierarchy:
    """How the values of a column are grouped; made by `prefix`, `dates`, `intervals`, `safe_harbor`, `ema` and
    `hierarchy`."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __repr__(self) -> str:
        if isinstance(self.value, Mapping) and len(self.value) == 1:
            (builder, steps), = self.value.items()
            if builder in ("prefix", "dates", "intervals"):
                return f"throng.{builder}({', '.join(map(repr, steps))})"
        if isinstance(self.value, Mapping):
            for builder in ("safe_harbor", "ema"):
                if isinstance(self.value.get(builder), str):
                    further = [f"{key}={value!r}" for key, value in self.value.items() if key != builder]
                    return f"throng.{builder}({', '.join([repr(self.value[builder]), *further])})"
        return "throng.hierarchy(…)"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Hierarchy) and self.value == other.value

    def __hash__(self) -> int:
        return hash(repr(self.value))


def prefix(*lengths: int) -> Hierarchy:
    """Values are grouped by their first letters or digits: so many, then fewer.

    >>> import throng
    >>> throng.Policy(k=2, quasi={"zip": throng.prefix(4, 3, 2)})
    Policy(k=2, quasi=['zip'])
    """
    return Hierarchy({"prefix": list(lengths)})


def dates(*steps: str) -> Hierarchy:
    """Dates are grouped by ``"month"``, ``"quarter"``, ``"year"``, ``"decade"`` and the like.

    >>> import throng
    >>> throng.Policy(k=2, quasi={"admitted": throng.dates("month", "year")})
    Policy(k=2, quasi=['admitted'])
    """
    return Hierarchy({"dates": list(steps)})


def intervals(*widths: float) -> Hierarchy:
    """Numbers are grouped into intervals of these widths, from fine to coarse.

    >>> import throng
    >>> throng.Policy(k=2, quasi={"age": throng.intervals(5, 10, 20)})
    Policy(k=2, quasi=['age'])
    """
    return Hierarchy({"intervals": list(widths)})


def safe_harbor(
    what: str,
    *,
    as_of: str | datetime.date | None = None,
    intervals: Sequence[float] | None = None,
    restricted: Sequence[str] | None = None,
    kept: Sequence[str] | None = None,
    population: str | os.PathLike[str] | None = None,
) -> Hierarchy:
    """Values are published no finer than HIPAA Safe Harbor allows (45 CFR 164.514(b)(2)(i)): ``"zip"`` keeps three digits, ``"date"``
    the year, ``"birth"`` the year but for those over 89 on the day ``as_of``, ``"age"`` puts all from 90 on together.

    ``restricted`` lists three-digit areas that become 000, ``kept`` those that alone are told, ``population`` names a file of
    ZIP codes with their people; without any of them the list of HHS from the census of 2000 counts.

    >>> import throng
    >>> throng.safe_harbor("birth", as_of="2026-12-31")
    throng.safe_harbor('birth', as_of='2026-12-31')
    >>> throng.Policy(k=2, quasi={"zip": throng.safe_harbor("zip"), "age": throng.safe_harbor("age")})
    Policy(k=2, quasi=['zip', 'age'])
    """
    further = {
        "as_of": None if as_of is None else str(as_of),
        "intervals": None if intervals is None else list(intervals),
        "restricted": None if restricted is None else list(restricted),
        "kept": None if kept is None else list(kept),
        "population": None if population is None else os.fspath(population),
    }
    given = {key: value for key, value in further.items() if value is not None}
    return Hierarchy({"safe_harbor": what, **given})


def ema(what: str = "age") -> Hierarchy:
    """Ages in years are grouped as in the EU Clinical Trials Register and ICH E11(R1): 0-23 months, 2-11, 12-17, 18-64, 65-84, 85 and over.

    >>> import throng
    >>> throng.Policy(k=2, quasi={"age": throng.ema("age")})
    Policy(k=2, quasi=['age'])
    """
    return Hierarchy({"ema": what})


def hierarchy(groups: str | os.PathLike[str] | Mapping[str, Any]) -> Hierarchy:
    """Values are grouped as a file says, or as a dict of groups with their values, nested as deep as needed.

    >>> import throng
    >>> city = throng.hierarchy({"Italy": ["Rome", "Bari"], "Norway": ["Oslo"]})
    >>> throng.Policy(k=2, quasi={"city": city})
    Policy(k=2, quasi=['city'])
    """
    if isinstance(groups, Mapping):
        return Hierarchy(dict(groups))
    return Hierarchy(os.fspath(groups))


class Policy:
    """What must hold, and what each column is. Made in Python, read from a file, or guessed.

    >>> import throng
    >>> policy = throng.Policy(
    ...     k=10, l=3, sensitive=["diagnosis"], identifiers=["name"],
    ...     quasi={"age": {}, "zip": throng.prefix(4, 3, 2), "race": {"weight": 2}},
    ... )
    >>> policy
    Policy(k=10, quasi=['age', 'zip', 'race'], sensitive=['diagnosis'], identifiers=['name'])
    >>> policy.roles["zip"]
    'quasi'

    Mistakes name the argument:

    >>> throng.Policy(k=10, quasi={"zip": {"wieght": 2}})
    Traceback (most recent call last):
        ...
    throng._errors.PolicyError: the argument quasi["zip"]["wieght"]: unknown key "wieght" in [attribute.zip]
      at attribute "zip"
      help: did you mean "weight"? …

    Columns are named by their roles: ``quasi`` (others may know it: generalized), ``sensitive`` (protected by l and t), ``classes``
    (what recipients want to predict), ``identifiers`` (never published), ``person`` (whose record it is), ``other`` (published as
    it is). Each takes a name, a list of names, or a dict from names to what else is said of them: a `Hierarchy`, or a dict with the
    keys of a policy's section ``[attribute.NAME]`` (``weight``, ``kind``, ``hierarchy``, ``rules``, ``leaf_weights``, …).

    All keys of ``[privacy]`` and ``[data]`` are arguments of the same name (``own_k``, ``quasi_identifiers``, ``max_gcp``,
    ``missing``, ``unlisted``, …); ``options`` holds those of the method and ``evaluate`` those of tasks, by task.
    ``docs/policy.md`` explains every key.
    """

    __slots__ = ("_own", "_arguments")
    _own: _throng.Policy
    _arguments: dict[str, str]
    """The argument in which each column was named, where the policy was made of arguments."""

    def __init__(
        self,
        *,
        k: int | None = None,
        l: float | None = None,
        t: float | None = None,
        quasi: _Names = None,
        sensitive: _Names = None,
        identifiers: _Names = None,
        classes: _Names = None,
        person: _Names = None,
        other: _Names = None,
        method: str | None = None,
        seed: int | None = None,
        options: Mapping[str, Any] | None = None,
        evaluate: Mapping[str, Mapping[str, Any]] | None = None,
        **more: Any,
    ) -> None:
        for name in more:
            if name not in (*_PRIVACY, *_DATA, *_REPORT):
                raise _unknown_argument(name)
        said = {"k": k, "l": l, "t": t, **more}
        keys: list[_throng.Key] = []
        for section, names in (("data", _DATA), ("report", _REPORT), ("privacy", _PRIVACY)):
            keys += [(section, "", name, said[name], name) for name in names if said.get(name) is not None]
        if method is not None:
            keys.append(("method", "", "name", method, "method"))
        if seed is not None:
            keys.append(("method", "", "seed", seed, "seed"))
        keys += [("method", "", name, value, f'options["{name}"]') for name, value in (options or {}).items()]
        for task, own in (evaluate or {}).items():
            keys += [("evaluate", task, name, value, f'evaluate["{task}"]["{name}"]') for name, value in own.items()]
        given_roles = {
            "quasi": quasi, "sensitive": sensitive, "identifiers": identifiers,
            "classes": classes, "person": person, "other": other,
        }  # fmt: skip
        of_columns = _attributes(given_roles)
        self._own = _throng.Policy.build(keys + of_columns)
        self._arguments = {name: place for _, name, key, _, place in of_columns if key == "role"}

    @classmethod
    def _of(cls, own: _throng.Policy) -> Policy:
        policy = cls.__new__(cls)
        policy._own = own
        policy._arguments = {}
        return policy

    def _naming_argument(self, error: ThrongError) -> None:
        """Lets a mistake name the argument that it is in, not a line of a text that nobody wrote."""
        argument = self._arguments.get(error.place.attribute or "")
        if argument is None or error.place.argument is not None or error.place.file != "the policy":
            return
        error.place = error.place._replace(argument=argument, file=None, line=None, column=None)
        error.message = f"the argument {argument}: {error.message}"
        error.args = (error.message,)
        error._excerpt = ""

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Policy:
        """Reads a policy from a TOML file."""
        return cls._of(_throng.Policy.read(os.fspath(path)))

    @classmethod
    def parse(cls, text: str, path: str | os.PathLike[str] | None = None) -> Policy:
        """Reads a policy from a text; paths in it are relative to `path`.

        >>> import throng
        >>> throng.Policy.parse('[privacy]\\nk = 5\\n[attribute.age]\\nrole = "quasi"\\n')
        Policy(k=5, quasi=['age'])
        """
        return cls._of(_throng.Policy.parse(text, None if path is None else os.fspath(path)))

    @classmethod
    def guess(cls, table: Tabular) -> Policy:
        """A first policy for a table, guessed from names and values, as ``throng init`` finds it. Look at `toml()`: every
        guess is explained there, and what is not sure is held back and marked with CHECK.

        >>> import throng
        >>> policy = throng.Policy.guess({"name": ["Ada", "Ben"] * 9, "age": list(range(30, 48))})
        >>> "CHECK" in policy.toml() or "role" in policy.toml()
        True
        """
        return cls._of(_throng.Policy.guess(given(table)))

    def toml(self) -> str:
        """The text of the policy, for the command line and for `parse`."""
        return self._own.text

    def write(self, path: str | os.PathLike[str]) -> None:
        """Writes the text of the policy to a file."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.toml())

    @property
    def k(self) -> int | None:
        """The k that is asked for."""
        return self._own.k

    @property
    def method(self) -> str:
        """The method that is named, or ``"auto"``."""
        return self._own.method

    @property
    def roles(self) -> dict[str, str]:
        """The role of each column."""
        return dict(self._own.roles())

    def __repr__(self) -> str:
        parts = [] if self.k is None else [f"k={self.k}"]
        for argument, role in _ROLES.items():
            names = [name for name, own in self._own.roles() if own == role]
            parts += [f"{argument}={names!r}"] if names else []
        return f"Policy({', '.join(parts)})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Policy) and (self.toml(), self._own.path) == (other.toml(), other._own.path)

    def __hash__(self) -> int:
        return hash(self.toml())

    def __reduce__(self) -> Any:
        return Policy.parse, (self._own.text, self._own.path)


def _attributes(roles: Mapping[str, _Names]) -> list[_throng.Key]:
    keys: list[_throng.Key] = []
    roles_of: dict[str, str] = {}
    for argument, names in roles.items():
        for name, own in _columns(argument, names):
            if name in roles_of:
                message = f'the argument {argument}: "{name}" stands in {roles_of[name]} already'
                raise PolicyError(
                    message,
                    code="duplicate-key",
                    hint="give each column one role",
                    place=Place(argument=argument, attribute=name),
                )
            roles_of[name] = argument
            place = f'{argument}["{name}"]'
            keys.append(("attribute", name, "role", _ROLES[argument], place))
            keys += [("attribute", name, key, value, f'{place}["{key}"]') for key, value in _said(place, own)]
    return keys


def _columns(argument: str, names: _Names) -> Iterable[tuple[str, Any]]:
    if names is None:
        return []
    if isinstance(names, str):
        return [(names, None)]
    if isinstance(names, Mapping):
        return list(names.items())
    columns = list(names)
    for name in columns:
        if not isinstance(name, str):
            raise PolicyError(
                f"the argument {argument}: {name!r} is no name of a column",
                code="wrong-type",
                hint="give names as texts",
                place=Place(argument=argument),
            )
    return [(name, None) for name in columns]


def _said(place: str, own: Any) -> list[tuple[str, Any]]:
    """What is said of a column beside its role."""
    if own is None:
        return []
    if isinstance(own, Hierarchy):
        return [("hierarchy", own.value)]
    if isinstance(own, Mapping):
        plain = {key: value.value if isinstance(value, Hierarchy) else value for key, value in own.items()}
        if "role" in plain:
            raise PolicyError(
                f"the argument {place}: the role is told by the argument that the column stands in",
                code="unknown-key",
                hint="leave role out",
                place=Place(argument=place),
            )
        return list(plain.items())
    raise PolicyError(
        f"the argument {place}: a value of type {type(own).__name__} says nothing of a column",
        code="wrong-type",
        hint='give {}, a dict such as {"weight": 2}, or a hierarchy such as throng.prefix(4, 3)',
        place=Place(argument=place),
    )


def _unknown_argument(name: str) -> PolicyError:
    known = [*_PRIVACY, *_DATA, *_REPORT, *_ROLES, *_METHOD]
    close = difflib.get_close_matches(name, known, n=1)
    hint = f'did you mean "{close[0]}"?' if close else "docs/policy.md lists the keys"
    return PolicyError(
        f"the argument {name}: a policy has no key of this name",
        code="unknown-key",
        hint=hint,
        place=Place(argument=name),
    )
