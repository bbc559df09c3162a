"""What a user writes, for mypy --strict."""

from __future__ import annotations

import throng


def publish(path: str) -> int:
    policy = throng.Policy(k=10, l=3, quasi={"age": {}, "zip": throng.prefix(4, 3)}, sensitive=["diagnosis"])
    result: throng.Result = throng.anonymize(path, policy, method="auto", seed=7, progress=True)
    report: throng.Run = result.report
    loss: float = report.gcp
    classes: list[int | None] = result.classes
    audit: throng.Audit = throng.audit(path, result.release, policy)
    if not audit.holds or loss > 0.5:
        raise SystemExit(1)
    written: throng.Written = throng.anonymize([path], policy, output="release.parquet", memory="2GiB", parts=4)
    if written.report.k < 10:
        raise SystemExit(1)
    try:
        throng.anonymize({"age": [1, 2, 3]}, policy)
    except throng.RequirementError as error:
        print(error.code, error.hint, error.place.attribute, error.reachable.get("k"))
    return len(classes) + len(result.release.to_polars())
