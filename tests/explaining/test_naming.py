"""Two implementations that name the same things differently are compared as if they did not."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from conformance.explaining.naming import Names
from conformance.explaining.stories import Implementation
from conformance.harness.connecting import open_client

OURS = Implementation(computer="HOST", queue_manager="db0760c6-b874-5485-9d0b-bf112870b534")
THEIRS = Implementation(computer="BOX", queue_manager="00000000-0000-0000-0000-000000000001")
Answer = Mapping[str, Any]


def differing(*answers: tuple[Answer, Answer], method: str = "messages.peek") -> list[list[str]]:
    names = Names(THEIRS, OURS)
    return [list(names.differing(method, theirs, ours)) for theirs, ours in answers]


def test_a_name_is_bound_at_its_first_appearance_and_stands_for_the_other_from_then_on() -> None:
    names = Names(THEIRS, OURS)
    assert not list(names.differing("queues.open", {"queue": 7}, {"queue": "h1"}))
    assert names.asked({"queue": 7, "timeout_ms": 7}) == {"queue": "h1", "timeout_ms": 7}


@pytest.mark.parametrize(
    ("second", "differs"),
    [
        (({"lookup_identifier": "5"}, {"lookup_identifier": "50"}), []),
        (({"lookup_identifier": "5"}, {"lookup_identifier": "51"}), ["lookup_identifier"]),
        (({"lookup_identifier": "6"}, {"lookup_identifier": "50"}), ["lookup_identifier"]),
        (({"lookup_identifier": "6"}, {"lookup_identifier": "99"}), []),
        (({"lookup_identifier": "4"}, {"lookup_identifier": "99"}), ["lookup_identifier"]),
    ],
    ids=["the same", "ours moved on", "ours repeats", "both greater", "another order"],
)
def test_identifiers_agree_in_sameness_and_order(second: tuple[Answer, Answer], differs: list[str]) -> None:
    assert differing(({"lookup_identifier": "5"}, {"lookup_identifier": "50"}), second)[1] == differs


def test_times_agree_in_their_distance() -> None:
    first = {"time_ms": 1000}, {"time_ms": 5000}
    assert differing(first, ({"time_ms": 1250}, {"time_ms": 5250}))[1] == []
    assert differing(first, ({"time_ms": 1250}, {"time_ms": 5251}))[1] == ["time_ms"]


def test_the_computers_name_and_bound_format_names_are_replaced_in_texts() -> None:
    names = Names(THEIRS, OURS)
    theirs, ours = {"format_name": "PRIVATE=X\\1"}, {"format_name": "DIRECT=OS:HOST\\private$\\q"}
    assert not list(names.differing("queues.create", theirs, ours))
    asked = names.asked({"format_name": "PRIVATE=X\\1", "message": {"admin": "BOX\\q", "several": "PRIVATE=X\\1,z"}})
    assert asked["format_name"] == ours["format_name"]
    assert asked["message"] == {"admin": "HOST\\q", "several": f"{ours['format_name']},z"}


def test_members_that_one_side_lacks_differ_and_values_are_compared_with_their_types() -> None:
    told = differing(
        ({"message": {"body": "YQ==", "trace": True}}, {"message": {"body": "Yg==", "trace": 1, "class": 0}})
    )
    assert told == [["message.body", "message.trace", "message.class"]]


def test_what_is_parsed_is_a_value_and_no_name() -> None:
    parsed = {"parts": {"queue": "a"}}, {"parts": {"queue": "b"}}
    assert differing(parsed, method="names.parse") == [["value"]]


REMOTE = "DIRECT=TCP:192.0.2.7\\private$\\far"


def taken(folder: Path, labels: str, *, before: int, faults: str = "") -> Answer:
    """What a manager transfers that has sent so many messages before."""
    client = open_client(
        f"embedded{faults}", state_dir=folder / f"{before}{faults}", in_process=True, deadline_ms=10_000
    )
    try:
        client.call("clock.advance", by_ms=5_000 * before)
        queue = client.call("queues.open", format_name=REMOTE, access="send").values["queue"]
        client.call("outgoing.resume", format_name=REMOTE)
        for label in (*"x" * before, *labels):
            if label == labels[0]:
                client.call("outgoing.take", format_name=REMOTE)
            client.call("messages.send", queue=queue, message={"label": label, "priority": ord(label) % 8, "body": ""})
        return client.call("outgoing.take", format_name=REMOTE).to_json()
    finally:
        client.close()


@pytest.mark.parametrize(("faults", "agree"), [("", True), ("+ignores-priority", False)])
def test_packets_are_compared_by_their_fields(tmp_path: Path, faults: str, agree: bool) -> None:
    theirs, ours = taken(tmp_path, "ag", before=2, faults=faults), taken(tmp_path, "ag", before=0)
    assert len(theirs["packets"]) == len(ours["packets"]) == 2 and theirs != ours
    assert (differing((theirs, ours), method="outgoing.take") == [[]]) is agree
