"""Rules about the host of an administration or response queue: the type of the queue says which it is not.

MS-MQMQ 2.2.19.2.
"""

from __future__ import annotations

from collections.abc import Iterator

from conformance.judge.expr import Compare, Field, Has, both, eq, is_clear, ne
from conformance.judge.packets.rules_user import GUID
from conformance.judge.rules import PLAIN, Mutation, Rule, Value

U = "UserHeader."
F = U + "Flags."
OTHER = 6
_OTHER_GUID = "5f3b6c3a-7d2e-4a51-8f0c-2b8f5c9a6d10"
_SOURCE, _DESTINATION = U + "SourceQueueManager", U + "QueueManagerAddress"
_QUEUES = (("AQ", "AdminQueue", "admin-private-other"), ("RQ", "ResponseQueue", "response-private-other"))


def _elsewhere() -> Iterator[Rule]:
    """Make the rules that a queue on another host is on no host that has a type of its own."""
    for flag, field, word in _QUEUES:
        host = f"{U}{field}.SourceQueueManager"
        also: dict[str, Value] = {
            F + flag: OTHER,
            host: GUID,
            f"{U}{field}.PrivateQueueIdentifier": 5,
            "MessagePropertiesHeader.Flags.PA": int(flag == "AQ"),
        }
        for which, known in (("source", _SOURCE), ("destination", _DESTINATION)):
            with_address = {**also, F + "DQ": 3, U + "DestinationQueue.PrivateQueueIdentifier": 5}
            addressed = {**with_address, _DESTINATION: _OTHER_GUID}
            yield Rule(
                f"MQMQ-2.2.19.2.{word}/{which}",
                both(is_clear("BaseHeader.Flags.IN"), eq(F + flag, OTHER), Has(host)),
                Compare("ne", Field(host), Field(known)),
                Mutation(also=also, patch={host: PLAIN[_SOURCE]})
                if which == "source"
                else Mutation(
                    also=addressed,
                    without=U + "DestinationQueue.DirectFormatName",
                    patch={host: addressed[_DESTINATION]},
                ),
            )
    admin, response = U + "AdminQueue.SourceQueueManager", U + "ResponseQueue.SourceQueueManager"
    both_other: dict[str, Value] = {
        **{F + flag: OTHER for flag, _, _ in _QUEUES},
        admin: GUID,
        response: _OTHER_GUID,
        U + "AdminQueue.PrivateQueueIdentifier": 5,
        U + "ResponseQueue.PrivateQueueIdentifier": 6,
        "MessagePropertiesHeader.Flags.PA": 1,
    }
    yield Rule(
        "MQMQ-2.2.19.2.response-private-other/administration",
        both(is_clear("BaseHeader.Flags.IN"), eq(F + "RQ", OTHER), eq(F + "AQ", OTHER), Has(admin), Has(response)),
        Compare("ne", Field(response), Field(admin)),
        Mutation(also=both_other, patch={response: GUID}),
    )


RULES: tuple[Rule, ...] = (
    *_elsewhere(),
    Rule(
        "MQMQ-2.2.19.2.response-queue-admin-host",
        both(is_clear("BaseHeader.Flags.IN"), eq(F + "RQ", 4)),
        ne(F + "AQ", 0),
        Mutation(
            also={
                F + "RQ": 4,
                U + "ResponseQueue.PrivateQueueIdentifier": 5,
                "MessagePropertiesHeader.Flags.PA": 1,
                U + "AdminQueue.DirectFormatName": "OS:host\\admin",
            },
            given={U + "AdminQueue.DirectFormatName": b"", F + "AQ": 0, "MessagePropertiesHeader.Flags.PA": 0},
        ),
    ),
)
