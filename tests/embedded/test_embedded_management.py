"""Management: properties, actions, and the transfer out of an outgoing queue over a session that the caller plays."""

from __future__ import annotations

import base64
import struct
from typing import Any

import pytest
from counted import steps
from embedded_talk import NAME, Talk

from conformance.adapter.protocol import validator
from conformance.embedded.methods import BadParams
from conformance.embedded.transfers import LONGEST_HISTORY, STATUS
from conformance.spec.constants import hresults as hr
from conformance.spec.constants.properties import PROPERTIES

FAR = "DIRECT=TCP:192.0.2.7\\private$\\q"
JOURNAL = "DIRECT=OS:HOST\\system$;JOURNAL"
DEAD = "DIRECT=OS:HOST\\system$;DEADLETTER"
DEADXACT = "DIRECT=OS:HOST\\system$;DEADXACT"
MACHINE = {"type": "machine"}
HOPS = ["192.0.2.7", "2001:db8::7"]
RECEIVED, PURGED = 0x4000, 0xC001
BOTH = {"positive_journaling": True, "negative_journaling": True}


def number(name: str) -> int:
    return PROPERTIES[f"PROPID_MGMT_{name}"].value


def raw(talk: Talk, name: str, of: str = FAR) -> dict[str, Any]:
    """One property with its variant type."""
    target = MACHINE if name.startswith("MSMQ") else {"type": "queue", "format_name": of}
    answer = talk.ok("management.get", target=target, properties=[number(name)])
    validator("management.get", "result")(answer)
    [value] = answer["values"]
    return dict(value)


def told(talk: Talk, name: str, of: str = FAR) -> Any:
    return raw(talk, name, of).get("value")


def place(talk: Talk, name: str) -> tuple[int, int, int, int] | None:
    """A place in a sequence: ordinal, timestamp, number, previous."""
    blob = told(talk, f"QUEUE_EOD_{name}")
    return None if blob is None else struct.unpack("<IIII", base64.b64decode(blob))


def act(talk: Talk, action: str, of: str | None = FAR) -> int:
    target = MACHINE if of is None else {"type": "queue", "format_name": of}
    return int(talk("management.act", target=target, action=action)["status"])


def step(talk: Talk, name: str, of: str = FAR, **more: Any) -> None:
    talk.ok("management.connection", format_name=of, step=name, **more)


def connect(talk: Talk, of: str = FAR) -> None:
    step(talk, "in_process", of, addresses=HOPS)
    step(talk, "established", of, addresses=HOPS)


def transfer(talk: Talk, of: str = FAR, **more: Any) -> list[dict[str, Any]]:
    packets = talk.ok("management.transfer", format_name=of, **more)["packets"]
    return [talk.ok("packets.decode", packet=packet)["message"] for packet in packets]


def labels(talk: Talk, **more: Any) -> list[str]:
    return [message["label"] for message in transfer(talk, **more)]


def numbers(talk: Talk) -> list[tuple[str, int, int]]:
    return [
        (each["label"], each["transaction"]["sequence_number"], each["transaction"]["previous_sequence_number"])
        for each in transfer(talk)
    ]


def acknowledge(talk: Talk, kind: str, **more: Any) -> int:
    return int(talk("management.acknowledge", format_name=FAR, kind=kind, **more)["status"])


def commit(talk: Talk, *messages: str, **more: Any) -> list[dict[str, Any]]:
    """Send these in a transaction; return their identifiers."""
    send, transaction = talk.open(FAR, "send"), talk.begin()
    sent = [talk.send(send, label, transaction, **more)["identifier"] for label in messages]
    talk.ok("transactions.commit", transaction=transaction)
    return sent


def again(talk: Talk) -> Talk:
    talk.driver.close()
    return Talk(talk.state_dir)


def test_the_machine_is_told(talk: Talk) -> None:
    talk.queue("private$\\a")
    talk.ok("queues.create", path_name="HOST\\private$\\b", properties={})
    talk.ok("queues.create", path_name="HOST\\open", properties={})
    far = talk.open(FAR, "send")
    talk.ok("queues.close", queue=talk.open("DIRECT=OS:empty\\q", "send"))
    talk.send(far, "m", body="AAAA")
    talk.ok("queues.close", queue=far)
    assert told(talk, "MSMQ_ACTIVEQUEUES") == [FAR, "DIRECT=OS:HOST\\private$\\a"]
    assert told(talk, "MSMQ_PRIVATEQ") == ["HOST\\private$\\a", "HOST\\private$\\b"]
    assert raw(talk, "MSMQ_DSSERVER") == {"vt": 1}
    assert raw(talk, "MSMQ_CONNECTED") == {"vt": 31, "value": "CONNECTED"}
    assert raw(talk, "MSMQ_BYTES_IN_ALL_QUEUES") == {"vt": 20, "value": str(told(talk, "QUEUE_BYTES_IN_QUEUE"))}
    assert raw(talk, "MSMQ_TYPE")["vt"] == 31


def test_every_property_of_a_queue_has_its_type(talk: Talk) -> None:
    talk.queue(PROPID_Q_JOURNAL=1)
    talk.open(FAR, "send")
    connect(talk)
    types = {"VT_LPWSTR": 31, "VT_UI4": 19, "VT_I4": 3, "VT_BLOB": 65, "VT_VARIANT": 12, "VT_VECTOR": 0x1000}
    for name, known in PROPERTIES.items():
        if name.startswith("PROPID_MGMT_QUEUE"):
            wanted = sum(types[part] for part in known.variant_type.split(" | "))
            for of in (NAME, FAR):
                value = raw(talk, name.removeprefix("PROPID_MGMT_"), of)
                assert value["vt"] in (1, wanted), name
                assert ("value" in value) == (value["vt"] != 1)


def test_a_local_queue_is_told(talk: Talk) -> None:
    send, receive = talk.queue(PROPID_Q_JOURNAL=1)
    for label in "abc":
        talk.send(send, label)
    talk.receive(receive)
    talk.open(f"{NAME};later", "receive")
    wanted = {
        "PATHNAME": "HOST\\private$\\q", "FORMATNAME": NAME, "TYPE": "PRIVATE", "LOCATION": "LOCAL", "XACT": "NO",
        "FOREIGN": "NO", "MESSAGE_COUNT": 2, "JOURNAL_MESSAGE_COUNT": 1, "STATE": "LOCAL CONNECTION",
        "NEXTHOPS": None, "EOD_LAST_ACK": None, "EOD_NO_ACK_COUNT": None, "CONNECTION_HISTORY": None,
        "SUBQUEUE_COUNT": 1, "SUBQUEUE_NAMES": ["later"],
    }  # fmt: skip
    assert {name: told(talk, f"QUEUE_{name}", NAME) for name in wanted} == wanted
    counts = talk.ok("queues.counts", format_name=NAME)
    assert told(talk, "QUEUE_BYTES_IN_QUEUE", NAME) == counts["bytes"]
    assert told(talk, "QUEUE_BYTES_IN_JOURNAL", NAME) == counts["journal_bytes"]


def test_kinds_of_queues_are_told(talk: Talk) -> None:
    talk.queue(PROPID_Q_TRANSACTION=1)
    talk.ok("queues.create", path_name="HOST\\open", properties={})
    multicast = "MULTICAST=234.1.1.1:1801"
    for name in (FAR, multicast, "DIRECT=OS:elsewhere\\q"):
        talk.open(name, "send")
    kinds = {FAR: "PRIVATE", multicast: "MULTICAST", "DIRECT=OS:elsewhere\\q": "PUBLIC", NAME: "PRIVATE"}
    kinds |= {"DIRECT=OS:HOST\\open": "PUBLIC", JOURNAL: "MACHINE", DEAD: "MACHINE"}
    assert {name: told(talk, "QUEUE_TYPE", name) for name in kinds} == kinds
    assert [told(talk, "QUEUE_XACT", name) for name in (NAME, JOURNAL, FAR)] == ["YES", "NO", "NO"]
    assert [told(talk, "QUEUE_LOCATION", name) for name in (NAME, JOURNAL, FAR)] == ["LOCAL", "LOCAL", "REMOTE"]


@pytest.mark.parametrize(
    ("target", "properties", "status"),
    [
        ({"type": "session"}, [1], hr.MQ_ERROR_INVALID_PARAMETER),
        (MACHINE, [1, 7], hr.MQ_ERROR_ILLEGAL_PROPID),
        (MACHINE, [0], hr.MQ_ERROR_ILLEGAL_PROPID),
        ({"type": "queue", "format_name": NAME}, [28], hr.MQ_ERROR_ILLEGAL_PROPID),
        ({"type": "queue", "format_name": NAME}, [0xFFFFFFFF], hr.MQ_ERROR_ILLEGAL_PROPID),
        ({"type": "queue", "format_name": NAME + "x"}, [1], hr.MQ_ERROR_QUEUE_NOT_FOUND),
        ({"type": "queue", "format_name": FAR}, [1], hr.MQ_ERROR_QUEUE_NOT_ACTIVE),
        ({"type": "queue", "format_name": "no name"}, [1], hr.MQ_ERROR_ILLEGAL_FORMATNAME),
        ({"type": "queue"}, [1], hr.MQ_ERROR_INVALID_PARAMETER),
    ],
)
def test_what_is_not_there_is_refused_whole(
    talk: Talk, target: dict[str, Any], properties: list[int], status: int
) -> None:
    talk.queue()
    assert talk("management.get", target=target, properties=properties) == {"status": status}


@pytest.mark.parametrize(
    ("action", "of"),
    [
        *((action, NAME) for action in ("PAUSE", "RESUME", "EOD_RESEND", "CONNECT", "STOP", "")),
        *((action, FAR) for action in ("TIDY", "DISCONNECT", "PAUSE ", "EOD-RESEND", "PAUS\u00c9")),
        *((action, None) for action in ("PAUSE", "RESUME", "EOD_RESEND")),
        ("PAUSE", "DIRECT=OS:gone\\q"),
    ],
)
def test_an_action_that_the_target_does_not_have_is_refused(talk: Talk, action: str, of: str | None) -> None:
    talk.queue()
    talk.open(FAR, "send")
    assert act(talk, action, of) >= 0x80000000
    assert told(talk, "QUEUE_STATE") == "INACTIVE" and told(talk, "MSMQ_CONNECTED") == "CONNECTED"


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("management.get", {"target": {"type": "printer"}, "properties": [1]}),
        ("management.get", {"target": MACHINE, "properties": ["PROPID_MGMT_MSMQ_TYPE"]}),
        ("management.get", {"target": MACHINE, "properties": []}),
        ("management.get", {"target": MACHINE, "properties": [1] * 129}),
        ("management.act", {"target": "machine", "action": "TIDY"}),
        ("management.act", {"target": MACHINE, "action": 1}),
        ("management.connection", {"format_name": FAR, "step": "leap"}),
        ("management.connection", {"format_name": FAR, "step": "in_process", "addresses": [1]}),
        ("management.transfer", {"format_name": FAR, "count": -1}),
        ("management.acknowledge", {"format_name": FAR, "kind": "session", "count": "1"}),
        ("management.acknowledge", {"format_name": FAR, "kind": "final", "identifier": {"source": 1}}),
    ],
)
def test_params_of_a_wrong_type_are_told_in_one_sentence(talk: Talk, method: str, params: dict[str, Any]) -> None:
    with pytest.raises(BadParams, match=r"^the parameter \w+ of management\.\w+ is not what the protocol allows$"):
        talk(method, **params)


def test_actions_are_written_in_any_case(talk: Talk) -> None:
    talk.open(FAR, "send")
    assert act(talk, "pAuSe") == 0 and told(talk, "QUEUE_STATE") == "ONHOLD"
    assert act(talk, "resume") == 0 and told(talk, "QUEUE_STATE") == "INACTIVE"
    assert act(talk, "Disconnect", None) == 0 and told(talk, "MSMQ_CONNECTED") == "DISCONNECTED"
    assert act(talk, "connecT", None) == 0 and told(talk, "MSMQ_CONNECTED") == "CONNECTED"


def test_tidying_loses_nothing(talk: Talk) -> None:
    send, receive = talk.queue()
    talk.send(send, "m")
    assert act(talk, "TIDY", None) == 0
    assert talk.drain(receive) == ["m"]


def test_what_is_gone_is_not_managed(talk: Talk) -> None:
    talk.queue()
    talk.ok("queues.delete", format_name=NAME)
    talk.open(FAR, "send")
    act(talk, "DISCONNECT", None)
    talk.ok("reset")
    for name in (NAME, FAR):
        assert talk("management.get", target={"type": "queue", "format_name": name}, properties=[1])["status"] != 0
    assert act(talk, "PAUSE") == hr.MQ_ERROR_QUEUE_NOT_ACTIVE
    assert told(talk, "MSMQ_CONNECTED") == "CONNECTED" and told(talk, "MSMQ_PRIVATEQ") == []


def test_steps_of_a_session(talk: Talk) -> None:
    far = talk.open(FAR, "send")
    seen = [("", told(talk, "QUEUE_STATE"), told(talk, "QUEUE_NEXTHOPS"))]
    steps = ("dns_failure", "in_process", "establish_packet_received", "established", "closing", "closed", "in_process")
    for name in (*steps, "socket_connect_failure"):
        step(talk, name, addresses=HOPS, error=0x8007274D if name.endswith("failure") else 0)
        talk.ok("clock.advance", by_ms=1000)
        seen.append((name, told(talk, "QUEUE_STATE"), told(talk, "QUEUE_NEXTHOPS")))
    both, first = ["IP=192.0.2.7", "IPv6=2001:db8::7"], ["IP=192.0.2.7"]
    assert seen == [
        ("", "INACTIVE", None),
        ("dns_failure", "INACTIVE", None),
        ("in_process", "WAITING", both),
        ("establish_packet_received", "WAITING", both),
        ("established", "CONNECTED", first),
        ("closing", "DISCONNECTING", None),
        ("closed", "DISCONNECTED", None),
        ("in_process", "WAITING", both),
        ("socket_connect_failure", "WAITING", both),
    ]
    status, when, errors, addresses = told(talk, "QUEUE_CONNECTION_HISTORY")
    assert status["value"] == [0x80000008, 0, 1, 2, 0, 0x80000004]
    assert [late - when["value"][0] for late in when["value"]] == [0, 1, 2, 3, 6, 7]
    assert errors["value"] == [0x8007274D - (1 << 32), 0, 0, 0, 0, 0x8007274D - (1 << 32)]
    assert [each["value"] for each in addresses["value"]] == [HOPS] * 6
    talk.send(far, "m")
    step(talk, "routing_data_not_available")
    assert told(talk, "QUEUE_STATE") == "NEED VALIDATION"


def test_every_failure_has_its_status(talk: Talk) -> None:
    talk.open(FAR, "send")
    for name in STATUS:
        step(talk, name, addresses=HOPS)
    assert told(talk, "QUEUE_CONNECTION_HISTORY")[0]["value"] == [*range(3), *range(0x80000000, 0x8000000E)]
    for _ in range(LONGEST_HISTORY):
        step(talk, "ping_failure")
    assert told(talk, "QUEUE_CONNECTION_HISTORY")[0]["value"] == [0x80000001] * LONGEST_HISTORY


def test_a_hold_stays_through_all_steps(talk: Talk) -> None:
    talk.send(talk.open(FAR, "send"), "m")
    act(talk, "PAUSE")
    for name in ("dns_failure", "in_process", "established", "closing", "closed", "established"):
        step(talk, name, addresses=HOPS)
        assert told(talk, "QUEUE_STATE") == "ONHOLD" and told(talk, "QUEUE_NEXTHOPS") is None
        assert labels(talk) == []
    act(talk, "RESUME")
    assert told(talk, "QUEUE_STATE") == "INACTIVE" and labels(talk) == []
    step(talk, "established", addresses=HOPS)
    assert labels(talk) == ["m"]


def test_a_resume_without_a_hold_changes_nothing(talk: Talk) -> None:
    talk.open(FAR, "send")
    connect(talk)
    assert act(talk, "RESUME") == 0 and told(talk, "QUEUE_STATE") == "CONNECTED"


def test_steps_that_lack_addresses_are_refused(talk: Talk) -> None:
    talk.open(FAR, "send")
    for name in ("in_process", "established"):
        answer = talk("management.connection", format_name=FAR, step=name)
        assert answer["status"] == hr.MQ_ERROR_INVALID_PARAMETER
    assert talk("management.connection", format_name=NAME, step="closed")["status"] != 0


def test_what_is_transferred_stays_until_it_is_acknowledged(talk: Talk) -> None:
    far = talk.open(FAR, "send")
    for label in "abc":
        talk.send(far, label, positive_journaling=label == "b")
    assert labels(talk) == [] and acknowledge(talk, "session", count=1) != 0
    connect(talk)
    assert labels(talk, count=2) == ["a", "b"] and labels(talk, count=0) == []
    assert labels(talk) == ["c"] and labels(talk) == []
    assert told(talk, "QUEUE_MESSAGE_COUNT") == 3
    assert acknowledge(talk, "session", count=2) == 0 and told(talk, "QUEUE_MESSAGE_COUNT") == 1
    assert talk.drain(talk.open(JOURNAL)) == ["b"]
    step(talk, "closed")
    assert labels(talk) == [] and acknowledge(talk, "session", count=1) != 0
    connect(talk)
    assert labels(talk) == ["c"]
    assert acknowledge(talk, "session", count=9) == 0 and told(talk, "QUEUE_MESSAGE_COUNT") == 0


def test_nothing_is_transferred_by_a_machine_that_is_disconnected(talk: Talk) -> None:
    talk.send(talk.open(FAR, "send"), "m")
    connect(talk)
    act(talk, "DISCONNECT", None)
    assert labels(talk) == []
    act(talk, "CONNECT", None)
    assert labels(talk) == ["m"]


def test_the_numbers_of_a_sequence(talk: Talk) -> None:
    commit(talk, "a", "b", "c")
    connect(talk)
    assert [place(talk, name) for name in ("LAST_ACK", "FIRST_NON_ACK", "LAST_NON_ACK")] == [None] * 3
    assert numbers(talk) == [("a", 1, 0), ("b", 2, 1), ("c", 3, 2)]
    first, last, ahead = (place(talk, name) for name in ("FIRST_NON_ACK", "LAST_NON_ACK", "NEXT_SEQ"))
    assert first and last and ahead
    ordinal, stamp = first[:2]
    assert (first[2:], last, ahead) == ((1, 0), (ordinal, stamp, 3, 2), (ordinal, stamp, 4, 3))
    now = talk.ok("clock.now")["time_ms"] // 1000
    assert told(talk, "QUEUE_EOD_NO_ACK_COUNT") == 3 and told(talk, "QUEUE_EOD_NO_READ_COUNT") == 0
    assert told(talk, "QUEUE_EOD_RESEND_TIME") == now + told(talk, "QUEUE_EOD_RESEND_INTERVAL") == now + 30
    talk.ok("clock.advance", by_ms=2000)
    assert acknowledge(talk, "session", count=3) == 0 and told(talk, "QUEUE_MESSAGE_COUNT") == 3
    assert acknowledge(talk, "order", sequence_number=2) == 0
    assert place(talk, "LAST_ACK") == (ordinal, stamp, 2, 1) and place(talk, "FIRST_NON_ACK") == last
    assert told(talk, "QUEUE_EOD_LAST_ACK_TIME") == now + 2 and told(talk, "QUEUE_EOD_LAST_ACK_COUNT") == 1
    assert told(talk, "QUEUE_EOD_NO_ACK_COUNT") == 1 and told(talk, "QUEUE_MESSAGE_COUNT") == 1
    acknowledge(talk, "order", sequence_number=2)
    assert told(talk, "QUEUE_EOD_LAST_ACK_COUNT") == 2
    acknowledge(talk, "order", sequence_number=3)
    assert place(talk, "NEXT_SEQ") == (ordinal + 1, stamp, 1, 0) and told(talk, "QUEUE_EOD_RESEND_TIME") == 0
    commit(talk, "d")
    assert numbers(talk) == [("d", 1, 0)]


def test_messages_are_sent_again_with_their_numbers(talk: Talk) -> None:
    commit(talk, "a", "b")
    connect(talk)
    assert numbers(talk) == [("a", 1, 0), ("b", 2, 1)] and numbers(talk) == []
    assert act(talk, "EOD_RESEND") == 0
    assert numbers(talk) == [("a", 1, 0), ("b", 2, 1)] and told(talk, "QUEUE_EOD_RESEND_COUNT") == 2
    talk.ok("clock.advance", by_ms=29_999)
    assert numbers(talk) == []
    talk.ok("clock.advance", by_ms=1)
    assert numbers(talk) == [("a", 1, 0), ("b", 2, 1)]
    step(talk, "closed")
    commit(talk, "c")
    connect(talk)
    assert numbers(talk) == [("a", 1, 0), ("b", 2, 1), ("c", 3, 2)]


def test_numbers_survive_a_restart_and_the_session_does_not(talk: Talk) -> None:
    first, _, _ = commit(talk, "a", "b", "c", **BOTH)
    connect(talk)
    numbers(talk)
    acknowledge(talk, "order", sequence_number=1)
    before = place(talk, "NEXT_SEQ"), place(talk, "LAST_ACK")
    after = again(talk)
    assert (place(after, "NEXT_SEQ"), place(after, "LAST_ACK")) == before
    assert told(after, "QUEUE_STATE") == "INACTIVE" and told(after, "QUEUE_CONNECTION_HISTORY")[0]["value"] == []
    assert told(after, "QUEUE_EOD_NO_READ_COUNT") == 1 and told(after, "QUEUE_EOD_NO_ACK_COUNT") == 2
    connect(after)
    assert numbers(after) == [("b", 2, 1), ("c", 3, 2)]
    acknowledge(after, "final", identifier=first, **{"class": RECEIVED})
    assert after.drain(after.open(JOURNAL)) == ["a"]
    after.driver.close()


def test_a_gap_of_what_expired_is_bridged(talk: Talk) -> None:
    commit(talk, "a")
    commit(talk, "b", time_to_reach_queue=10)
    commit(talk, "c")
    connect(talk)
    assert [each[0] for each in numbers(talk)] == ["a", "b", "c"]
    talk.ok("clock.advance", by_ms=30_000)
    assert numbers(talk) == [("a", 1, 0), ("c", 3, 1)]


@pytest.mark.parametrize(
    ("asked", "message_class", "journal", "dead"),
    [
        (BOTH, RECEIVED, ["m"], []),
        (BOTH, PURGED, [], ["m"]),
        ({"positive_journaling": True}, PURGED, [], []),
        ({"negative_journaling": True}, RECEIVED, [], []),
    ],
)
def test_a_final_acknowledgment_decides_where_the_message_goes(
    talk: Talk, asked: dict[str, Any], message_class: int, journal: list[str], dead: list[str]
) -> None:
    [identifier] = commit(talk, "m", **asked)
    connect(talk)
    transfer(talk)
    acknowledge(talk, "order", sequence_number=1)
    assert told(talk, "QUEUE_MESSAGE_COUNT") == 0 and told(talk, "QUEUE_EOD_NO_READ_COUNT") == 1
    for _ in range(2):
        assert acknowledge(talk, "final", identifier=identifier, **{"class": message_class}) == 0
    assert talk.drain(talk.open(JOURNAL)) == journal
    assert talk.drain(talk.open(DEADXACT)) == dead and talk.drain(talk.open(DEAD)) == []
    assert told(talk, "QUEUE_EOD_NO_READ_COUNT") == 0


def test_no_final_acknowledgment_is_awaited_without_journaling(talk: Talk) -> None:
    commit(talk, "m")
    connect(talk)
    transfer(talk)
    acknowledge(talk, "order", sequence_number=1)
    assert told(talk, "QUEUE_EOD_NO_READ_COUNT") == 0


def test_acknowledgments_of_nothing_change_nothing(talk: Talk) -> None:
    commit(talk, "m")
    connect(talk)
    for kind, more in (("session", {"count": 5}), ("order", {"sequence_number": 5})):
        assert acknowledge(talk, kind, **more) == 0
    assert acknowledge(talk, "final", identifier={"source": "x", "ordinal": 1}, **{"class": RECEIVED}) == 0
    for kind in ("session", "order", "final"):
        assert acknowledge(talk, kind) == hr.MQ_ERROR_INVALID_PARAMETER
    assert told(talk, "QUEUE_MESSAGE_COUNT") == 1 and labels(talk) == ["m"]


def test_sequences_from_other_managers_are_told(talk: Talk) -> None:
    talk.queue(PROPID_Q_TRANSACTION=1)
    marks = {"sequence_identifier": {"ordinal": 3, "timestamp": 9}, "previous_sequence_number": 0}
    given = {"destination": NAME, "label": "m", "destination_queue_manager": "00000000-0000-0000-0000-000000000000"}
    for each in (1, 2):
        message = {**given, "transaction": {**marks, "sequence_number": each}}
        talk.ok("packets.deliver", packet=talk.ok("packets.encode", message=message)["packet"])
        talk.ok("clock.advance", by_ms=1000)
    names, senders, sequences, last, when, rejects = (
        each["value"] for each in told(talk, "QUEUE_EOD_SOURCE_INFO", NAME)
    )
    assert (names, sequences, last, rejects) == ([NAME], [str(9 << 32 | 3)], [2], [0])
    assert len(senders) == 1 and when == [talk.ok("clock.now")["time_ms"] // 1000 - 1]


def test_a_hundred_thousand_outgoing_queues_cost_what_a_few_do(talk: Talk) -> None:
    manager = talk.driver.manager
    name = "DIRECT=OS:far0\\q"

    def work() -> None:
        assert told(talk, "QUEUE_STATE", name) in ("INACTIVE", "DISCONNECTED")
        assert told(talk, "MSMQ_ACTIVEQUEUES") == [name]
        assert int(told(talk, "MSMQ_BYTES_IN_ALL_QUEUES")) > 0
        act(talk, "PAUSE", name)
        act(talk, "RESUME", name)
        connect(talk, name)
        step(talk, "closed", name)

    def add(numbers: range) -> None:
        for each in numbers:
            manager.queues._add_outgoing(f"outgoing-{each}", f"DIRECT=OS:far{each}\\q")

    add(range(10))
    talk.send(talk.open(name, "send"), "m")
    work()  # what is worked out once is
    few = steps(work, 1_000_000)
    add(range(10, 100_000))
    assert steps(work, 2 * few) <= few + 100


@pytest.mark.parametrize(("bound", "least"), [("MOST_NAMES", 2), ("MOST_TEXT", 70)])
def test_too_much_for_one_answer_is_refused(
    talk: Talk, monkeypatch: pytest.MonkeyPatch, bound: str, least: int
) -> None:
    monkeypatch.setattr(f"conformance.embedded.management.{bound}", least)
    for name in "abc":
        talk.open(f"DIRECT=OS:{name}\\q", "send")
    answer = talk("management.get", target=MACHINE, properties=[number("MSMQ_ACTIVEQUEUES")])
    assert answer == {"status": hr.MQ_ERROR_INSUFFICIENT_RESOURCES}


def test_a_connected_multicast_queue_tells_its_own_name_as_its_next_hop(talk: Talk) -> None:
    name = "MULTICAST=234.1.1.1:1801"
    talk.open(name, "send")
    step(talk, "in_process", name, addresses=HOPS)
    assert told(talk, "QUEUE_NEXTHOPS", name) == ["IP=192.0.2.7", "IPv6=2001:db8::7"]
    step(talk, "established", name, addresses=HOPS)
    assert told(talk, "QUEUE_NEXTHOPS", name) == [name] == [told(talk, "QUEUE_FORMATNAME", name)]


def test_a_journal_has_no_bytes_to_tell_while_journaling_is_off(talk: Talk) -> None:
    send, receive = talk.queue(PROPID_Q_JOURNAL=1)
    talk.send(send, "a")
    talk.receive(receive)
    kept = told(talk, "QUEUE_BYTES_IN_JOURNAL", NAME)
    talk.ok("queues.set", format_name=NAME, properties={"PROPID_Q_JOURNAL": 0})
    assert kept and told(talk, "QUEUE_BYTES_IN_JOURNAL", NAME) == 0
    assert told(talk, "QUEUE_JOURNAL_MESSAGE_COUNT", NAME) == 1


HTTP = "DIRECT=HTTP://192.0.2.7/msmq/private$/q"


def started(talk: Talk, *, hardened: bool | None = None) -> Talk:
    """The driver after a start, before which security was hardened or not."""
    if hardened is not None:
        talk.ok("harden", hardened=hardened)
    talk.driver.close()
    return Talk(talk.state_dir)


def test_hardened_security_locks_what_is_not_sent_by_http(talk: Talk) -> None:
    for name in (FAR, HTTP):
        talk.send(talk.open(name, "send"), "m", delivery="recoverable")
    talk.ok("harden", hardened=True)
    assert told(talk, "QUEUE_STATE") == "INACTIVE"
    connect(talk)
    later = started(talk)
    assert [told(later, "QUEUE_STATE", name) for name in (FAR, HTTP)] == ["LOCKED", "INACTIVE"]
    other = "DIRECT=OS:other\\private$\\q"
    for name, state in ((other, "LOCKED"), ("MULTICAST=234.1.1.1:8001", "LOCKED"), (HTTP + "2", "INACTIVE")):
        later.send(later.open(name, "send"), "m")
        assert told(later, "QUEUE_STATE", name) == state
    connect(later)
    assert told(later, "QUEUE_STATE") == "LOCKED"
    assert labels(later) == later.ok("outgoing.take", format_name=FAR)["packets"] == []
    assert later.ok("queues.counts", format_name=FAR)["messages"] == 1
    act(later, "PAUSE")
    assert told(later, "QUEUE_STATE") == "ONHOLD"
    act(later, "RESUME")
    assert told(later, "QUEUE_STATE") == "LOCKED"
    last = started(later)
    assert told(last, "QUEUE_STATE") == "LOCKED"
    last.driver.close()


def test_a_start_without_hardened_security_unlocks(talk: Talk) -> None:
    for name in (FAR, HTTP):
        talk.send(talk.open(name, "send"), "m", delivery="recoverable")
    hard = started(talk, hardened=True)
    soft = started(hard, hardened=False)
    assert [told(soft, "QUEUE_STATE", name) for name in (FAR, HTTP)] == ["WAITING", "INACTIVE"]
    connect(soft)
    assert labels(soft) == ["m"]
    later = started(soft)
    assert told(later, "QUEUE_STATE") == "INACTIVE"
    later.driver.close()


def test_a_reset_ends_hardened_security(talk: Talk) -> None:
    hard = started(talk, hardened=True)
    hard.ok("reset")
    hard.send(hard.open(FAR, "send"), "m")
    assert told(hard, "QUEUE_STATE") == "INACTIVE"
    soft = started(hard)
    soft.send(soft.open(FAR, "send"), "m")
    assert told(soft, "QUEUE_STATE") == "INACTIVE"
    soft.driver.close()
