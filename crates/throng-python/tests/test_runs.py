"""Runs: threads, Ctrl-C, progress, memory, forks."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import throng
from conftest import SECRET

AGES = throng.Policy(k=2, quasi=["age"], seed=1)


def table(rows: int) -> pl.DataFrame:
    numbers = pl.int_range(rows, eager=True)
    return pl.DataFrame({f"q{at}": (numbers * (7919 + 2 * at)) % (90 + at) for at in range(6)})


def slow_policy() -> throng.Policy:
    return throng.Policy(k=10, quasi=[f"q{at}" for at in range(6)], seed=1)


def test_two_threads_at_once_give_what_one_gives(people: Any, policy: Any) -> None:
    def run(_: int) -> Any:
        return throng.anonymize(people, policy, method="mondrian", secret=SECRET).release.to_dict()

    with ThreadPoolExecutor(4) as pool:
        assert all(made == run(0) for made in pool.map(run, range(40)))


def test_the_interpreter_goes_on_meanwhile() -> None:
    ticks, done = [0], threading.Event()

    def tick() -> None:
        while not done.wait(0.005):
            ticks[0] += 1

    other = threading.Thread(target=tick)
    other.start()
    started = time.monotonic()
    throng.anonymize(table(20_000), slow_policy(), method="mondrian", threads=1)
    seconds = time.monotonic() - started
    done.set()
    other.join()
    assert ticks[0] > 10 * min(seconds, 1), (ticks, seconds)


INTERRUPTED = """
import sys, time
sys.path.insert(0, {tests!r})
import throng
from test_runs import slow_policy, table
frame, policy = table(200_000), slow_policy()
print("ready", flush=True)
try:
    throng.anonymize(frame, policy, method={method!r})
    print("done")
except KeyboardInterrupt:
    print("stopped", time.time(), flush=True)
print(throng.anonymize({{"age": [1, 2]}}, throng.Policy(k=2, quasi=["age"])).report.k)
"""


@pytest.mark.parametrize("method", ["peel", "top-down"])
def test_ctrl_c_stops_a_run_and_leaves_nothing(method: str, tmp_path: Path) -> None:
    code = INTERRUPTED.format(tests=os.path.dirname(__file__), method=method)
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, cwd=tmp_path) as child:
        assert child.stdout is not None and child.stdout.readline() == "ready\n"
        time.sleep(0.6)
        sent = time.time()
        child.send_signal(signal.SIGINT)
        told = child.stdout.readline().split()
        assert told[0] == "stopped", told
        # Half a second is promised; a busy machine may take longer, so it is only told.
        print(f"{method}: stopped after {float(told[1]) - sent:.2f} s")
        assert child.stdout.readline() == "2\n"
        assert child.wait(60) == 0
    assert list(tmp_path.iterdir()) == []


WRITING = """
import sys, time
sys.path.insert(0, {tests!r})
import throng
from test_runs import slow_policy, table
release = throng.anonymize(table(200_000), slow_policy(), method="hilbert-fast").release
print("ready", flush=True)
try:
    release.write("release.csv.gz")
    print("done")
except KeyboardInterrupt:
    print("stopped", flush=True)
time.sleep(3)
"""


def test_ctrl_c_while_a_file_is_written_leaves_none(tmp_path: Path) -> None:
    code = WRITING.format(tests=os.path.dirname(__file__))
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, cwd=tmp_path) as child:
        assert child.stdout is not None and child.stdout.readline() == "ready\n"
        time.sleep(0.02)
        child.send_signal(signal.SIGINT)
        told = child.stdout.readline()
        assert child.wait(60) == 0
    # A machine that is fast enough may have been done before.
    assert (told, os.listdir(tmp_path)) in [("stopped\n", []), ("done\n", ["release.csv.gz"])]


def test_a_limit_in_seconds_is_taken_with_every_method(people: Any, policy: Any) -> None:
    for method in ["auto", "peel", "mondrian"]:
        report = throng.anonymize(people, policy, method=method, seconds=5).report
        assert report.k >= 2 and "seconds=5" in report.provenance["overrides"]
    for wrong in [0, -1, float("nan"), 1e10]:
        with pytest.raises(throng.ThrongError) as caught:
            throng.anonymize(people, policy, seconds=wrong)
        assert (caught.value.code, caught.value.place.argument) == ("bad-usage", "seconds")


def test_progress_is_told_to_a_callable(people: Any, policy: Any) -> None:
    told: list[tuple[str, int, int | None]] = []
    throng.anonymize(people, policy, progress=lambda *words: told.append(words))
    assert {"writing"} <= {stage for stage, _, _ in told}
    assert all(done >= 0 for _, done, _ in told)


def test_progress_with_tqdm_and_without_anything(people: Any, policy: Any, capfd: Any) -> None:
    assert throng.anonymize(people, policy, progress=True).report.k >= 2
    capfd.readouterr()
    assert throng.anonymize(people, policy, progress=False).report.k >= 2
    assert capfd.readouterr() == ("", "")


def test_what_a_callable_raises_stops_the_run(people: Any, policy: Any) -> None:
    def fail(*_: Any) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        throng.anonymize(people, policy, progress=fail)


def test_results_do_not_depend_on_the_number_of_threads(people: Any, policy: Any) -> None:
    made = [throng.anonymize(people, policy, secret=SECRET, threads=threads).release.to_dict() for threads in (1, 2, 3)]
    assert made[0] == made[1] == made[2]


def everything() -> Any:
    """All that may start threads."""
    frame = pl.DataFrame({"age": list(range(100)), "ill": ["a", "b"] * 50}, schema_overrides={"ill": pl.Categorical})
    policy = throng.Policy(k=2, quasi=["age"], classes=["ill"], seed=1)
    result = throng.anonymize(frame, policy, method="mondrian", secret=SECRET)
    assert throng.audit(frame, result.release, policy).holds and throng.risk(frame, policy).rows == 100
    return result.report.k, result.classes, result.release.to_dict()


def child_of_fork(queue: Any) -> None:
    queue.put(everything())


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_process_that_forks_after_a_run_can_run_again() -> None:
    expected = everything()
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=child_of_fork, args=(queue,))
    child.start()
    assert queue.get(timeout=60) == expected
    child.join(60)
    assert child.exitcode == 0


def resident() -> float:
    """Mebibytes of this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_thousand_calls_leave_the_memory_where_it_was() -> None:
    frame = table(40)
    # One pass of the bound: its cost is not what is asked here.
    policy = throng.Policy(k=10, quasi=[f"q{at}" for at in range(6)], seed=1, bound={"passes": 1})

    def call() -> None:
        result = throng.anonymize(frame, policy, method="mondrian", threads=1)
        result.release.to_polars()
        str(result.report)

    for _ in range(50):
        call()
    before = resident()
    for _ in range(950):
        call()
    assert resident() - before < 16
