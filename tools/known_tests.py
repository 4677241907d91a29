"""Write `conformance/harness/known_tests.json`: the facets that each test needs, and how long it takes.

python -m tools.known_tests RECORD

RECORD: the folder of a default run on the embedded manager, for the seconds. The facets come from a run on a driver
that offers none: a test is skipped then, and says what it needs.
"""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from conformance.files import write_text
from conformance.harness import known_tests
from conformance.harness.guarded_client import NOT_OFFERED
from conformance.run import run
from conformance.runlog import Run, read_run

_METHOD = re.compile(r"[a-z_]+\.[a-z_]+")
Name = tuple[str, str]
"""Suite and test function."""


def facets(suites: Sequence[str] | None = None) -> dict[Name, frozenset[str]]:
    """Run the suites on a driver without facets; return the facets that each test function needs at least."""
    driver = shlex.join([sys.executable, str(Path(__file__).resolve()), "--driver"])
    with TemporaryDirectory() as folder:
        ran = run(adapter=f"stdio:{driver}", suites=suites, out=folder).record
        assert ran is not None
        found: dict[Name, frozenset[str]] = {}
        unknown: set[Name] = set()
        for number, said in ran.numbered():
            recorded = ran.verdicts.at(number)
            methods = str(recorded.verdict.reason).removeprefix(NOT_OFFERED).split(", ")
            needed = frozenset(method.partition(".")[0] for method in methods if _METHOD.fullmatch(method))
            name = said.suite, function(recorded.test)
            if not needed and str(recorded.verdict.reason).startswith(NOT_OFFERED):  # a value, or `directory`
                unknown.add(name)
                continue
            found[name] = min(found.get(name, needed), needed, key=len)
    for name in sorted(unknown - found.keys()):  # as others of its suite
        found[name] = min((each for (suite, _), each in found.items() if suite == name[0]), key=sorted)
    return found


def seconds(record: Run) -> dict[Name, float]:
    """Return the mean seconds of a test by suite and function."""
    taken: dict[Name, list[float]] = defaultdict(list)
    for test, milliseconds in record.took.items():
        taken[test.partition("::")[0].split("/")[-2], function(test)].append(milliseconds / 1000)
    return {name: sum(each) / len(each) for name, each in taken.items()}


def function(test: str) -> str:
    """Return the name of a test without its module and parameters."""
    return test.partition("[")[0].rpartition("::")[2]


def render(needed: dict[Name, frozenset[str]], took: dict[Name, float]) -> str:
    """Return the content of the file: a line for each suite."""
    suites: dict[str, dict[str, tuple[float, str]]] = defaultdict(dict)
    for suite, test in sorted(needed):
        suites[suite][test] = (round(took.get((suite, test), 0.1), 3), " ".join(sorted(needed[suite, test])))
    return "{\n" + ",\n".join(f"{json.dumps(suite)}: {json.dumps(of)}" for suite, of in suites.items()) + "\n}\n"


def _requests() -> Iterator[tuple[int, str]]:
    for line in sys.stdin:
        request = json.loads(line)
        yield request["id"], request["method"]


def drive() -> None:
    """Answer as a driver that offers nothing but `hello`, `reset` and `stop`."""
    hello = {
        "protocol": "1.0",
        "name": "none",
        "version": "1",
        "profile": "msmq-4.0",
        "computer": "HOST",
        "facets": {"manager": ["hello", "reset", "stop"]},
        "clock": "real",
        "settle_ms": 0,
        "slack_ms": 0,
        "limits": {"max_body_bytes": 4_000_000},
        "queue_manager": "db0760c6-b874-5485-9d0b-bf112870b534",
    }
    for number, method in _requests():
        result = {"status": 0, **(hello if method == "hello" else {})}
        print(json.dumps({"jsonrpc": "2.0", "id": number, "result": result}), flush=True)
        if method == "stop":
            return


if __name__ == "__main__":
    if sys.argv[1:] == ["--driver"]:
        drive()
    else:
        took = seconds(read_run(Path(sys.argv[1])))
        write_text(Path(known_tests.__file__).with_name(known_tests.FILE), render(facets(), took))
