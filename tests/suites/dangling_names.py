"""Which names in a history stand for nothing."""

from __future__ import annotations

from collections.abc import Iterable

from conformance.histories.operations.operation import Kind, Role
from conformance.histories.operations.table import named
from conformance.model import Call


def dangling(calls: Iterable[Call]) -> list[str]:
    """The names that no call before gave; those of queues say what a queue is, and copies are of what was sent."""
    there: set[tuple[Kind | None, str]] = set()
    found = []
    for call in calls:
        for _, member, name in named(call, Role.REFERS):
            kinds = {Kind.WAIT, Kind.READ} if member.kind is Kind.WAIT else {member.kind}
            plain = name.partition("@")[0].rpartition("-")[2]
            if member.kind is not Kind.QUEUE and not any((kind, plain) in there for kind in kinds):
                found.append(f"{call.method} {name}")
        there |= {(member.kind, name) for _, member, name in named(call, Role.GIVES)}
    return found
