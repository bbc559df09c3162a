"""Reports, audits and the other calls."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import polars as pl
import pytest

import throng
from conftest import REPOSITORY, SECRET


@pytest.fixture(scope="module")
def result(adult: Path, adult_policy: Any) -> throng.Result:
    return throng.anonymize(pl.read_csv(adult).head(1000), adult_policy, method="hilbert", seed=3, secret=SECRET)


def test_a_report_is_typed_and_whole(result: throng.Result) -> None:
    report = result.report
    assert report.holds and report.k >= 10 and 0 < report.gcp < 1
    assert (report.method, report.seed, report.order) == ("hilbert", 3, "keyed")
    assert report.to_dict()["k"] == report.k
    assert report.provenance["overrides"] == ["method='hilbert'", "seed=3"]
    assert str(report).startswith("The requirement is met")
    with pytest.raises(AttributeError, match="no figure 'kk'"):
        report.kk


def test_a_report_shows_itself_in_notebooks(result: throng.Result, tmp_path: Path) -> None:
    fragment = result.report._repr_html_()
    assert fragment.startswith("<div><style>@scope") and fragment.endswith("</div>")
    for word in ["<html", "<body", ":root", "<script"]:
        assert word not in fragment
    assert "Asked for and achieved" in fragment
    page = result.report.save(tmp_path / "report.html").read_text()
    assert page.startswith("<!doctype html>") or page.startswith("<!DOCTYPE html>")
    assert json.loads(result.report.save(tmp_path / "report.json").read_text()) == result.report.to_dict()
    assert result.report.save(tmp_path / "report.txt").read_text() == f"{result.report}\n"


def test_plots_are_svg_that_stands_by_itself(result: throng.Result, adult_policy: Any, adult: Path) -> None:
    comparison = throng.compare(pl.read_csv(adult).head(300), adult_policy, methods=["mondrian", "hilbert"], k=[5, 10])
    for report in [result.report, comparison]:
        assert report.plots
        for plot in report.plots:
            assert ElementTree.fromstring(plot).tag == "{http://www.w3.org/2000/svg}svg"


def test_an_audit_finds_what_was_changed(result: throng.Result, adult: Path, adult_policy: Any) -> None:
    frame = pl.read_csv(adult).head(1000)
    audit = throng.audit(frame, result.release, adult_policy)
    assert audit.holds and audit.k == result.report.k and audit.gcp == result.report.gcp
    changed = result.release.to_polars().with_columns(pl.lit("Private").alias("workclass"))
    assert not throng.audit(frame, changed, adult_policy).holds


def test_an_audit_of_a_release_by_permutation(people: Any) -> None:
    policy = throng.Policy(l=2, quasi=["age", "city"], sensitive=["illness"], identifiers=["name"])
    result = throng.anonymize(people, policy, method="anatomy", seed=1)
    assert result.sensitive is not None and result.sensitive.columns == ["group", "illness", "count"]
    assert len(set(result.classes)) == len(set(result.release.to_dict()["group"]))
    assert throng.audit(people, result.release, policy, sensitive=result.sensitive).holds
    with pytest.raises(throng.ThrongError):
        throng.audit(people, result.release, policy)


def test_risk_is_that_of_the_command_line(adult: Path, adult_policy: Any, command: Any) -> None:
    done = command("risk", adult, "--policy", REPOSITORY / "data" / "adult.toml", "--json")
    expected = json.loads(done.stdout)
    risk = throng.risk(pl.read_csv(adult), adult_policy)
    assert risk.to_dict() == expected and risk.unique_records == expected["unique_records"]
    assert throng.risk(pl.read_csv(adult), adult_policy, fraction=0.1).to_dict() != expected


def test_a_comparison_has_every_combination(adult: Path, adult_policy: Any) -> None:
    comparison = throng.compare(adult, adult_policy, methods=["mondrian", "hilbert"], k=[5, 9999])
    assert [(run["method"], run["k"]) for run in comparison.runs] == [
        ("mondrian", 5), ("hilbert", 5), ("mondrian", 9999), ("hilbert", 9999),
    ]  # fmt: skip
    assert [run["code"] for run in comparison.runs] == [None, None, "k-exceeds-table", "k-exceeds-table"]
    assert "mondrian" in str(comparison)


@pytest.mark.parametrize("task", ["queries", "cube", "classify", "partition"])
def test_every_task_takes_frames_as_it_takes_files(task: str, adult: Path, adult_policy: Any, tmp_path: Path) -> None:
    if task == "cube":
        adult_policy = throng.Policy(k=10, quasi=["age", "sex", "race"], sensitive=["salary-class"], unlisted="drop")
    frame = pl.read_csv(adult).head(400)
    frame.write_csv(tmp_path / "table.csv")
    release = throng.anonymize(frame, adult_policy, method="mondrian", seed=1, secret=SECRET)
    release.write(tmp_path / "release.csv")
    options = {"folds": 2} if task == "classify" else {}
    common: dict[str, Any] = {"task": task, "seed": 1, "options": options, "method": "mondrian", "secret": SECRET}
    from_frame = throng.evaluate(frame, adult_policy, release=release.release, **common)
    from_files = throng.evaluate(tmp_path / "table.csv", adult_policy, release=tmp_path / "release.csv", **common)
    assert from_frame.to_dict() == from_files.to_dict()
    made = throng.evaluate(frame, adult_policy, **common)
    assert made.task == task and made.method == "mondrian" and made.k >= 10
    assert made._repr_html_().startswith("<div>")


def test_simulations_are_those_of_the_command_line(command: Any) -> None:
    words = ["--attributes", 7, "--k", 5, "--records", 7500, "--repetitions", 20, "--json"]
    expected = json.loads(command("simulate", *words).stdout)
    assert throng.simulate(attributes=7, k=5, records=7500, repetitions=20).to_dict() == expected
    with pytest.raises(throng.ThrongError):
        throng.simulate(attributes=7, values=[2, 3], k=5, records=10)
    with pytest.raises(throng.ThrongError):
        throng.simulate(attributes=7, k=5)


def test_a_table_can_be_simulated(adult: Path, adult_policy: Any) -> None:
    simulation = throng.simulate(table=adult, policy=adult_policy, k=2, records=100, repetitions=5)
    assert "100" in str(simulation)


def test_methods_are_those_of_the_command_line(command: Any) -> None:
    expected = json.loads(command("methods", "--json").stdout)
    assert [method.name for method in throng.methods()] == [one["name"] for one in expected]
    assert "mondrian" in repr(throng.methods())


def test_a_guessed_policy_is_that_of_init(adult: Path, command: Any, tmp_path: Path) -> None:
    command("init", adult, "-o", tmp_path / "first.toml")
    # The first line names the file, which a frame has not.
    guessed, expected = throng.Policy.guess(pl.read_csv(adult)).toml(), (tmp_path / "first.toml").read_text()
    assert guessed.splitlines()[1:] == expected.splitlines()[1:]


def test_a_recipe_masks_others_as_the_command_line_does(adult: Path, command: Any, tmp_path: Path) -> None:
    frame = pl.read_csv(adult).select("age", "sex", "salary-class")
    policy = throng.Policy(k=5, quasi=["age", "sex"], classes=["salary-class"], method="refine", seed=1)
    recipe = throng.anonymize(frame.head(2000), policy).recipe
    assert recipe is not None
    recipe.write(tmp_path / "recipe.json")
    assert throng.Recipe.read(tmp_path / "recipe.json") == recipe
    frame.tail(3000).write_csv(tmp_path / "others.csv")
    (tmp_path / "secret").write_bytes(SECRET)
    done = command(
        "apply", tmp_path / "recipe.json", tmp_path / "others.csv", "-o", tmp_path / "cli.csv",
        "--secret", tmp_path / "secret", "--unmet", "suppress", "--quiet",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    masked = recipe.apply(frame.tail(3000), secret=SECRET, unmet="suppress")
    assert masked.write(tmp_path / "python.csv").read_bytes() == (tmp_path / "cli.csv").read_bytes()
    with pytest.raises(throng.RequirementError) as caught:
        recipe.apply(frame.tail(3))
    assert caught.value.code == "recipe-not-safe"


def test_a_policy_in_python_says_all_that_toml_can_say(tmp_path: Path) -> None:
    (tmp_path / "job.csv").write_text("nurse;health;*\ndoctor;health;*\nclerk;office;*\n")
    policy = throng.Policy(
        k=2, l=1.5, suppress=0.1, missing=["", "?"], incomplete="drop", unlisted="drop", strict=False,
        own_k=[{"where": {"age": [0, 17]}, "k": 3}], method="mondrian", seed=3,
        sensitive={"diagnosis": {"hierarchy": {"infection": ["flu", "cold"], "joint": ["gout"]}}},
        identifiers=["name"], classes="buys",
        quasi={
            "age": {"weight": 2.0, "rules": [{"cut": [64, 65], "importance": 25}], "top": "auto"},
            "zip": throng.prefix(4, 3, 2),
            "admitted": throng.dates("month", "year"),
            "job": throng.hierarchy(tmp_path / "job.csv"),
            "race": {"weight": "auto", "leaf_weights": {"White": 2.0}, "kind": "categorical"},
            "height": {"hierarchy": throng.intervals(5, 10), "kind": "numeric"},
        },
        evaluate={"classify": {"folds": 3}},
    )  # fmt: skip
    assert throng.Policy.parse(policy.toml()).roles == policy.roles
    assert policy.roles["job"] == "quasi" and policy.k == 2 and policy.method == "mondrian"
    several = throng.Policy(
        quasi=["age", "sex"],
        quasi_identifiers=[{"attributes": ["age"], "k": 4}, {"attributes": ["age", "sex"], "k": 2}],
    )
    assert several.k is None
    assert throng.Policy(max_gcp=0.15, quasi=["age"]).toml()
    policy.write(tmp_path / "policy.toml")
    assert throng.Policy.read(tmp_path / "policy.toml").roles == policy.roles


def test_every_key_of_the_documents_is_an_argument() -> None:
    from throng import _policy

    page = (REPOSITORY / "docs" / "policy.md").read_text()
    # Series of releases and limits on memory are for the command line.
    section = page[page.index("## `[data]`") : page.index("## `[series]`")]
    keys = {word.strip(" `") for line in section.splitlines() if line.startswith("| `") for word in line.split("|")[1].split(",")}
    assert keys and keys <= {*_policy._DATA, *_policy._REPORT, *_policy._PRIVACY}
