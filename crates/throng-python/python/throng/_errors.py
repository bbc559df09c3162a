"""What can go wrong. The extension module calls `made` for every error of the library."""

from __future__ import annotations

import re
from typing import Any, Mapping, NamedTuple

_POLICY = frozenset(
    """bad-policy-syntax unknown-key duplicate-key missing-key wrong-type bad-value nothing-required
    no-quasi-identifier no-sensitive-attribute not-one-sensitive no-class-attribute unknown-attribute wrong-kind bad-rule
    bad-hierarchy hierarchy-two-parents unknown-method method-does-not-fit unknown-option bad-option unknown-task
    no-masks bad-queries""".split()
)
_DATA = frozenset(
    """file-not-found permission-denied cannot-read is-a-folder unknown-value hierarchy-leaf-missing unknown-column
    unlisted-column unconfirmed-identifier duplicate-column empty-table no-header not-utf8 unclosed-quote
    wrong-cell-count record-too-long bad-cell no-person bad-json-line nested-value unreadable-file unreadable-type
    expands-too-much batches-differ table-too-large table-changed cell-does-not-fit not-this-release sensitive-table-missing""".split()
)


class Place(NamedTuple):
    """Where a mistake is; parts that are not known are None.

    >>> import throng
    >>> try:
    ...     throng.Policy(k=2, quasi={"zip": {"weight": -1}})
    ... except throng.PolicyError as error:
    ...     error.place.argument, error.place.attribute
    ('quasi["zip"]["weight"]', 'zip')
    """

    argument: str | None = None
    """The argument of a call, such as ``quasi["zip"]``."""
    file: str | None = None
    """The file."""
    line: int | None = None
    """The line of the file, or the row of a table in memory; from 1."""
    column: int | None = None
    """The column: characters in policies, fields in tables; from 1."""
    attribute: str | None = None
    """The name of the column of the table."""


class ThrongError(Exception):
    """Something that went wrong, with a code to branch on.

    >>> import throng
    >>> try:
    ...     throng.anonymize({"age": [31, 34]}, throng.Policy(k=3, quasi=["age"]))
    ... except throng.ThrongError as error:
    ...     error.code, error.hint
    ('k-exceeds-table', 'the largest possible k is 2')
    """

    code: str
    """A stable word for what went wrong; ``docs/errors.md`` lists all of them."""
    hint: str | None
    """What to do about it."""
    place: Place
    """Where it is."""
    message: str
    """The sentence alone."""

    def __init__(
        self,
        message: str,
        *,
        code: str = "bad-usage",
        hint: str | None = None,
        place: Place = Place(),
        excerpt: str = "",
    ) -> None:
        super().__init__(message)
        self.message, self.code, self.hint, self.place = message, code, hint, place
        self._excerpt = excerpt

    def __str__(self) -> str:
        lines = [self.message]
        where = _where(self.place)
        if where:
            lines.append(f"  at {where}")
        if self._excerpt:
            lines.append(self._excerpt)
        if self.hint:
            lines.append(f"  help: {self.hint}")
        return "\n".join(lines)

    def __reduce__(self) -> Any:
        return _again, (type(self), self.message, dict(self.__dict__))


class PolicyError(ThrongError, ValueError):
    """The policy, or an argument, says something that it cannot say."""


class DataError(ThrongError, ValueError):
    """The table cannot be read, or does not fit the policy."""


class RequirementError(ThrongError):
    """Policy and table are fine, but what is asked for cannot be met.

    >>> import throng
    >>> try:
    ...     throng.anonymize({"age": [31, 34]}, throng.Policy(k=3, quasi=["age"]))
    ... except throng.RequirementError as error:
    ...     error.reachable
    {'k': 2}
    """

    reachable: Mapping[str, float]
    """The most that could be asked for, where that is known: ``{"k": 20}``."""

    def __init__(self, message: str, *, reachable: Mapping[str, float] | None = None, **rest: Any) -> None:
        super().__init__(message, **rest)
        self.reachable = dict(reachable or {})


class Bug(ThrongError):
    """A mistake in throng itself; please report it."""


def _again(kind: type[ThrongError], message: str, own: dict[str, Any]) -> ThrongError:
    error = kind(message)
    error.__dict__.update(own)
    return error


def _where(place: Place) -> str:
    parts = [place.file] if place.file else []
    parts += [f"line {place.line}"] if place.line else []
    parts += [f"column {place.column}"] if place.column else []
    parts += [f'attribute "{place.attribute}"'] if place.attribute else []
    return ", ".join(parts)


def _excerpt(excerpt: tuple[str, int, str] | None) -> str:
    """The line of a policy with a mark below it."""
    if excerpt is None:
        return ""
    source, start, label = excerpt
    before = source.encode()[:start].decode(errors="replace")
    number, indent = before.count("\n"), len(before) - (before.rfind("\n") + 1)
    lines = source.splitlines()
    if number >= len(lines):
        return ""
    return f"    {lines[number]}\n    {' ' * indent}^ {label}".rstrip()


_CHOICES = {
    "publish": ("cells", "bounds", "midpoints", "permutation"),
    "task": ("queries", "classify", "regress", "partition"),
}
_ARGUMENTS = frozenset(
    """after escape_formulas fraction k l memory method midpoint output parts policy population queries release scratch seconds
    secret seed sensitive threads""".split()
).union(_CHOICES)


def _as_arguments(text: str) -> str:
    """Flags of the command line as the arguments that stand for them here.

    >>> _as_arguments("leave out --publish permutation, or name another disk with --scratch DIR; --keep-order")
    'leave out publish="permutation", or name another disk with scratch=; order="keep"'
    """

    def one(found: re.Match[str]) -> str:
        name, value = found.group(1).replace("-", "_"), found.group(2)
        rest = f" {value}" if value else ""
        if name == "keep_order":
            return f'order="keep"{rest}'
        if name not in _ARGUMENTS:
            return found.group(0)
        if value and (value in _CHOICES.get(name, ()) or name == "method" and value.islower()):
            return f'{name}="{value}"'
        return f"{name}=" if not value or value.isupper() else f"{name}={rest}"

    return re.sub(r"--([a-z]+(?:-[a-z]+)*)(?: ([A-Za-z]+(?:-[a-z]+)*))?", one, text)


def made(
    *,
    code: str,
    fault: str,
    message: str,
    hint: str | None,
    place: Mapping[str, Any],
    excerpt: tuple[str, int, str] | None,
    reachable: tuple[str, str] | None,
) -> BaseException:
    """The exception of an error of the library."""
    if fault == "cancelled":
        return KeyboardInterrupt(message)
    message, hint = _as_arguments(message), hint and _as_arguments(hint)
    argument = re.match(r"the argument (\S+?): ", message)
    own = Place(argument=argument.group(1) if argument else None, **place)
    rest: dict[str, Any] = {"code": code, "hint": hint, "place": own, "excerpt": _excerpt(excerpt)}
    if fault == "requirement":
        known = {} if reachable is None else {reachable[0]: _number(reachable[1])}
        return RequirementError(message, reachable=known, **rest)
    return _kind(code, fault)(message, **rest)


def _kind(code: str, fault: str) -> type[ThrongError]:
    if fault == "bug":
        return Bug
    if code in _POLICY:
        return PolicyError
    return DataError if code in _DATA else ThrongError


def _number(text: str) -> float:
    number = float(text)
    return int(number) if number.is_integer() else number
