"""Run commits that die at each of their steps, each in a process of its own, and print what the lake has then.

A process that has used delta-rs must not be forked, so that this one uses it in its children only.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from lake_helpers import put, told
from nightly import sample

from conformance.pipeline.lake import Lake
from conformance.pipeline.lakes import delta_tables
from conformance.pipeline.lakes.store import LocalStore
from conformance.pipeline.schemas import TABLES

STEPS = ("write", "create", "remove", "clear", "sink")
DIED = 9


def in_child(act: Callable[[], Any]) -> tuple[int, Any]:
    """Run something in a child; how it ended, and what it returned."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        code = 1
        try:
            data = json.dumps(act()).encode()
            os.write(writing, data)
            code = 0
        finally:
            os._exit(code)
    os.close(writing)
    with os.fdopen(reading, "rb") as file:
        data = file.read()
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), json.loads(data) if data else None


def dying(at: int) -> list[str]:
    """Make this process die before its step of this number; gives the steps, which grow as they are done."""
    steps: list[str] = []

    def counted(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def step(*given: Any, **more: Any) -> Any:
            if len(steps) == at:
                os._exit(DIED)
            steps.append(f"{name} {given[1]}")
            return function(*given, **more)

        return step

    for name in STEPS:
        setattr(LocalStore, name, counted(name, getattr(LocalStore, name)))
    for module in (delta_tables,):
        module.change = counted("change", module.change)
        module.make = counted("make", module.make)
    return steps


def passed_over(steps: Sequence[str], at: int) -> bool:
    """Tell whether a step is between two of the same kind, so that it shows nothing that these do not."""
    kinds = [one.partition(" ")[0] for one in steps[max(0, at - 1) : at + 2]]
    return at > 0 and len(set(kinds)) == 1 and kinds[0] not in ("change", "sink")


def name(step: str) -> str:
    """A step without the table and the number that tell it from others of its kind."""
    kind, _, place = step.partition(" ")
    table, _, below = place.partition("/")
    return f"{kind} {'table' if table in TABLES else table} {below.partition('/')[0].partition('=')[0]}"


def one_of_each(steps: Sequence[str]) -> list[int]:
    """The first step of each kind among those of its kind that have the same kinds of step before and after them."""
    met: dict[tuple[str, ...], int] = {}
    for at in range(len(steps)):
        met.setdefault(tuple(name(one) for one in steps[max(0, at - 1) : at + 2]), at)
    return list(met.values())


def some(steps: Sequence[str]) -> Sequence[int]:
    """The steps to die at: at a push the first and the last of each kind."""
    last = (len(steps) - 1 - at for at in one_of_each(steps[::-1]))
    return sample("pipeline.steps-of-a-death", range(len(steps)), sorted({*one_of_each(steps), *last}))


def seen(lake: Lake) -> dict[str, Any]:
    """What a reader finds."""
    lake.located()
    return {table: sorted(told(lake, table).items()) for table in TABLES}


def main(folder: Path, how: str, first: str, second: str) -> None:
    """Put one capture into a lake; then let the ingest of another, which continues it, die at each step."""

    def act(place: Path) -> Lake:
        return put(place, [second])[0]

    def start() -> Any:
        made = Lake.open(folder / "start", create=True)
        return seen(put(made.root, [first])[0])

    def whole(place: Path, at: int = -1) -> Any:
        steps = dying(at)
        lake = act(place)
        return [seen(lake), steps]

    def after(place: Path) -> Any:
        found = seen(Lake.open(place))
        lake = act(place)
        files = {str(path) for path in place.rglob("*.parquet")}
        listed = {str(path) for path in lake.located().values()}
        dead = lake.snapshot().dropped
        return {
            "then": found,
            "again": seen(lake),
            "versions": lake.snapshot().version,
            "left": sorted(Path(one).name for one in files - listed),
            "states": [one.name for one in (place / "_state").iterdir()],
            "kept": [one.file for one in lake.snapshot().kept.values()],
            "staging": [str(one) for one in (place / "_staging").rglob("*")],
            "dropped": list(dead),
        }

    import deltalake.transaction  # noqa: F401 - each child would import and compile for itself
    import pyarrow.dataset  # noqa: F401

    put(folder / "warm", [first])
    code, before = in_child(start)
    assert code == 0
    shutil.copytree(folder / "start", folder / "whole")
    code, (done, steps) = in_child(lambda: whole(folder / "whole"))
    assert code == 0
    print(json.dumps({"before": before, "done": done, "steps": steps}), flush=True)
    for at in some(steps):
        if passed_over(steps, at):
            continue
        step = steps[at]
        place = folder / f"at{at}"
        shutil.copytree(folder / "start", place)
        code, _ = in_child(lambda place=place, at=at: whole(place, at))
        assert code == DIED, (at, step, code)
        code, found = in_child(lambda place=place: after(place))
        assert code == 0, (at, step)
        print(json.dumps({"at": at, "step": step, **found}), flush=True)
        shutil.rmtree(place)


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:5])
