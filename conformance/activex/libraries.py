"""Interfaces of the type library: identifiers, bases and numbers of members (MC-MQAC 1.9, 3.x.4 and 6).

A description is judged by what it has of these: a driver leaves out what it cannot see.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from conformance.spec.catalogue import requirement_id
from conformance.spec.constants.interfaces import COCLASSES, INTERFACES
from conformance.verdict import Outcome, Verdict

FIRST_SLOTS: Final = {"IDispatch": 7, "IUnknown": 3, "dispinterface": 7}
"""Base to the place of the first member of its own that an interface has."""
CLASSES: Final = tuple(COCLASSES)
"""The classes of the library."""
_PRIVATE: Final = {"MSMQDestination": "IMSMQPrivateDestination", "MSMQEvent": "IMSMQPrivateEvent|_DMSMQEventEvents"}


@dataclass(frozen=True, slots=True)
class Declared:
    """An interface. members: how many it has of its own. whole: the requirement on identifier, base and members.

    identifiers: those on its identifier alone.
    """

    members: int
    whole: str
    identifiers: tuple[str, ...]

    def __post_init__(self) -> None:
        """Raise CatalogueError for an unknown requirement."""
        for name in (self.whole, *self.identifiers):
            requirement_id(name)


DECLARED: Final[Mapping[str, Declared]] = {
    "ITransaction": Declared(3, "MQAC-6.i-transaction-interface", ()),
    "IEnumConnections": Declared(4, "MQAC-6.i-enum-connections-interface", ()),
    "IConnectionPoint": Declared(5, "MQAC-6.i-connection-point-interface", ("MQAC-3.16.4.5.class-and-interface-ids",)),
    "IEnumConnectionPoints": Declared(4, "MQAC-6.i-enum-connection-points-interface", ()),
    "IConnectionPointContainer": Declared(
        2, "MQAC-6.i-connection-point-container-interface", ("MQAC-3.16.4.6.class-and-interface-ids",)
    ),
    "IMSMQQuery": Declared(1, "MQAC-6.imsmq-query-interface", ("MQAC-1.9.imsmq-query-interface-id",)),
    "IMSMQQuery2": Declared(2, "MQAC-6.imsmq-query2-interface", ("MQAC-1.9.imsmq-query2-interface-id",)),
    "IMSMQQuery3": Declared(3, "MQAC-6.imsmq-query3-interface", ("MQAC-1.9.imsmq-query3-interface-id",)),
    "IMSMQQuery4": Declared(
        3,
        "MQAC-6.imsmq-query4-interface",
        ("MQAC-1.9.imsmq-query4-interface-id", "MQAC-3.13.4.1.class-and-interface-ids"),
    ),
    "IMSMQMessage": Declared(49, "MQAC-6.imsmq-message-interface", ("MQAC-1.9.imsmq-message-interface-id",)),
    "IMSMQMessage2": Declared(75, "MQAC-6.imsmq-message2-interface", ("MQAC-1.9.imsmq-message2-interface-id",)),
    "IMSMQMessage3": Declared(91, "MQAC-6.imsmq-message3-interface", ("MQAC-1.9.imsmq-message3-interface-id",)),
    "IMSMQMessage4": Declared(
        91,
        "MQAC-6.imsmq-message4-interface",
        ("MQAC-1.9.imsmq-message4-interface-id", "MQAC-3.17.4.1.class-and-interface-ids"),
    ),
    "IMSMQQueue": Declared(13, "MQAC-6.imsmq-queue-interface", ("MQAC-1.9.imsmq-queue-interface-id",)),
    "IMSMQQueue2": Declared(19, "MQAC-6.imsmq-queue2-interface", ("MQAC-1.9.imsmq-queue2-interface-id",)),
    "IMSMQQueue3": Declared(32, "MQAC-6.imsmq-queue3-interface", ("MQAC-1.9.imsmq-queue3-interface-id",)),
    "IMSMQQueue4": Declared(
        33,
        "MQAC-6.imsmq-queue4-interface",
        ("MQAC-1.9.imsmq-queue4-interface-id", "MQAC-3.11.4.1.class-and-interface-ids"),
    ),
    "IMSMQPrivateEvent": Declared(
        3,
        "MQAC-6.imsmp-private-event-interface",
        ("MQAC-1.9.imsmq-private-event-interface-id", "MQAC-3.16.4.3.class-and-interface-ids"),
    ),
    "IMSMQEvent": Declared(0, "MQAC-6.imsmq-event-interface", ("MQAC-1.9.imsmq-event-interface-id",)),
    "IMSMQEvent2": Declared(
        1,
        "MQAC-6.imsmq-event2-interface",
        ("MQAC-1.9.imsmq-event2-interface-id", "MQAC-3.16.4.1.class-and-interface-ids"),
    ),
    "IMSMQEvent3": Declared(
        0,
        "MQAC-6.imsmq-event3-interface",
        ("MQAC-1.9.imsmq-event3-interface-id", "MQAC-3.16.4.2.class-and-interface-ids"),
    ),
    "_DMSMQEventEvents": Declared(
        2,
        "MQAC-6.dmsmq-event-events-interface",
        ("MQAC-1.9.dmsmq-event-events-interface-id", "MQAC-3.16.4.4.class-and-interface-ids"),
    ),
    "IMSMQQueueInfo": Declared(30, "MQAC-6.imsmq-queue-info-interface", ("MQAC-1.9.imsmq-queue-info-interface-id",)),
    "IMSMQQueueInfo2": Declared(34, "MQAC-6.imsmq-queue-info2-interface", ("MQAC-1.9.imsmq-queue-info2-interface-id",)),
    "IMSMQQueueInfo3": Declared(39, "MQAC-6.imsmq-queue-info3-interface", ("MQAC-1.9.imsmq-queue-info3-interface-id",)),
    "IMSMQQueueInfo4": Declared(
        39,
        "MQAC-6.imsmq-queue-info4-interface",
        ("MQAC-1.9.imsmq-queue-info4-interface-id", "MQAC-3.10.4.1.class-and-interface-ids"),
    ),
    "IMSMQQueueInfos": Declared(2, "MQAC-6.imsmq-queue-infos-interface", ("MQAC-1.9.imsmq-queue-infos-interface-id",)),
    "IMSMQQueueInfos2": Declared(
        3, "MQAC-6.imsmq-queue-infos2-interface", ("MQAC-1.9.imsmq-queue-infos2-interface-id",)
    ),
    "IMSMQQueueInfos3": Declared(
        3, "MQAC-6.imsmq-queue-infos3-interface", ("MQAC-1.9.imsmq-queue-infos3-interface-id",)
    ),
    "IMSMQQueueInfos4": Declared(
        3,
        "MQAC-6.imsmq-queue-infos4-interface",
        ("MQAC-1.9.imsmq-queue-infos4-interface-id", "MQAC-3.14.4.1.class-and-interface-ids"),
    ),
    "IMSMQTransaction": Declared(
        3,
        "MQAC-6.imsmq-transaction-interface",
        ("MQAC-1.9.imsmq-transaction-interface-id", "MQAC-3.9.4.1.class-and-interface-ids"),
    ),
    "IMSMQTransaction2": Declared(
        2,
        "MQAC-6.imsmq-transaction2-interface",
        ("MQAC-1.9.imsmq-transaction2-interface-id", "MQAC-3.9.4.2.class-and-interface-ids"),
    ),
    "IMSMQTransaction3": Declared(
        1,
        "MQAC-6.imsmq-transaction3-interface",
        ("MQAC-1.9.imsmq-transaction3-interface-id", "MQAC-3.9.4.3.class-and-interface-ids"),
    ),
    "IMSMQCoordinatedTransactionDispenser": Declared(
        1,
        "MQAC-6.imsmq-coordinated-transaction-dispenser-interface",
        ("MQAC-1.9.imsmq-coordinated-transaction-dispenser-interface-id",),
    ),
    "IMSMQCoordinatedTransactionDispenser2": Declared(
        2,
        "MQAC-6.imsmq-coordinated-transaction-dispenser2-interface",
        ("MQAC-1.9.imsmq-coordinated-transaction-dispenser2-interface-id",),
    ),
    "IMSMQCoordinatedTransactionDispenser3": Declared(
        2,
        "MQAC-6.imsmq-coordinated-transaction-dispenser3-interface",
        ("MQAC-1.9.imsmq-coordinated-transaction-dispenser3-interface-id", "MQAC-3.7.4.1.class-and-interface-ids"),
    ),
    "IMSMQTransactionDispenser": Declared(
        1, "MQAC-6.imsmq-transaction-dispenser-interface", ("MQAC-1.9.imsmq-transaction-dispenser-interface-id",)
    ),
    "IMSMQTransactionDispenser2": Declared(
        2, "MQAC-6.imsmq-transaction-dispenser2-interface", ("MQAC-1.9.imsmq-transaction-dispenser2-interface-id",)
    ),
    "IMSMQTransactionDispenser3": Declared(
        2,
        "MQAC-6.imsmq-transaction-dispenser3-interface",
        ("MQAC-1.9.imsmq-transaction-dispenser3-interface-id", "MQAC-3.6.4.1.class-and-interface-ids"),
    ),
    "IMSMQApplication": Declared(
        1,
        "MQAC-6.imsmq-application-interface",
        ("MQAC-1.9.imsmq-application-interface-id", "MQAC-3.2.4.1.class-and-interface-ids"),
    ),
    "IMSMQApplication2": Declared(
        7,
        "MQAC-6.imsmq-application2-interface",
        ("MQAC-1.9.imsmq-application2-interface-id", "MQAC-3.2.4.2.class-and-interface-ids"),
    ),
    "IMSMQApplication3": Declared(
        10,
        "MQAC-6.imsmq-application3-interface",
        ("MQAC-1.9.imsmq-application3-interface-id", "MQAC-3.2.4.3.class-and-interface-ids"),
    ),
    "IMSMQDestination": Declared(
        14,
        "MQAC-6.imsmq-destination-interface",
        ("MQAC-1.9.imsmq-destination-interface-id", "MQAC-3.12.4.1.class-and-interface-ids"),
    ),
    "IMSMQPrivateDestination": Declared(
        2,
        "MQAC-6.imsmq-private-destination-interface",
        ("MQAC-1.9.imsmq-private-destination-interface-id", "MQAC-3.12.4.2.class-and-interface-ids"),
    ),
    "IMSMQCollection": Declared(
        3,
        "MQAC-6.imsmq-collection-interface",
        ("MQAC-1.9.imsmq-collection-interface-id", "MQAC-3.15.4.1.class-and-interface-ids"),
    ),
    "IMSMQManagement": Declared(
        9,
        "MQAC-6.imsmq-management-interface",
        ("MQAC-1.9.imsmq-management-interface-id", "MQAC-3.3.4.1.class-and-interface-ids"),
    ),
    "IMSMQOutgoingQueueManagement": Declared(
        6,
        "MQAC-6.imsmq-outgoing-queue-management-interface",
        ("MQAC-1.9.imsmq-outgoing-queue-management-interface-id", "MQAC-3.5.4.1.class-and-interface-ids"),
    ),
    "IMSMQQueueManagement": Declared(
        3,
        "MQAC-6.imsmq-queue-management-interface",
        ("MQAC-1.9.imsmq-queue-management-interface-id", "MQAC-3.4.4.1.class-and-interface-ids"),
    ),
}


def identified(interfaces: Iterable[Mapping[str, Any]]) -> Iterator[Verdict]:
    """Yield verdicts on the interfaces that a class describes, each by its name."""
    for shown in interfaces:
        name = str(shown["name"])
        declared, identifier = DECLARED.get(name), str(shown.get("iid") or "").lower()
        if declared is None or not identifier:
            continue
        wanted = INTERFACES[name]
        for each in declared.identifiers:
            yield _verdict(each, name, {"iid": wanted.uuid}, {"iid": identifier})
        members = _own(name, shown.get("members", ()))
        if shown.get("base") is not None and members is not None:
            expected = {"iid": wanted.uuid, "base": wanted.base, "members": declared.members}
            actual = {"iid": identifier, "base": shown["base"], "members": members}
            yield _verdict(declared.whole, name, expected, actual)


def _verdict(requirement: str, name: str, expected: dict[str, Any], actual: dict[str, Any]) -> Verdict:
    outcome = Outcome.PASS if expected == actual else Outcome.FAIL
    return Verdict(requirement, outcome, name, expected, actual)


def _own(name: str, members: Iterable[Mapping[str, Any]]) -> int | None:
    """Return the number of members that are not those of a base, None where a member has no place."""
    slots: list[int | None] = [member.get("slot") for member in members]
    if any(slot is None for slot in slots):
        return None
    return sum(slot is not None and slot >= _first(name) for slot in slots)


def _first(name: str) -> int:
    base = INTERFACES[name].base
    return FIRST_SLOTS[base] if base in FIRST_SLOTS else _first(base) + DECLARED[base].members


def of_class(coclass: str) -> tuple[str, ...]:
    """Return the interfaces that a class has, the newest first."""
    own = re.compile(rf"I{coclass}\d?|{_PRIVATE.get(coclass, 'none')}")
    return tuple(reversed([name for name in DECLARED if own.fullmatch(name)]))


def ideal(coclass: str) -> list[dict[str, Any]]:
    """Return the interfaces of a class as the document declares them, with members that have places alone."""
    return [
        {
            "name": name,
            "iid": INTERFACES[name].uuid,
            "base": INTERFACES[name].base,
            "members": [
                {"name": f"{at}", "kind": "method", "slot": _first(name) + at} for at in range(DECLARED[name].members)
            ],
        }
        for name in of_class(coclass)
    ]
