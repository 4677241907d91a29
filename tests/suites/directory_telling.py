"""Tells a story of the directory's suite to a manager, for tests of what it judges."""

from __future__ import annotations

from conformance.adapter.client import Client
from conformance.harness.recorder import Recorder, RunOptions
from conformance.spec.catalogue import assignment
from conformance.suites.directory.stories import TABLE
from conformance.verdict import Verdict

OPTIONS = RunOptions("msmq-4.0", "must", assignment("windows"), "windows", 0, 3, 25, first_only=True)


def told(client: Client, name: str, seen: list[Verdict]) -> None:
    judge = Recorder(OPTIONS, lambda verdict, count: seen.append(verdict))
    client.call("reset")
    TABLE.tell(name, client, judge)
    judge.flush()
