"""The faults: named, declared, and each one visible from outside."""

from __future__ import annotations

import base64
from collections.abc import Callable
from contextlib import suppress
from itertools import permutations

import pytest
from embedded_every_story import STORIES, Story
from embedded_stories import faultless
from embedded_structures import NO_VALUES, SID, VALUES
from embedded_talk import NAME, Talk
from nightly import sample

from conformance.embedded.clock import Clock, Timer
from conformance.embedded.faults import EVERY_FAULT, FAULTS, NotTogether, apply_faults, base
from conformance.embedded.readings import READINGS
from conformance.embedded.receiving import Receiving
from conformance.spec.catalogue import catalogue, requirement_id
from conformance.spec.versions import DEFAULT_PROFILE
from conformance.suites.names.checks import section

SECTIONS = [f"2.1.{last}" for last in range(1, 8)]
INFINITE = 0xFFFFFFFF
GUID = "7a1f3c52-0b6e-4d6f-9a57-6f5b2f3f9a10"


def test_declarations() -> None:
    assert len(FAULTS) >= 600
    for name, fault in EVERY_FAULT.items():
        assert fault.name == name
        assert fault.says.endswith("."), name
        assert fault.suite in (*OBSERVED, *STORIES), name
        assert fault.breaks, name
        assert [requirement_id(each) for each in fault.breaks] == list(fault.breaks), name


def test_a_name_that_is_taken_is_refused() -> None:
    with pytest.raises(ValueError, match=r"two faults are named ignores-priority: in .*faults\.cursors"):
        base.fault("ignores-priority", Receiving.seek, "MQMQ-2.2.19.1.signature")(lambda plain, self: None)
    assert FAULTS["ignores-priority"].module.startswith("conformance.embedded.faults.")


def test_the_order_of_the_faults_is_that_of_their_modules() -> None:
    modules = [fault.module for fault in FAULTS.values()]
    assert modules == sorted(modules)


def test_readings_are_those_of_the_register() -> None:
    known = catalogue().readings
    for name, alternative in READINGS.items():
        assert alternative in known[name].defaults["windows"], name


def _packet(talk: Talk) -> bytes:
    message = {
        "destination": NAME,
        "label": "hi",
        "body": "aGVsbG8=",
        "priority": 5,
        "transaction": {"sequence_number": 1, "previous_sequence_number": 0},
    }
    return base64.b64decode(talk.ok("packets.encode", message=message)["packet"])


OTHER = "PUBLIC=909ea0fc-9078-4445-8f11-394c43cd8907"
FULL = {
    "destination": NAME,
    "label": "hi",
    "trace": True,
    "trace_queue": GUID,
    "destinations": [NAME, OTHER, f"PRIVATE={GUID}\\0000000a", f"DL={GUID}"],
    "administration_queues": [OTHER],
    "response_queues": [NAME],
    "multiple_destination_signature": "AAEC",
    "soap_header": "<a/>",
    "soap_body": "<bb/>",
    "sender_identifier": SID,
    "signature": "AAECAwQ=",
    "symmetric_key": "AA==",
    "sender_certificate": "MIIB",
    "provider_name": "Provider",
    "provider_type": 1,
    "privacy_level": 3,
    "authentication_level": "sig20",
    "session": {
        "ack_sequence_number": 3,
        "recoverable_ack_sequence_number": 7,
        "recoverable_ack_flags": 5,
        "user_message_sequence_number": 1,
        "recoverable_message_sequence_number": 1,
        "window_size": 64,
    },
}


def _packets(talk: Talk) -> object:
    """A packet with every header, and how ones are read whose reserved fields are not zero."""
    seen: list[object] = [_packet(talk), talk("packets.encode", message=FULL)]
    soap = {"destination": NAME, "soap_body": "b"}
    for message, at in ((soap, -21), (soap, -9), ({"destination": NAME, "trace": True}, -1)):
        written = bytearray(base64.b64decode(talk.ok("packets.encode", message=message)["packet"]))
        written[at] = 0x80
        seen.append(talk("packets.decode", packet=base64.b64encode(written).decode()))
    return [*seen, *_handed_on(talk), *_bits(talk)]


def _handed_on(talk: Talk) -> list[object]:
    """What is read of packets that say much."""
    seen: list[object] = []
    marks = {"sequence_number": 2, "previous_sequence_number": 1, "first": True, "last": False}
    for more in (
        FULL,
        {"transaction": marks, "hop_count": 3, "application_tag": 0x12345678, "time_to_reach_queue": INFINITE},
        {"hash_algorithm": 0x8003, "body": "aGVsbG8=", "sender_certificate": "MIIB", "symmetric_key": "AA=="},
        {"priority": 7},
        {"time_to_reach_queue": 0x00012345, "connector_type": GUID},
        {
            "transaction": {**marks, "connector_queue_manager": GUID},
            "correlation_identifier": "AQIDBAUGBwgJCgsMDQ4PEBESExQ=",
        },
        {"authentication_level": "none", "signature": "AAECAwQ="},
        {"administration_queue": OTHER, "response_queue": NAME},
        {"administration_queue": f"PRIVATE={GUID}\\0000000a", "response_queue": f"PRIVATE={GUID}\\0000000b"},
    ):
        answer = talk("packets.encode", message={"destination": NAME, **more})
        seen.append(answer)
        if "packet" in answer:
            packet = bytearray(base64.b64decode(answer["packet"]))
            seen.append(talk("packets.decode", packet=answer["packet"]))
            packet[2] ^= 1  # the priority
            seen.append(talk("packets.decode", packet=base64.b64encode(packet).decode()))
    return seen


def _bits(talk: Talk) -> list[object]:
    """What is read of packets that have one bit changed."""
    seen: list[object] = []
    padded = f"{NAME}q"  # of a length that leaves room for padding
    lists = {"destinations": [padded], "multiple_destination_signature": "AAEC"}
    lists |= {"administration_queues": [padded], "response_queues": [f"PRIVATE={GUID}\\0000000a", padded]}
    secured = {"sender_certificate": "MIIB", "session": FULL["session"], "body": "aGVsbG8="}
    for more in (lists, secured, {"transaction": {"sequence_number": 1, "previous_sequence_number": 0}}):
        answer = talk("packets.encode", message={"destination": padded, **more})
        packet = base64.b64decode(answer.get("packet", ""))
        for at in range(len(packet)):
            bits = (0x80, 0x04) if at < 72 else (0x80,)
            for bit in bits:
                changed = packet[:at] + bytes([packet[at] ^ bit]) + packet[at + 1 :]
                seen.append(talk("packets.decode", packet=base64.b64encode(changed).decode()))
    return seen


def _structures(talk: Talk) -> object:
    """Every structure as it is written and read, what is refused, and reserved members that are not zero."""
    seen: list[object] = []
    for structure, value in (*VALUES, *NO_VALUES):
        answer = talk("structures.encode", structure=structure, value=value)
        seen.append(answer)
        if answer["status"] == 0:
            seen.append(talk("structures.decode", structure=structure, data=answer["data"]))
    reserved = {"QUEUE_FORMAT": bytes([0, 0, 1, 1, 0]), "PROPVARIANT": bytes([0, 0, 1, 1, 1, 1, 1, 1, 0, 0])}
    for structure, data in reserved.items():
        seen.append(talk("structures.decode", structure=structure, data=base64.b64encode(data).decode()))
    return seen


def _few(talk: Talk, queue: str) -> list[object]:
    """The first messages of a queue, taken out: some faults leave them there for ever."""
    return [talk("messages.receive", queue=queue, timeout_ms=0).get("message", {}).get("label") for _ in range(4)]


def _transactional(talk: Talk) -> object:
    """What a reader sees around a commit and an abort."""
    send, receive = talk.queue("private$\\t", PROPID_Q_TRANSACTION=1)
    seen: list[object] = []
    first = talk.begin()
    for label in "abc":
        talk.send(send, label, first)
    seen.append(talk("messages.receive", queue=receive, timeout_ms=0).get("message"))
    talk.ok("transactions.commit", transaction=first)
    for end in ("abort", "commit"):
        transaction = talk.begin()
        seen.append(talk("messages.receive", queue=receive, timeout_ms=0, transaction=transaction).get("message"))
        seen.append(talk("messages.peek", queue=receive, timeout_ms=0).get("message"))
        talk.ok(f"transactions.{end}", transaction=transaction)
    seen.append(talk.ok("queues.counts", format_name="DIRECT=OS:HOST\\private$\\t"))
    seen.extend(talk("messages.receive", queue=receive, timeout_ms=0).get("message") for _ in range(3))
    return [*seen, *_ended(talk, send, receive), *_restarted(talk)]


def _ended(talk: Talk, send: str, receive: str) -> list[object]:
    """A purge while a message is locked, and a transaction used after its abort."""
    first = talk.begin()
    talk.send(send, "p", first)
    talk.ok("transactions.commit", transaction=first)
    second = talk.begin()
    talk("messages.receive", queue=receive, timeout_ms=0, transaction=second)
    talk.ok("queues.purge", queue=receive)
    talk.ok("transactions.abort", transaction=second)
    return [talk("transactions.commit", transaction=second), _few(talk, receive)]


def _restarted(talk: Talk) -> list[object]:
    """What is left of a message sent outside any transaction after a stop and a start."""
    send, _ = talk.queue("private$\\r")
    talk.send(send, "r", delivery="recoverable")
    talk.driver.close()
    again = Talk(talk.state_dir)
    try:
        return [_few(again, again.open("DIRECT=OS:HOST\\private$\\r"))]
    finally:
        again.driver.close()


def _cursor(talk: Talk) -> object:
    """What a cursor and its queue show."""
    send, receive = talk.queue()
    for label, priority in (("a", 3), ("b", 3), ("c", 7)):
        talk.send(send, label, priority=priority)
    cursor = talk.ok("cursors.open", queue=receive)["cursor"]
    at = {"queue": receive, "cursor": cursor, "timeout_ms": 0}
    calls = ("peek_next", "peek", "peek", "receive", "peek_next", "peek", "receive", "receive", "receive")
    seen: list[object] = [talk(f"messages.{name}", **at) for name in calls]
    seen.extend(talk("messages.receive", queue=receive, timeout_ms=0) for _ in range(5))
    talk.ok("queues.close", queue=receive)
    seen.append(talk("cursors.close", cursor=cursor))
    return [*seen, *_waiting(talk)]


def _waiting(talk: Talk) -> list[object]:
    """A cursor whose wait timed out, two peeks that wait, and a wait on a handle that is closed."""
    send, receive = talk.queue("private$\\w")
    cursor = talk.ok("cursors.open", queue=receive)["cursor"]
    ran_out = talk.start("messages.receive", queue=receive, cursor=cursor, timeout_ms=10)
    talk.ok("clock.advance", by_ms=10)
    talk.send(send, "x")
    seen: list[object] = [ran_out, talk("messages.peek", queue=receive, cursor=cursor, timeout_ms=0)["status"]]
    _few(talk, receive)
    peeks = [talk.start("messages.peek", queue=receive, timeout_ms=1000) for _ in range(2)]
    talk.send(send, "y")
    seen += [len(answers) for answers in peeks]
    _few(talk, receive)
    orphan = talk.start("messages.receive", queue=receive, timeout_ms=1000)
    talk.ok("queues.close", queue=receive)
    return [*seen, list(orphan)]


def _names(talk: Talk) -> object:
    """What becomes of every name of the fixtures, of some more, and of a queue whose name is too long."""
    texts = [(case.text, case.form) for number in SECTIONS for case in section(number).cases]
    texts.append((",".join(f"DL={GUID}" for _ in range(7)), "multiple_element"))
    texts.append((f"CONNECTOR={GUID};XACTONLY,PUBLIC={GUID}", "multiple_element"))
    https = ("h:/msmq/q", "h:65536/msmq/q", "h/msmq\\q")
    texts += [(f"DIRECT=HTTPS://{rest}", "format_name") for rest in https]
    texts.append(("HOST\\system$;q1", "path_name"))
    texts.append(("HOST\\system$;" + "q" * 11, "path_name"))
    texts.append(("DIRECT=O\u017f:h\\q", "format_name"))
    seen: list[object] = [talk("names.parse", text=text, form=form) for text, form in texts]
    seen.append(talk("queues.create", path_name="HOST\\private$\\given"))
    long = "HOST\\private$\\" + "q" * 125
    seen.append(talk("queues.create", path_name=long))
    opened = talk("queues.open", format_name=f"DIRECT=OS:{long[:-1]}", access="receive")
    return [*seen, opened["status"], *_labels(talk)]


def _labels(talk: Talk) -> list[object]:
    """What becomes of labels, and of multicast addresses, of which one thing is wrong."""
    send, receive = talk.queue("private$\\labels")
    here = {"format_name": "DIRECT=OS:HOST\\private$\\labels"}
    seen: list[object] = [talk("queues.get", **here, properties=["PROPID_Q_PATHNAME"])["properties"]]
    for label in ("x" * 249, "x" * 250, "\U0001f600" * 125, "\U0001f600", "a\0b"):
        seen += [talk("messages.send", queue=send, message={"label": label})["status"], _few(talk, receive)]
    wrong = ("240.1.1.1:1801", "234.1.1.1", "234.1.1.1:65536")
    pairs = [("PROPID_Q_MULTICAST_ADDRESS", text) for text in wrong]
    pairs += [("PROPID_Q_LABEL", "x" * length) for length in (124, 125)]
    for name, text in pairs:
        seen.append(talk("queues.set", **here, properties={name: text})["status"])
        seen.append(talk("queues.get", **here, properties=[name])["properties"])
    return seen


OBSERVED: dict[str, Callable[[Talk], object]] = {
    "transactions": _transactional,
    "cursors": _cursor,
    "names": _names,
    "packets": _packets,
    "structures": _structures,
}


MOST_TIMERS = 1_000  # a story sends a few messages, each with a few copies
OF_FORMATS = [name for name, fault in FAULTS.items() if fault.suite in ("names", "packets", "structures")]
OF_QUEUES = [name for name, fault in FAULTS.items() if name not in OF_FORMATS and fault.suite != "objects"]


@pytest.mark.parametrize("name", sample("embedded.faults", OF_FORMATS, OF_FORMATS[::3]))
def test_a_fault_shows_where_it_says_and_nowhere_in_other_suites(talk_with: Callable[..., Talk], name: str) -> None:
    suite = FAULTS[name].suite
    version = {"profile": FAULTS[name].profile or DEFAULT_PROFILE}
    seen_by = {
        kind for kind, look in OBSERVED.items() if faultless(look, **version) != look(talk_with(name, **version))
    }
    assert suite in seen_by
    if suite in ("packets", "structures"):
        assert seen_by == {suite}
    elif suite == "names":  # there are names in packets and structures too
        assert seen_by <= {"names", "packets", "structures"}


@pytest.mark.parametrize("name", sample("embedded.faults", OF_QUEUES, OF_QUEUES[::3]))
def test_a_fault_of_queues_shows_in_a_story_of_its_suite(talk_with: Callable[..., Talk], name: str) -> None:
    suite = FAULTS[name].suite
    stories = [*STORIES[suite], *([OBSERVED[suite]] if suite in OBSERVED else [])]
    assert any(_shows(story, talk_with(name)) for story in stories)


@pytest.mark.parametrize("name", OF_QUEUES)
def test_a_fault_makes_no_timers_without_end(
    talk_with: Callable[..., Talk], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Who looks for the cause of a deviation plays stories to it, in which days may pass."""
    made: list[int] = []
    at = Clock.at

    def counted(self: Clock, due_ms: int, action: Callable[[], None]) -> Timer:
        made.append(due_ms)
        assert len(made) < MOST_TIMERS
        return at(self, due_ms, action)

    monkeypatch.setattr(Clock, "at", counted)
    talk = talk_with(name)
    talk.driver.do_meanwhile(lambda: None)
    wishes = {"positive_journaling": True, "negative_journaling": True, "time_to_be_received": 2}
    with suppress(AssertionError):  # the fault may refuse a call
        send, receive = talk.queue(PROPID_Q_JOURNAL=1)
        for label in "abc":
            talk.send(send, label, delivery="recoverable", **wishes)
        talk.receive(receive)
    with suppress(AssertionError):
        talk.start("clock.advance", by_ms=432_000_000)
    assert len(made) < MOST_TIMERS


OF_OBJECTS = {name: fault for name, fault in EVERY_FAULT.items() if fault.suite == "objects"}


@pytest.mark.parametrize("module", sorted({fault.module for fault in OF_OBJECTS.values()}))
def test_a_fault_of_objects_shows_in_a_story(talk_with: Callable[..., Talk], module: str) -> None:
    every = [name for name, fault in OF_OBJECTS.items() if fault.module == module]
    names = sample("embedded.faults-without-a-suite", every, every[::20])
    hidden = [
        name for name in names if not any(_shows(story, talk_with(name)) for story in STORIES[OF_OBJECTS[name].suite])
    ]
    assert names and not hidden


def _shows(story: Story, talk: Talk) -> bool:
    """Whether a story goes another way than without faults, or cannot go on."""
    talk.driver.do_meanwhile(lambda: None)
    try:
        return faultless(story) != story(talk)
    except AssertionError:
        return True


@pytest.mark.parametrize("name", [name for name in OF_QUEUES if FAULTS[name].suite == "concurrency"])
def test_a_race_shows_nothing_to_one_client_alone(talk_with: Callable[..., Talk], name: str) -> None:
    for story in (*STORIES["cursors"][:2], *STORIES["transactions"][:2], *STORIES["subqueues"]):
        talk = talk_with(name)
        talk.driver.do_meanwhile(lambda: None)
        assert faultless(story) == story(talk)


def test_stories_tell_the_same_twice(talk_with: Callable[..., Talk]) -> None:
    for story in [story for stories in STORIES.values() for story in stories]:
        assert faultless(story) == story(talk_with()), story.__name__


def test_there_are_enough_faults_of_every_kind() -> None:
    suites = [FAULTS[name].suite for name in OF_QUEUES]
    assert len(OF_QUEUES) >= 150
    assert suites.count("concurrency") + suites.count("restart") >= 18


def _classes(name: str) -> dict[str, type]:
    return dict(FAULTS[name].replaces)


def test_two_faults_of_one_part_combine_in_any_order_unless_they_share_a_class() -> None:
    apart = 0
    names = [*OF_FORMATS, *OF_QUEUES]
    for part in {part for name in names for part in _classes(name)}:
        for first, second in permutations([name for name in names if part in _classes(name)], 2):
            try:
                made = getattr(apply_faults((first, second)), part)
            except NotTogether:
                apart += 1
                assert set(_classes(first).values()) & set(_classes(second).values())
                continue
            assert issubclass(made, _classes(first)[part]) and issubclass(made, _classes(second)[part])
    assert apart < 100


def test_faults_of_one_part_combine(talk_with: Callable[..., Talk]) -> None:
    both = talk_with("big-endian-packet-size", "signature-wrong-endian")
    packet = _packet(both)
    assert packet[4:8] == b"ROIL"
    assert int.from_bytes(packet[8:12], "big") == len(packet)


@pytest.mark.parametrize("name", ["deleted-queue-keeps-messages", "journal-outlives-its-queue"])
def test_what_a_deleted_queue_left_ends_with_a_reset(talk_with: Callable[..., Talk], name: str) -> None:
    left = []
    for reset in (False, True):
        talk = talk_with(name)
        send, receive = talk.queue(PROPID_Q_JOURNAL=1)
        for label in "ab":
            talk.send(send, label)
        talk.receive(receive)
        talk.ok("queues.delete", format_name=NAME)
        if reset:
            talk.ok("reset")
        talk.queue()
        counts = talk.ok("queues.counts", format_name=NAME)
        left.append(counts["messages"] + counts["journal_messages"])
    assert left == [1, 0]
