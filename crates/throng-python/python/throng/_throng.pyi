"""The extension module. What users need is in the package; nothing here is meant for them."""

from os import PathLike
from typing import Any, TypeAlias, TypedDict

__version__: str

Given: TypeAlias = tuple[str | None, Any]
Key: TypeAlias = tuple[str, str, str, Any, str]
Made: TypeAlias = tuple[Table, Table | None, Report, Recipe | None, bytes]

class Running(TypedDict):
    threads: int | None
    progress: Any
    secret: bytes | PathLike[str] | None

class Limit(TypedDict):
    memory: str | None
    scratch: PathLike[str] | None
    parts: int | None

class Drawn(TypedDict):
    values: list[int] | None
    table: Given | None
    k: int
    records: int | None
    repetitions: int
    needed: float | None
    seed: int

class Policy:
    @staticmethod
    def parse(text: str, path: str | PathLike[str] | None = None) -> Policy: ...
    @staticmethod
    def read(path: str) -> Policy: ...
    @staticmethod
    def guess(data: Given) -> Policy: ...
    @staticmethod
    def build(keys: list[Key]) -> Policy: ...
    def adjusted(
        self,
        method: str | None = None,
        k: int | None = None,
        l: float | None = None,
        seed: int | None = None,
        options: dict[str, Any] | None = None,
    ) -> Policy: ...
    def with_task_options(self, task: str, options: dict[str, Any]) -> Policy: ...
    @property
    def text(self) -> str: ...
    @property
    def path(self) -> PathLike[str] | None: ...
    @property
    def k(self) -> int | None: ...
    @property
    def memory(self) -> int | None: ...
    @property
    def method(self) -> str: ...
    def roles(self) -> list[tuple[str, str]]: ...

class Table:
    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...
    def __arrow_c_schema__(self) -> Any: ...
    def write(self, path: str, escape_formulas: bool | None = None) -> None: ...
    @property
    def rows(self) -> int: ...
    def columns(self) -> list[tuple[str, str]]: ...
    def lists(self) -> list[tuple[str, list[Any]]]: ...
    def classes(self, names: list[str], rows: bytes, total: int) -> list[int | None]: ...

class Report:
    def json(self) -> str: ...
    def text(self) -> str: ...
    def html(self) -> str | None: ...

class Recipe:
    @staticmethod
    def read(path: str) -> Recipe: ...
    @staticmethod
    def parse(json: str) -> Recipe: ...
    def json(self) -> str: ...

def anonymize(
    given: Given,
    policy: Policy,
    written: tuple[str, str, bool],
    overrides: list[str],
    running: Running,
) -> Made: ...
def anonymize_files(
    files: list[PathLike[str]],
    output: PathLike[str] | str,
    policy: Policy,
    written: tuple[str, str, bool],
    limit: Limit,
    overrides: list[str],
    running: Running,
) -> tuple[Report, Recipe | None]: ...
def apply(
    recipe: Recipe,
    given: Given,
    unmet: str,
    written: tuple[str, str, bool],
    running: Running,
) -> Made: ...
def audit(
    original: Given, release: Given, sensitive: Given | None, policy: Policy, running: Running
) -> Report: ...
def risk(
    given: Given, population: Given | None, fraction: float | None, policy: Policy, running: Running
) -> Report: ...
def compare(
    given: Given, methods: list[str], ks: list[int], queries: bool, policy: Policy, running: Running
) -> Report: ...
def evaluate(
    given: Given, release: Given | None, sensitive: Given | None, task: str, policy: Policy, running: Running
) -> Report: ...
def simulate(drawn: Drawn, policy: Policy | None, running: Running) -> Report: ...
def methods() -> str: ...
def error_codes() -> list[tuple[str, str]]: ...
