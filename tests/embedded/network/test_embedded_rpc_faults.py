"""Faults of the RPC planes say what they break; those that the suite `remote` does not see change what is told."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from embedded_network_peer import PLAIN, Desk, Said, desk
from embedded_rpc_older_peer import get, machine_object, queue_object
from embedded_rpc_peer import (
    EPM,
    FEATURES,
    FOREVER,
    LOOKUP_PEEK,
    LOOKUP_RECEIVE,
    NACK,
    NDR,
    NDR64,
    NULL,
    PEEK,
    PEEK_NEXT,
    QMMGMT,
    REMOTE_READ,
    Client,
    Fault,
    Wire,
    bind,
    direct,
    read_answer,
    receive,
    status,
)

from conformance.embedded.network.deviations import FAULTS as NETWORK_FAULTS
from conformance.embedded.rpc.faults import FAULTS
from conformance.spec.catalogue import requirement_id

QUEUE = f"TCP:127.0.0.1\\private$\\{PLAIN}"
Story = Callable[[Desk], list[object]]


def tried(action: Callable[[], object]) -> object:
    """What an action returns, or the status of the fault that it ends with."""
    try:
        return action()
    except Fault as fault:
        return fault.status


def fill(at: Desk, count: int = 3, **given: object) -> None:
    peer = at.open()
    for number in range(1, count + 1):
        said = Said(number=number, body=b"body %d" % number, sent=1_799_999_000, **given)  # type: ignore[arg-type]
        peer.say(said.packet())
    peer.session.disconnected()


def lookups(at: Desk, name: str = PLAIN) -> list[int]:
    found = at.node.manager.queues.find_local(f"DIRECT=OS:.\\private$\\{name}")
    assert found is not None
    return [position.lookup for position in found.positions]


def bindings(at: Desk) -> list[object]:
    at.node.planes.port = 2103
    wire = Wire()
    line = at.node.planes.accepted(wire)
    offers = [(number, REMOTE_READ, 1, ((each, 2),)) for number, each in enumerate((NDR64, FEATURES, NDR))]
    line.data(bind(*offers, size=2000))
    client = Client(at, fragment=4000)
    found: list[object] = [wire.take(), tried(lambda: client.call(0, context=9)), tried(lambda: client.call(6, b""))]
    handle, stranger = client.open(QUEUE), Client(at)
    found += [tried(lambda: stranger.call(6, handle)), client.call(0)]
    mapper = Client(at, EPM, 3)
    floor = struct.pack("<HB16sHHH", 19, 0x0D, REMOTE_READ.bytes_le, 1, 2, 0)
    tower = struct.pack("<H", 5) + floor
    tower += bytes(-len(tower) % 4)
    found.append(
        mapper.call(3, struct.pack("<IIII", 0, 1, len(tower), len(tower)) + tower + NULL + struct.pack("<I", 4))
    )
    return found


def reads(at: Desk) -> list[object]:
    fill(at)
    client = Client(at)
    handle, sought = client.open(QUEUE), lookups(at)
    cursor = int.from_bytes(client.call(4, handle)[:4], "little")
    found: list[object] = []
    for action, given in (
        (PEEK, {"cursor": cursor}),
        (PEEK_NEXT, {"cursor": cursor}),
        (PEEK, {"cursor": 999}),
        (LOOKUP_PEEK + 1, {"lookup": sought[0]}),
        (LOOKUP_PEEK, {"lookup": sought[0], "timeout": 5}),
        (LOOKUP_PEEK, {"lookup": sought[0]}),
        (LOOKUP_PEEK, {"lookup": sought[0]}),
        (PEEK, {"most": 3}),
    ):
        found.append(client.start(handle, action, **given))  # type: ignore[arg-type]
    found += [client.end(handle), client.start(handle), client.start(handle), client.end(handle, 2)]
    found += [client.end(handle, ack=NACK), at.messages(), client.start(handle, LOOKUP_RECEIVE, lookup=sought[1])]
    found += [at.messages(), client.end(handle), at.messages(), client.start(handle, request=3)]
    at.clock.turn(400)
    return [*found, tried(lambda: client.end(handle, 3)), at.messages(), client.start(handle, PEEK)]


def waits(at: Desk) -> list[object]:
    client = Client(at)
    handle, found = client.open(QUEUE), []
    cursor = int.from_bytes(client.call(4, handle)[:4], "little")
    for number, given in enumerate(({}, {"cursor": cursor}, {"action": PEEK}, {"action": PEEK, "timeout": FOREVER})):
        call = client.send(7, receive(handle, request=number, **{"timeout": 1000, **given}))  # type: ignore[arg-type]
        for seconds in (0.5, 0.6, 100):
            at.clock.turn(seconds)
            said = client.hear(call)
            found.append(read_answer(said) if isinstance(said, bytes) else said)
            if said is not None:
                break
        found += [status(client.call(8, handle + struct.pack("<I", number)))]
        said = client.hear(call)
        found.append(read_answer(said) if isinstance(said, bytes) else said)
    return found


def managed(at: Desk) -> list[object]:
    fill(at)
    client, reader = Client(at, QMMGMT), Client(at)
    reader.start(reader.open(QUEUE))
    session = struct.pack("<HHI", 3, 3, 0)
    tidy = session + struct.pack("<III", 5, 0, 5) + "TIDY\0".encode("utf-16-le")
    found: list[object] = [get(client, queue_object(direct(QUEUE)), 7), get(client, machine_object(), 99)]
    return [*found, get(client, session, 4), status(client.call(1, tidy))]


def guarded(at: Desk) -> list[object]:
    client = Client(at)
    return [tried(partial(client.call, opnum, NULL)) for opnum in (0, 3)]


STORIES: tuple[Story, ...] = (bindings, reads, waits, managed, guarded)


def told(story: Story, *names: str) -> object:
    account = ("user", "password") if story is guarded else None
    with TemporaryDirectory() as folder, desk(Path(folder), *names, rpc_account=account) as at:
        try:
            return story(at)
        except (AssertionError, OSError, Fault) as broken:
            return repr(broken)[:100]


@cache
def plain(story: Story) -> object:
    return told(story)


@pytest.mark.parametrize("story", STORIES)
def test_a_story_is_told_the_same_again(story: Story) -> None:
    assert isinstance(plain(story), list)
    assert told(story) == plain(story)


@pytest.mark.parametrize("name", [name for name, fault in FAULTS.items() if fault.unseen])
def test_a_fault_that_no_story_of_the_suite_shows_is_there(name: str) -> None:
    assert any(told(story, name) != plain(story) for story in STORIES)


def test_faults_have_names_and_requirements() -> None:
    assert len(FAULTS) >= 30
    assert not FAULTS.keys() & NETWORK_FAULTS.keys()
    for name, fault in FAULTS.items():
        assert re.fullmatch("[a-z0-9-]+", name)
        assert fault.says.endswith(".")
        assert fault.breaks
        assert [requirement_id(each) for each in fault.breaks] == list(fault.breaks)


def test_two_faults_together() -> None:
    assert told(reads, "nack-removes", "arrival-sent") != told(reads, "nack-removes")
