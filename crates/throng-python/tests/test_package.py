"""Doctests, types and the example notebook."""

from __future__ import annotations

import doctest
import importlib
import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

import throng
from conftest import REPOSITORY

HERE = Path(__file__).resolve().parent
MODULES = ["throng", "throng._errors", "throng._policy", "throng._report", "throng._run", "throng._table", "throng.sklearn"]


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_docstrings(name: str) -> None:
    outcome = doctest.testmod(importlib.import_module(name), optionflags=doctest.IGNORE_EXCEPTION_DETAIL)
    assert outcome.failed == 0 and outcome.attempted > 0


def test_everything_that_is_public_has_words() -> None:
    for name in throng.__all__:
        if name not in ("Tabular", "__version__"):
            assert getattr(throng, name).__doc__, name


def test_the_package_needs_nothing_but_itself() -> None:
    code = (
        "import sys\n"
        "for name in ('polars', 'pandas', 'pyarrow', 'sklearn', 'tqdm', 'numpy'):\n"
        "    sys.modules[name] = None\n"
        "import throng\n"
        "policy = throng.Policy(k=2, quasi=['age'])\n"
        "result = throng.anonymize({'age': [31, 34]}, policy, progress=True)\n"
        "assert result.release.to_dict() == {'age': ['[31-34]', '[31-34]']}\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_parts_that_need_other_packages_come_when_they_are_asked_for() -> None:
    code = "import sys, throng\nassert 'sklearn' not in sys.modules\nprint(throng.sklearn.Anonymizer(throng.Policy(k=2, quasi=['age'])))\n"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "Anonymizer" in done.stdout
    assert not hasattr(throng, "no_such_part")


def test_types() -> None:
    sources = HERE.parent / "python"
    words = [sys.executable, "-m", "mypy", "--strict", "--no-incremental", "--python-version", "3.10"]
    quiet = ["--ignore-missing-imports", "--disable-error-code", "import-untyped", "--follow-imports", "silent"]
    done = subprocess.run(
        [*words, *quiet, str(sources / "throng"), str(HERE / "sample.py"), str(HERE.parent / "examples" / "release_on_spark.py")],
        capture_output=True,
        text=True,
        check=False,
        cwd=HERE,
        env={**os.environ, "MYPYPATH": str(sources)},
    )
    assert done.returncode == 0, done.stdout + done.stderr


def blocks(page: str) -> list[str]:
    return [block.split("```")[0] for block in page.split("```python\n")[1:]]


@pytest.mark.parametrize("page", ["docs/python.md", "README.md", "crates/throng-python/README.md"])
def test_the_documents_run(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "data").symlink_to(REPOSITORY / "data")
    monkeypatch.chdir(tmp_path)
    ages = list(range(20, 80))
    frame = {"name": [f"n{age}" for age in ages], "age": ages, "zip": [str(9000 + age // 9) for age in ages], "diagnosis": ["a", "b"] * 30}
    names: dict[str, object] = {"df": frame}
    code = blocks((REPOSITORY / page).read_text())
    assert code
    for block in code:
        exec(compile(block, page, "exec"), names)


def test_the_notebook_runs_from_top_to_bottom() -> None:
    path = HERE.parent / "examples" / "first-release.ipynb"
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": path.parent}})
    client.execute()
    shown = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert any("text/html" in output.get("data", {}) for output in shown)
