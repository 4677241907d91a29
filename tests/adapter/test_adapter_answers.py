"""What the protocol's page and schemas answer where the documents are silent is what the harness takes, and we do.

Each note of the schemas is held against the judge that would accuse a driver, or against the embedded driver.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conformance.adapter import protocol
from conformance.embedded.driver import EmbeddedDriver
from conformance.judge.names import (
    FORMAT_NAME,
    LONG_LABEL,
    LONGEST_MESSAGE_LABEL,
    PATH_NAME,
    NameCase,
    NameObservation,
    judge_name,
)
from conformance.model import Answer, BadCall, Call, Model, Observation, SeenMessage, States
from conformance.model.properties import ROWS, SINCE
from conformance.spec.catalogue import assignment
from conformance.spec.constants import hresults
from conformance.suites.names.checks import section
from conformance.verdict import Outcome
from tools.protocol_page import notes, page

NAME = "DIRECT=OS:HOST\\private$\\q"
ANSWERED = {
    "parts-compared", "system-queues", "absent-multicast-address", "properties-asked", "what-a-reset-keeps",
    "what-a-restart-keeps", "opening-makes-subqueues", "begun-receive-at-close", "over-quota-status", "limits-left-out",
    "closed-handles", "names-used", "what-counts-tell", "labels", "members-not-shown", "cancel-too-late",
    "management-numbers", "management-no-value", "management-names", "management-vectors", "management-refusals",
    "management-actions", "connection-steps", "connection-none", "transfer-when", "transfer-numbers",
    "transfer-or-take", "acknowledge-kinds", "object-classes", "object-handles", "invoke-blocks", "invoke-types",
    "invoke-success", "described-members", "directory-own", "directory-server", "directory-refused",
    "hardened-from",
    # Those of sessions are held against the driver of wire:HOST, in tests/net.
    "sessions-bytes", "sessions-early", "sessions-none", "sessions-ping-port", "sessions-queues", "sessions-returns",
    "sessions-timers", "rpc-octets",
    # Those of the coordinator and of rights: in tests/suites and tests/embedded.
    "right-checked-at", "owner-and-rights", "personal-store", "signed-on-arrival",
    "directory-kept", "directory-and-queues", "directory-status",
    "enlisted-twice", "what-a-status-says", "unknown-identifier",
    "start-and-outcome", "outcome-timeout", "context-calls", "context-unknown", "context-ends",
    "requests-coordinator", "requests-listed", "requests-information", "refuse-effect", "refuse-codes",
    "refuse-decisions",
}  # fmt: skip
OK = Observation(Answer())
READING = ("messages.receive", "messages.receive_begin")
OPENED = (
    Call("queues.create", queue="q"),
    Call("queues.open", name="s", queue="q", access="send"),
    Call("queues.open", name="r", queue="q", access="receive"),
    Call("messages.send", message="a", handle="s"),
)


class Driver:
    """The embedded driver; its state outlives it."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.driver = folder, EmbeddedDriver(folder)

    def __call__(self, method: str, **params: Any) -> dict[str, Any]:
        [answer] = self.calls(method, params)
        return answer

    def calls(self, method: str, params: dict[str, Any]) -> list[dict[str, Any]]:
        answers: list[dict[str, Any]] = []
        self.driver.handle(method, params, answers.append)
        return answers

    def restart(self) -> None:
        self.driver.close()
        self.driver = EmbeddedDriver(self.folder)

    def queue(self, **properties: Any) -> None:
        assert self("queues.create", path_name="HOST\\private$\\q", properties=properties)["status"] == 0

    def open(self, name: str = NAME, access: str = "receive") -> dict[str, Any]:
        return self("queues.open", format_name=name, access=access)


@pytest.fixture
def driver(tmp_path: Path) -> Iterator[Driver]:
    made = Driver(tmp_path)
    yield made
    made.driver.close()


def stepped(*calls: Call) -> tuple[Model, Any]:
    model, states = Model(assignment("windows")), States()
    for call in calls:
        answer = (
            Observation(Answer.of_status(0, SeenMessage(b"a", "a", 3, "express", 1))) if call.method in READING else OK
        )
        states = model.step(states, call, answer).states
    return model, states


def test_every_question_is_answered_at_its_method_and_in_the_list() -> None:
    text, found = page(), notes()
    assert set(found) == ANSWERED
    for note, (method, words) in found.items():
        question, asked, answer = words.partition("? ")
        assert asked and answer
        assert f"- [{question}?](#{note}) (`{method}`)\n" in text
        own = text.partition(f"\n#### {method}\n")[2].partition("\n#### ")[0]
        assert f'<a id="{note}"></a>*{question}?* {answer}\n' in own


def test_every_part_of_a_name_has_its_type_on_the_page() -> None:
    parts = protocol.method("names.parse").result["anyOf"][0]["properties"]["parts"]["properties"]
    for name, schema in parts.items():
        assert f"| result | `parts.{name}` | " in page() and schema["description"]
    told = {name for number in range(1, 8) for case in section(f"2.1.{number}").cases for name in _parts(case)}
    assert told == set(parts)


def _parts(case: NameCase) -> Iterator[str]:
    parts = protocol.method("names.parse").result["anyOf"][0]["properties"]["parts"]["properties"]
    kinds = {"string": str, "integer": int, "array": list, None: str}
    for each in (wanted for choices in case.expected.values() for wanted in choices):
        for name, value in (each.parts or {}).items():
            assert isinstance(value, kinds[parts[name].get("type")]), (case.text, name)
            yield name


@pytest.mark.parametrize(
    ("text", "form", "parts"),
    [
        (
            "DIRECT=OS:HOST\\SYSTEM$;JOURNAL",
            FORMAT_NAME,
            {"protocol": "OS", "address": "HOST", "scope": "system", "suffix": "journal"},
        ),
        ("HOST\\system$;journal", PATH_NAME, {"computer": "HOST", "scope": "system", "queue": "journal"}),
    ],
)
def test_a_system_queue_is_taken_apart_as_the_page_says(
    driver: Driver, text: str, form: str, parts: dict[str, str]
) -> None:
    assert driver("names.parse", text=text, form=form)["parts"] == parts
    number = "2.1.1" if form == PATH_NAME else "2.1.2"
    case = next(each for each in section(number).cases if each.text == text and each.binds("msmq-4.0"))
    seen = NameObservation(True, 0, "path" if form == PATH_NAME else "direct", parts)
    small = {name: value.lower() if name == "protocol" else value for name, value in parts.items()}
    for each, outcome in ((parts, Outcome.PASS), (small, Outcome.PASS), ({**parts, "scope": "public"}, Outcome.FAIL)):
        told = NameObservation(True, 0, seen.kind, each)
        assert judge_name(case, told, assignment("windows"))[0].outcome is outcome


def test_the_properties_that_may_be_asked_for_are_those_judged(driver: Driver) -> None:
    asked = protocol.method("queues.get").params["properties"]["properties"]
    assert asked["items"]["examples"] == list(ROWS) and all(name in asked["description"] for name in ROWS)
    words = notes()["properties-asked"][1]
    assert all(f"{name} from {since}" in words for name, since in SINCE.items())
    driver.queue()
    assert set(driver("queues.get", format_name=NAME, properties=list(ROWS))["properties"]) == set(ROWS)
    assert driver("queues.get", format_name=NAME, properties=["PROPID_Q_NONE"])["status"] != 0


def test_a_queue_without_multicast_address_has_null(driver: Driver) -> None:
    default = ROWS["PROPID_Q_MULTICAST_ADDRESS"].default
    assert default is not None and default[0] is None
    driver.queue()
    told = driver("queues.get", format_name=NAME, properties=["PROPID_Q_MULTICAST_ADDRESS"])
    assert told["properties"] == {"PROPID_Q_MULTICAST_ADDRESS": None}


def test_a_reset_and_a_restart_let_the_clock_go_on(driver: Driver) -> None:
    driver("clock.advance", by_ms=86_400_000)
    now = driver("clock.now")["time_ms"]
    driver("reset")
    assert driver("clock.now")["time_ms"] == now
    driver.restart()
    assert driver("clock.now")["time_ms"] == now


def test_a_limit_that_is_left_out_stays(driver: Driver) -> None:
    driver.queue()
    sender = driver.open(access="send")["queue"]
    driver("limits", message_quota_kb=1)
    driver("limits", journal_quota_kb=100)
    refused = driver("messages.send", queue=sender, message={"body": "QUJD" * 1000})
    assert refused["status"] >= 0x80000000
    assert driver("queues.counts", format_name=NAME)["messages"] == 0


def test_opening_makes_subqueues(driver: Driver) -> None:
    driver.queue()
    assert driver("queues.create", path_name="HOST\\private$\\q;sub")["status"] >= 0x80000000
    assert driver.open(f"{NAME};sub", "send")["status"] >= 0x80000000
    assert driver.open(f"{NAME};sub")["status"] == 0
    accepted = assignment("windows")
    assert accepted["R-MQDMPR-subqueue-creation"] == ("by-opening",)
    assert accepted["R-MQDMPR-send-to-read-only-queue"] == ("refused",)


def test_nobody_is_asked_what_ends_a_begun_receive_whose_handle_is_closed() -> None:
    model, states = stepped(*OPENED, Call("messages.receive_begin", name="b", handle="r"))
    states = model.step(states, Call("queues.close", handle="r"), OK).states
    with pytest.raises(BadCall, match="no section says"):
        model.step(states, Call("messages.receive_end", read="b", acknowledge=True), OK)


@pytest.mark.parametrize("code", [hresults.MQ_ERROR_INVALID_HANDLE, hresults.MQ_ERROR_ACCESS_DENIED])
def test_a_closed_handle_is_refused_with_any_failure(code: int) -> None:
    model, states = stepped(*OPENED, Call("queues.close", handle="r"))
    judged = model.step(states, Call("messages.receive", handle="r"), Observation(Answer.of_status(code)))
    assert not judged.failed


@pytest.mark.parametrize("code", [hresults.MQ_ERROR_INSUFFICIENT_RESOURCES, hresults.MQ_ERROR_ACCESS_DENIED])
def test_a_send_over_a_quota_fails_with_any_failure(code: int) -> None:
    model, states = stepped(Call("limits", quota_kb=1), *OPENED[:3])
    send = Call("messages.send", message="a", handle="s", size=4096)
    assert not model.step(states, send, Observation(Answer.of_status(code))).failed
    assert model.step(states, send, OK).failed


def test_the_length_of_labels_is_the_one_judged() -> None:
    words = notes()["labels"][1]
    assert f"more than {LONGEST_MESSAGE_LABEL} elements" in words and LONG_LABEL in words
    assert str(hresults.MQ_ERROR_LABEL_TOO_LONG) in words


def test_a_message_has_a_body_and_no_other_member_is_demanded() -> None:
    assert protocol.document("common")["$defs"]["message"]["required"] == ["body"]
    bare = Observation(Answer.of_status(0, SeenMessage(b"a", None, None, None, None)))
    model, states = stepped(*OPENED)
    assert not model.step(states, Call("messages.receive", handle="r"), bare).failed


def test_a_cancel_that_comes_too_late_says_so() -> None:
    assert str(hresults.STATUS_NOT_FOUND) in notes()["cancel-too-late"][1]
    model, states = stepped(*OPENED)
    with pytest.raises(BadCall, match="never waited"):
        model.step(states, Call("messages.cancel", request="w"), OK)
