"""The suite of calls of RPC: its words are requirements, and a server whose faults are known is judged rightly."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from json import loads
from pathlib import Path

import pytest

from conformance.api import run
from conformance.suites.remote.steps import identify
from conformance.suites.remote.stories import BY_NAME, claimed

QUEUES = ("mqconform-plain", "mqconform-plain-2")


@contextmanager
def server(*faults: str) -> Iterator[str]:
    """Start the embedded manager on the network, and yield the adapter for it."""
    command = [sys.executable, "-m", "conformance.embedded.network", "--listen", "127.0.0.1:0", "--ping-port", "0"]
    with socket.create_server(("127.0.0.1", 0)) as free:
        peer = str(free.getsockname()[1])
    command += ["--rpc", "0", "--peer-port", peer, *(word for queue in QUEUES for word in ("--queue", queue))]
    child = subprocess.Popen(
        [*command, *(word for fault in faults for word in ("--fault", fault))],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        assert child.stdout is not None
        ready = {name: str(said).rpartition(":")[2] for name, said in loads(child.stdout.readline())["ready"].items()}
        queues = ",".join(QUEUES)
        yield f"wire:127.0.0.1?qm={ready['listen']}&ping={ready['ping']}&peer={peer}&rpc={ready['rpc']}&queues={queues}"
    finally:
        child.kill()
        child.wait()


def test_each_word_of_a_story_is_a_requirement_of_one_of_its_documents() -> None:
    found: dict[str, set[str | None]] = {}
    for calls, story in BY_NAME.values():
        for step in story.steps:
            for word in (*step.words, *step.looks):
                found.setdefault(word, set()).add(identify(calls, step.read_verb, word))
    assert [word for word, names in found.items() if names == {None}] == []


def test_each_story_judges_something() -> None:
    assert [name for name in BY_NAME if not claimed(name)] == []


FAULTS = {
    "share-ignored": "MQRR-3.1.4.2.deny-share",
    "server-port-zero": "MQRR-3.1.4.1.port",
    "ack-returns": "MQRR-3.1.4.9.acknowledged",
    "section-full": "MQRR-3.1.4.7.first-type",
    "managed-session": "MQMR-3.1.4.1.session",
}


@pytest.mark.parametrize("fault", [None, *FAULTS])
def test_a_server_is_blamed_for_what_it_does_wrong(fault: str | None, tmp_path: Path) -> None:
    wanted = [FAULTS[fault]] if fault else [*FAULTS.values(), "MQQP-3.1.4.1.waits", "MQQP-3.1.4.11"]
    with server(*([fault] if fault else [])) as adapter:
        record = run(adapter=adapter, suites=["remote"], requirements=wanted, out=tmp_path / "out").record
    assert record is not None
    outcomes = [(one.verdict.requirement, one.verdict.outcome.value) for one in record.verdicts]
    assert {"pass"} == {outcome for name, outcome in outcomes} or fault
    assert [name for name, outcome in outcomes if outcome == "fail"][:1] == ([FAULTS[fault]] if fault else [])
