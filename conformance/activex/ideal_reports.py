"""What a queue manager could say of a queue and of itself: the reports beside which ideal answers stand."""

from __future__ import annotations

import base64
import struct
from collections.abc import Mapping
from typing import Any, Final

from conformance.activex.further_world import Queue, World
from conformance.activex.queue_names import Kind
from conformance.spec.constants.properties import PROPERTIES

_STATES: Final = {
    "in_process": "WAITING",
    "socket_connect_failure": "WAITING",
    "dns_failure": "NEED VALIDATION",
    "established": "CONNECTED",
    "closing": "DISCONNECTING",
    "closed": "DISCONNECTED",
}
_SIZE: Final = 100


def _number(name: str) -> int:
    return PROPERTIES[f"PROPID_MGMT_{name}"].value


def of_machine(world: World) -> Mapping[int, Any]:
    """Return what it says of itself, by property."""
    return {
        _number("MSMQ_DSSERVER"): None if world.directory is None else world.directory.server,
        _number("MSMQ_CONNECTED"): "CONNECTED" if world.online else "DISCONNECTED",
        _number("MSMQ_BYTES_IN_ALL_QUEUES"): _SIZE * sum(one.messages + one.journaled for one in world.queues.values()),
    }


def of_queue(world: World, name: str) -> Mapping[int, Any] | None:
    """Return what it says of a queue; None if it does not find it. name: its format name."""
    if name.casefold() in world.outgoing:
        return _outgoing(world, name)
    target = world.target(None, name)
    if target.kind in (Kind.MACHINE, Kind.OTHER):
        return {_number("QUEUE_TYPE"): "MACHINE", _number("QUEUE_LOCATION"): "LOCAL"}
    queue = world.queues.get(target.key)
    return None if queue is None else _local(queue)


def _local(queue: Queue) -> Mapping[int, Any]:
    return {
        _number("QUEUE_TYPE"): "PRIVATE" if "private$" in queue.path.casefold() else "PUBLIC",
        _number("QUEUE_LOCATION"): "LOCAL",
        _number("QUEUE_XACT"): "YES" if queue.transactional else "NO",
        _number("QUEUE_FOREIGN"): "NO",
        _number("QUEUE_MESSAGE_COUNT"): queue.messages,
        _number("QUEUE_BYTES_IN_QUEUE"): _SIZE * queue.messages,
        _number("QUEUE_JOURNAL_MESSAGE_COUNT"): queue.journaled,
        _number("QUEUE_BYTES_IN_JOURNAL"): _SIZE * queue.journaled,
    }


def _outgoing(world: World, name: str) -> Mapping[int, Any]:
    queue = world.outgoing[name.casefold()]
    sequence = base64.b64encode(struct.pack("<QII", 2**40 + 1, 2, 1)).decode("ascii")
    numbers = {"LAST_ACK_TIME": 1_700_000_000, "LAST_ACK_COUNT": 1, "NO_READ_COUNT": 2, "NO_ACK_COUNT": 3}
    numbers |= {"RESEND_TIME": 1_700_000_030, "RESEND_INTERVAL": 30, "RESEND_COUNT": 4}
    sequences = dict.fromkeys(("LAST_ACK", "FIRST_NON_ACK", "LAST_NON_ACK", "NEXT_SEQ"), sequence)
    state = "ONHOLD" if queue.held else "INACTIVE" if queue.held is False else _STATES.get(queue.step, "INACTIVE")
    return {
        _number("QUEUE_TYPE"): "MULTICAST" if name.upper().startswith("MULTICAST=") else "PRIVATE",
        _number("QUEUE_LOCATION"): "REMOTE",
        _number("QUEUE_XACT"): "UNKNOWN",
        _number("QUEUE_FOREIGN"): "NO",
        _number("QUEUE_MESSAGE_COUNT"): queue.messages,
        _number("QUEUE_BYTES_IN_QUEUE"): _SIZE * queue.messages,
        _number("QUEUE_STATE"): state,
        _number("QUEUE_NEXTHOPS"): ["IP=192.0.2.7"] if queue.step in ("in_process", "established") else None,
        **{_number(f"QUEUE_EOD_{key}"): value for key, value in {**numbers, **sequences}.items()},
    }
