"""Measures the Python package in one run: python crates/throng-python/bench.py

- `throng.anonymize` on a polars frame of 10^6 rows and 8 quasi-identifiers, beside the same stages of the command line on the same
  table (`--rows` for other sizes; methods as the first benchmark of README.md);
- Adult's bundled sample with k = 10, beside anjana where it is installed: time, loss and achieved k;
- the resident size after 50, 500 and 1,000 calls in a loop;
- the peak memory of a run as a multiple of the table's Arrow size, also alone with `--memory ROWS`.

The command line is taken from `target/release/throng`; build both with the release profile first.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import polars as pl

import throng

REPOSITORY = Path(__file__).resolve().parents[2]
STAGES = ["read", "encode", "anonymize", "write", "audit"]


def table(rows: int) -> pl.DataFrame:
    """A table that looks like Adult: eight quasi-identifiers of numbers and categories."""
    number = pl.int_range(rows, eager=True)
    mixed = (number * 2654435761) % 4294967296
    sizes = {"age": 73, "hours": 94, "education": 16, "workclass": 8, "marital": 7, "occupation": 14, "race": 5, "country": 41}
    columns: dict[str, Any] = {}
    for at, (name, size) in enumerate(sizes.items()):
        values = ((mixed // (at * 97 + 1)) % (size * size)).sqrt().floor().cast(pl.Int64)
        columns[name] = values + 17 if at < 2 else pl.Series([f"{name} {value}" for value in range(size + 1)])[values.to_list()]
    return pl.DataFrame(columns)


def policy(frame: pl.DataFrame) -> throng.Policy:
    return throng.Policy(k=50, quasi=frame.columns, seed=1)


def beside_the_command_line(rows: int, repeats: int) -> None:
    program = REPOSITORY / "target" / "release" / "throng"
    frame = table(rows)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        frame.write_csv(path / "table.csv")
        policy(frame).write(path / "policy.toml")
        print(f"{rows:,} rows, 8 quasi-identifiers, k = 50; seconds, the fastest of {repeats}")
        print(f"{'method':14}{'Python':>9}{'command line':>14}{'ratio':>7}   stages of Python")
        for method in ["mondrian", "hilbert", "hilbert-fast"]:
            own, other, stages = float("inf"), float("inf"), {}
            for _ in range(repeats):
                started = time.perf_counter()
                report = throng.anonymize(frame, policy(frame), method=method).report
                took = time.perf_counter() - started
                if took < own:
                    own, stages = took, report.seconds
                words = ["anonymize", path / "table.csv", "--policy", path / "policy.toml", "--method", method, "--quiet"]
                ends = ["-o", path / "release.csv", "--report", path / "report.json"]
                subprocess.run([program, *words, *ends], check=True)
                seconds = json.loads((path / "report.json").read_text())["seconds"]
                other = min(other, sum(seconds[stage] for stage in STAGES))
            told = ", ".join(f"{stage} {stages[stage]:.2f}" for stage in STAGES)
            print(f"{method:14}{own:9.2f}{other:14.2f}{own / other:7.2f}   {told}", flush=True)


def beside_anjana() -> None:
    try:
        from anjana.anonymity import k_anonymity
    except ImportError:
        print("anjana is not installed: pip install anjana")
        return
    import pandas as pd

    frame = pd.read_csv(REPOSITORY / "data" / "adult-sample.csv")
    quasi = ["workclass", "education", "marital-status", "occupation", "race", "sex", "native-country"]
    frame = frame[quasi].copy()
    hierarchies = {}
    for name in quasi:
        lines = (REPOSITORY / "data" / "hierarchies" / f"{name}.csv").read_text().splitlines()
        levels = list(zip(*[line.split(";") for line in lines]))
        place = {value: at for at, value in enumerate(levels[0])}
        rows = [place[value] for value in frame[name]]
        hierarchies[name] = {at: [level[row] for row in rows] for at, level in enumerate(levels)}
    own = throng.Policy(
        k=10,
        quasi={name: throng.hierarchy(REPOSITORY / "data" / "hierarchies" / f"{name}.csv") for name in quasi},
        suppress=0.0,
        seed=1,
    )
    print("\nAdult (bundled sample), k = 10, 7 quasi-identifiers")
    print(f"{'':16}{'seconds':>9}{'loss (GCP)':>12}{'k':>6}{'rows':>7}")
    started = time.perf_counter()
    theirs = k_anonymity(frame.copy(), [], quasi, 10, 0, hierarchies)
    seconds = time.perf_counter() - started
    audit = throng.audit(frame, theirs.reset_index(drop=True)[quasi], own)
    print(f"{'anjana':16}{seconds:9.3f}{audit.gcp:12.4f}{audit.k:6}{len(theirs):7}")
    for method in ["rv-global", "mondrian", "peel"]:
        started = time.perf_counter()
        result = throng.anonymize(frame, own, method=method)
        took = time.perf_counter() - started
        report = result.report
        print(f"{method:16}{took:9.3f}{report.gcp:12.4f}{report.k:6}{report.rows_published:7}   {seconds / took:.0f} x faster")


def memory(rows: int) -> None:
    """In processes of their own: making the table takes more memory than anonymizing it."""
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "table.arrow")
        subprocess.run([sys.executable, __file__, "--make", path, "--rows", str(rows)], check=True)
        subprocess.run([sys.executable, __file__, "--memory-of", path], check=True)


def peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def memory_of(path: str) -> None:
    frame = pl.read_ipc(path)
    size, before = frame.to_arrow().nbytes, peak()
    throng.anonymize(frame, policy(frame), method="hilbert-fast")
    told = f"Arrow {size / 2**20:.0f} MiB, peak {peak() / 2**20:.0f} MiB ({peak() / size:.2f} x)"
    print(f"\n{len(frame):,} rows: {told}, before the run {before / 2**20:.0f} MiB")


def calls(count: int) -> None:
    """The resident size after calls in a loop."""
    frame = table(2_000)
    sizes = []
    for _ in range(count):
        throng.anonymize(frame, throng.Policy(k=5, quasi=frame.columns, seed=1), method="mondrian")
        sizes.append(int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize())
    told = ", ".join(f"after {at}: {sizes[at - 1] / 2**20:.1f}" for at in (50, count // 2, count))
    print(f"\n{count:,} calls, resident MiB {told}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--memory", type=int, metavar="ROWS", help="measure only this")
    parser.add_argument("--make", metavar="FILE", help=argparse.SUPPRESS)
    parser.add_argument("--memory-of", metavar="FILE", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.make:
        table(arguments.rows).write_ipc(arguments.make)
        return
    if arguments.memory_of:
        memory_of(arguments.memory_of)
        return
    if arguments.memory:
        memory(arguments.memory)
        return
    beside_the_command_line(arguments.rows, arguments.repeats)
    beside_anjana()
    calls(1_000)
    memory(arguments.rows)


if __name__ == "__main__":
    main()
