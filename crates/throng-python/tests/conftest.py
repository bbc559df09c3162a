"""What the tests share."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

import throng

REPOSITORY = Path(__file__).resolve().parents[3]
SECRET = b"a secret of the tests, 32 bytes."


@pytest.fixture(scope="session")
def command() -> Any:
    """Runs the command line."""
    folder = Path(os.environ.get("CARGO_TARGET_DIR", REPOSITORY / "target"))
    program = Path(os.environ.get("THRONG_COMMAND", folder / "debug" / "throng"))
    if not program.exists():
        pytest.fail(f"{program} is not there: run `cargo build -p throng-cli` first, or set THRONG_COMMAND")

    def run(*arguments: object) -> subprocess.CompletedProcess[str]:
        words = [str(program), *map(str, arguments)]
        return subprocess.run(words, capture_output=True, text=True, check=False)

    return run


@pytest.fixture(scope="session")
def adult() -> Path:
    """The bundled sample."""
    return REPOSITORY / "data" / "adult-sample.csv"


@pytest.fixture(scope="session")
def adult_policy() -> throng.Policy:
    return throng.Policy.read(REPOSITORY / "data" / "adult.toml")


@pytest.fixture
def people() -> dict[str, list[Any]]:
    return {
        "name": ["Ada", "Ben", "Cleo", "Dan", "Eve", "Fay"],
        "age": [31, 34, 36, 52, 55, 58],
        "city": ["Rome", "Rome", "Oslo", "Oslo", "Rome", "Rome"],
        "illness": ["flu", "cold", "flu", "gout", "cold", "flu"],
    }


@pytest.fixture
def policy() -> throng.Policy:
    return throng.Policy(k=2, quasi=["age", "city"], sensitive=["illness"], identifiers=["name"], seed=7)
