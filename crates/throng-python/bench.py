"""Measures the Python package in one run: python crates/throng-python/bench.py

- `throng.anonymize` on a polars frame of 10^6 rows and 8 quasi-identifiers, beside the command line on the same table;
- Adult's bundled sample with k = 10, beside anjana where it is installed: time, loss and achieved k;
- k, l and t of six methods on the same sample, beside what pyCANON measures, where it is installed;
- the resident size after 50, 500 and 1,000 calls in a loop;
- the peak memory of a run over 10^7 rows as a multiple of the table's Arrow size.

Names of parts (`speed`, `anjana`, `pycanon`, `calls`, `memory`) run these alone. The command line is taken from `target/release/throng`; build
it and the package with the release profile, from the same sources.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import polars as pl

import throng

REPOSITORY = Path(__file__).resolve().parents[2]
STAGES = ["read", "encode", "anonymize", "write", "audit"]
DEFINITION = """\
Python   the whole call throng.anonymize(frame), by the clock: from a polars frame in memory to an audited release in memory
stages   of the command line: read, encode, anonymize, write and audit, from a file to a file, as its report tells them
command  the whole command by the clock: the stages, its start, its end, and the report with hashes of both files
CPU      seconds of all cores, of the whole call and of the whole command"""


def table(rows: int) -> pl.DataFrame:
    """A table that looks like Adult: eight quasi-identifiers of numbers and categories."""
    number = pl.int_range(rows, eager=True)
    mixed = (number * 2654435761) % 4294967296
    sizes = {"age": 73, "hours": 94, "education": 16, "workclass": 8, "marital": 7, "occupation": 14, "race": 5, "country": 41}
    columns: dict[str, Any] = {}
    for at, (name, size) in enumerate(sizes.items()):
        values = ((mixed // (at * 97 + 1)) % (size * size)).sqrt().floor().cast(pl.Int64)
        columns[name] = values + 17 if at < 2 else pl.Series([f"{name} {value}" for value in range(size + 1)]).gather(values)
    return pl.DataFrame(columns)


def policy(frame: pl.DataFrame) -> throng.Policy:
    return throng.Policy(k=50, quasi=frame.columns, seed=1)


class Command:
    """The command line on a table in a file of one format."""

    def __init__(self, frame: pl.DataFrame, folder: Path, ending: str) -> None:
        self.ending, self.folder = ending, folder
        self.program = REPOSITORY / "target" / "release" / "throng"
        self.table = folder / f"table.{ending}"
        frame.write_csv(self.table) if ending == "csv" else frame.write_ipc(self.table)
        policy(frame).write(folder / "policy.toml")

    def run(self, method: str) -> dict[str, float]:
        report = self.folder / "report.json"
        words = ["anonymize", self.table, "--policy", self.folder / "policy.toml", "--method", method, "--quiet"]
        started, used = time.perf_counter(), cpu(resource.RUSAGE_CHILDREN)
        subprocess.run([self.program, *words, "-o", self.folder / f"release.{self.ending}", "--report", report], check=True)
        took, used = time.perf_counter() - started, cpu(resource.RUSAGE_CHILDREN) - used
        return figures(json.loads(report.read_text())["seconds"], took, used)


def by_python(frame: pl.DataFrame, method: str) -> dict[str, float]:
    started, used = time.perf_counter(), cpu(resource.RUSAGE_SELF)
    seconds = throng.anonymize(frame, policy(frame), method=method).report.seconds
    took, used = time.perf_counter() - started, cpu(resource.RUSAGE_SELF) - used
    return figures(seconds, took, used)


def cpu(who: int) -> float:
    usage = resource.getrusage(who)
    return usage.ru_utime + usage.ru_stime


def figures(seconds: dict[str, float], took: float, used: float) -> dict[str, float]:
    own = {stage: seconds[stage] for stage in STAGES}
    return {**own, "stages": sum(own.values()), "whole": took, "cpu": used}


def beside_the_command_line(rows: int, repeats: int) -> None:
    frame = table(rows)
    with tempfile.TemporaryDirectory() as folder:
        arrow, csv = (Command(frame, Path(folder), ending) for ending in ("arrow", "csv"))
        print(f"{rows:,} rows, 8 quasi-identifiers, k = 50: seconds, medians of {repeats} rounds of one run each, in turns")
        print(DEFINITION)
        print(f"\n{'method':14}{'':12}{'stages':>8}{'ratio':>7}{'whole':>9}{'ratio':>7}{'CPU':>8}{'ratio':>7}")
        rows_of_stages = []
        for method in ["mondrian", "hilbert", "hilbert-fast"]:
            # Once each unmeasured: files and pages of memory are new.
            runs = [(by_python(frame, method), arrow.run(method), csv.run(method)) for _ in range(repeats + 1)][1:]
            sides = [{key: statistics.median(one[key] for one in side) for key in side[0]} for side in zip(*runs)]
            own = sides[0]
            for name, side in zip(("Python", "Arrow files", "CSV files"), sides):
                # The whole call counts against the stages.
                shown = [("stages", "whole", 8), ("whole", "whole", 9), ("cpu", "cpu", 8)]
                told = "".join(f"{side[key]:{width}.3f}{own[of] / side[key]:7.2f}" for key, of, width in shown)
                if side is own:
                    told = f"{own['stages']:8.3f}{'':7}{own['whole']:9.3f}{'':7}{own['cpu']:8.3f}"
                print(f"{method:14}{name:12}{told}", flush=True)
                rows_of_stages.append((method, name, side))
        print(f"\n{'stage by stage':26}{''.join(f'{stage:>11}' for stage in STAGES)}{'outside':>11}")
        for method, name, side in rows_of_stages:
            told = "".join(f"{side[stage]:11.3f}" for stage in STAGES)
            print(f"{method:14}{name:12}{told}{side['whole'] - side['stages']:11.3f}")
        print("ratio: the whole call in Python over this; of stages at most 1.15 is asked for")


HIERARCHIES = ["workclass", "education", "marital-status", "occupation", "race", "sex", "native-country"]


def beside_anjana() -> None:
    try:
        from anjana.anonymity import k_anonymity
    except ImportError:
        print("\nanjana is not installed: pip install anjana")
        return
    import pandas as pd

    frame = pd.read_csv(REPOSITORY / "data" / "adult-sample.csv")[HIERARCHIES].copy()
    hierarchies = {}
    for name in HIERARCHIES:
        lines = (REPOSITORY / "data" / "hierarchies" / f"{name}.csv").read_text().splitlines()
        levels = list(zip(*[line.split(";") for line in lines]))
        place = {value: at for at, value in enumerate(levels[0])}
        rows = [place[value] for value in frame[name]]
        hierarchies[name] = {at: [level[row] for row in rows] for at, level in enumerate(levels)}
    own = throng.Policy(
        k=10,
        quasi={name: throng.hierarchy(REPOSITORY / "data" / "hierarchies" / f"{name}.csv") for name in HIERARCHIES},
        suppress=0.0,
        seed=1,
    )
    print(f"\nAdult (bundled sample, {len(frame):,} rows), k = 10, {len(HIERARCHIES)} quasi-identifiers with hierarchies; each once")
    print(f"{'':16}{'seconds':>9}{'loss (GCP)':>12}{'k':>6}{'rows':>7}")
    started = time.perf_counter()
    # It takes arrays of numpy, which texts of pandas 3 are not.
    with pd.option_context("future.infer_string", False):
        theirs = k_anonymity(frame.astype(object), [], HIERARCHIES, 10, 0, hierarchies)
    seconds = time.perf_counter() - started
    audit = throng.audit(frame, theirs.reset_index(drop=True)[HIERARCHIES], own)
    print(f"{'anjana':16}{seconds:9.3f}{audit.gcp:12.4f}{audit.k:6}{len(theirs):7}")
    for method in ["mondrian", "hilbert-fast", "hilbert", "rv-global", "peel"]:
        started = time.perf_counter()
        report = throng.anonymize(frame, own, method=method).report
        took = time.perf_counter() - started
        told = f"{seconds / took:.0f} x faster, {report.gcp / audit.gcp:.2f} of the loss"
        print(f"{method:16}{took:9.3f}{report.gcp:12.4f}{report.k:6}{report.rows_published:7}   {told}", flush=True)


def beside_pycanon() -> None:
    try:
        from pycanon.anonymity import k_anonymity, l_diversity, t_closeness
    except ImportError:
        print("\npyCANON is not installed: pip install --no-deps pycanon")
        return
    import pandas as pd

    quasi = ["age", "workclass", "education", "marital-status", "race", "sex"]
    frame = pd.read_csv(REPOSITORY / "data" / "adult-sample.csv")[[*quasi, "occupation"]]
    own = throng.Policy(k=10, l=2, diversity="distinct", quasi=quasi, sensitive=["occupation"], seed=1)
    print(f"\nAdult (bundled sample, {len(frame):,} rows), k = 10, l = 2: the report's figures and pyCANON's")
    print(f"{'':16}{'k':>5}{'':>5}{'l':>5}{'':>5}{'t':>11}{'':>11}")
    for method in ["mondrian", "hilbert", "top-down", "bottom-up", "peel", "rv-local"]:
        result = throng.anonymize(frame, own, method=method)
        release = result.release.to_pandas().astype(str)
        told = next(one for one in result.report.sensitive if one["attribute"] == "occupation")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            k, l, t = (k_anonymity(release, quasi), l_diversity(release, quasi, ["occupation"]), t_closeness(release, quasi, ["occupation"]))
        same = (k, l) == (result.report.k, told["l_distinct"]) and abs(t - told["t"]) < 1e-9
        figures = f"{result.report.k:5}{k:5}{told['l_distinct']:5}{l:5}{told['t']:11.7f}{t:11.7f}"
        print(f"{method:16}{figures}   {'the same' if same else 'NOT THE SAME'}", flush=True)


def memory(rows: int) -> None:
    """In processes of their own: making the table takes more memory than anonymizing it."""
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "table.arrow")
        subprocess.run([sys.executable, __file__, "--make", path, "--rows", str(rows)], check=True)
        subprocess.run([sys.executable, __file__, "--memory-of", path], check=True)


def peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def memory_of(path: str) -> None:
    # From an open file, so that the frame is in memory and not a view of the file.
    with open(path, "rb") as file:
        frame = pl.read_ipc(file)
    size, before = frame.to_arrow().nbytes, peak()
    throng.anonymize(frame, policy(frame), method="hilbert-fast")
    told = f"the frame is {size / 2**20:.0f} MiB of Arrow, peak of the process {peak() / 2**20:.0f} MiB ({peak() / size:.2f} x)"
    print(f"\n{len(frame):,} rows with hilbert-fast: {told}, before the call {before / 2**20:.0f} MiB")


def calls(count: int) -> None:
    """The resident size after calls in a loop."""
    frame = table(2_000)
    sizes = []
    for _ in range(count):
        throng.anonymize(frame, throng.Policy(k=5, quasi=frame.columns, seed=1), method="mondrian")
        sizes.append(int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize())
    told = ", ".join(f"after {at}: {sizes[at - 1] / 2**20:.1f}" for at in (50, count // 2, count))
    print(f"\n{count:,} calls, resident MiB {told}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = {
        "speed": lambda: beside_the_command_line(arguments.rows, arguments.repeats),
        "anjana": beside_anjana,
        "pycanon": beside_pycanon,
        "calls": lambda: calls(1_000),
        "memory": lambda: memory(arguments.memory_rows),
    }
    parser.add_argument("parts", nargs="*", metavar="PART", help="parts to run; all by default")
    parser.add_argument("--rows", type=int, default=1_000_000, help="rows of the table that is timed")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--memory-rows", type=int, default=10_000_000, help="rows of the table whose memory is measured")
    parser.add_argument("--make", metavar="FILE", help=argparse.SUPPRESS)
    parser.add_argument("--memory-of", metavar="FILE", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.make:
        table(arguments.rows).write_ipc(arguments.make)
        return
    if arguments.memory_of:
        memory_of(arguments.memory_of)
        return
    unknown = set(arguments.parts) - set(parts)
    if unknown:
        parser.error(f"no such part: {', '.join(sorted(unknown))}; there are {', '.join(parts)}")
    print(f"throng {throng.__version__}, Python {platform.python_version()}, polars {pl.__version__}, {os.cpu_count()} cores\n")
    for name, run in parts.items():
        if not arguments.parts or name in arguments.parts:
            run()


if __name__ == "__main__":
    main()
