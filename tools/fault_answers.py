"""Print what the embedded manager answers with each fault and each alternative, as a hash, to compare two versions.

Usage: python -m tools.fault_answers [--jobs N] [WORD ...] > answers.jsonl

Plays the stories of `tests/embedded` to a manager with one deviation at a time, in this process, on a virtual clock.
A line has the deviation's name, suite, declared requirements and sentence, the hash of all answers, and whether they
differ from those of the manager without deviation. With words: only deviations whose names contain one of them.
"""

from __future__ import annotations

import hashlib
import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

TESTS = Path(__file__).parents[1] / "tests"
sys.path[:0] = [str(TESTS), str(TESTS / "embedded"), str(TESTS / "embedded" / "network")]

from conformance.cli.selftest import as_json  # noqa: E402
from conformance.embedded.alternatives import ALTERNATIVES  # noqa: E402
from conformance.embedded.faults import EVERY_FAULT  # noqa: E402
from conformance.embedded.network.deviations import ALTERNATIVES as OF_NODES  # noqa: E402
from conformance.embedded.network.deviations import FAULTS as NETWORK_FAULTS  # noqa: E402
from conformance.spec.versions import DEFAULT_PROFILE  # noqa: E402

NETWORK = "network"
READINGS = "readings"


def deviations() -> Iterator[dict[str, Any]]:
    """Yield every deviation with what it declares."""
    for fault in EVERY_FAULT.values():
        said = as_json(fault)
        yield {key: said[key] for key in ("name", "suite", "does", "breaks", "first_seen_as", "because", "profile")}
    for name in ALTERNATIVES:
        yield {"name": name, "suite": READINGS}
    for name, each in NETWORK_FAULTS.items():
        yield {"name": name, "suite": NETWORK, "does": each.says, "breaks": list(each.breaks)}
    for name in OF_NODES:
        yield {"name": name, "suite": NETWORK}


@cache
def stories(suite: str) -> list[Callable[[Any], object]]:
    """Return the stories that a suite's deviations are tried with."""
    if suite == NETWORK:
        return list(import_module("test_embedded_network_faults").STORIES)
    if suite == READINGS:
        return list(import_module("embedded_reading_stories").PARTINGS)
    observed = import_module("test_embedded_faults").OBSERVED
    return [*import_module("embedded_every_story").STORIES.get(suite, ()), *filter(None, [observed.get(suite)])]


def answers(name: str, suite: str, profile: str) -> list[str]:
    """Return a hash of what each story shows with this deviation ("" for none)."""
    return [_hash(_played(story, name, suite, profile)) for story in stories(suite)]


def _played(story: Callable[[Any], object], name: str, suite: str, profile: str) -> list[object]:
    names = (name,) if name else ()
    seen: list[object] = []

    class Recorded(import_module("embedded_talk").Talk):  # type: ignore[misc]
        """Keeps every answer, so that a story that cannot go on is compared as far as it came."""

        def start(self, method: str, **params: Any) -> list[dict[str, Any]]:
            found: list[dict[str, Any]] = super().start(method, **params)
            seen.append(found)
            return found

    with tempfile.TemporaryDirectory() as folder:
        talk = None
        try:
            if suite == NETWORK:
                seen.append(import_module("test_embedded_network_faults").told(Path(folder), story, *names))
            else:
                talk = Recorded(Path(folder), names, profile=profile)
                talk.driver.do_meanwhile(lambda: None)
                seen.append(story(talk))
        except Exception as error:  # a deviation may end a story
            seen.append(type(error).__name__)
        finally:
            if talk is not None:
                talk.driver.close()
    return seen


def _hash(seen: list[object]) -> str:
    return hashlib.sha256(repr(seen).encode()).hexdigest()[:16]


@cache
def _plain(suite: str, profile: str) -> list[str]:
    return answers("", suite, profile)


def _line(said: dict[str, Any]) -> dict[str, Any]:
    profile = said.get("profile") or DEFAULT_PROFILE
    found = answers(said["name"], said["suite"], profile)
    differs = found != _plain(said["suite"], profile)
    return {**said, "answers": _hash([*found]), "differs": differs}


def main(arguments: list[str]) -> None:
    """Print a line for each deviation, and the number of those that differ to standard error."""
    jobs = 2
    if arguments[:1] == ["--jobs"]:
        jobs, arguments = int(arguments[1]), arguments[2:]
    wanted = [each for each in deviations() if not arguments or any(word in each["name"] for word in arguments)]
    differing = 0
    with ProcessPoolExecutor(jobs) as pool:
        for line in pool.map(_line, wanted, chunksize=8):
            differing += line["differs"]
            print(json.dumps(line))
    print(f"{differing} of {len(wanted)} differ from the manager without deviation", file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1:])
