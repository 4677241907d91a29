"""The rights that objects need, and the users they work for: MC-MQAC 3.10.4.1.26, 3.10.4.1.27, 3.17.4.1.49."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from conformance.suites.security.of_objects import ATTACHED
from conformance.suites.security.stories import NEEDS, marked, play

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder

_CREATE, _DELETE, _MESSAGE = "MQAC-3.10.4.1.26.", "MQAC-3.10.4.1.27.", "MQAC-3.17.4.1."
_CHECK, _REFUSED = "access-check-invoking-algorithm", "return-hresult-error-after-access-check-algorithm-return"
_OBJECTS = ("objects.create", "objects.invoke")
_WORLD = ("guest-owner-sid", "structure-access-allowed-ace-mask")
_MACHINE = ("nonzero-machine-sid-machine-access", "nonzero-machine-access-access-allowed-ace")


@pytest.mark.requirement("MQAC-3.1.4.1.methods-server-dcom-rpc")
@pytest.mark.parametrize(
    "story",
    [
        marked("objects-create", f"{_CREATE}{_CHECK}", f"{_CREATE}{_REFUSED}"),
        marked("objects-delete", f"{_DELETE}{_CHECK}", f"{_DELETE}{_REFUSED}"),
    ],
)
def test_an_object_needs_the_right_of_its_caller(mq: Port, judge: Recorder, mq_need: Any, story: str) -> None:
    play(story, mq, judge, mq_need, *NEEDS, *_OBJECTS)


@pytest.mark.requirement(
    f"{_CREATE}security-new-queue-security-descriptor-according",
    *(f"{_CREATE}1.{word}" for word in (*_WORLD, *_MACHINE)),
)
@pytest.mark.parametrize(
    "story",
    [
        marked(
            "objects-default-domain-user",
            f"{_CREATE}1.nonzero-owner-access-access-allowed-ace",
            f"{_CREATE}is-world-readable-server-false-0x00000000",
        ),
        marked("objects-default-guest"),
        marked("objects-default-stranger", f"{_CREATE}1.user-sid-owner-sid"),
    ],
)
def test_an_object_creates_with_the_default_descriptor(mq: Port, judge: Recorder, mq_need: Any, story: str) -> None:
    play(story, mq, judge, mq_need, *NEEDS, *_OBJECTS)


@pytest.mark.requirement(
    f"{_CREATE}1.messages-msmq-soap-srmp", f"{_CREATE}1.nonzero-anonymous-access-access-allowed-ace"
)
def test_an_object_creates_where_messages_come_over_http(mq: Port, judge: Recorder, mq_need: Any) -> None:
    if not (mq.hello.security or {}).get("srmp", False):
        pytest.skip("not offered by the driver: srmp in hello.security")
    play("objects-default-domain-user", mq, judge, mq_need, *NEEDS, *_OBJECTS)


@pytest.mark.parametrize(
    "story",
    [
        marked(
            f"objects-{member}",
            f"{_MESSAGE}{number}.status",
            f"{_MESSAGE}{number}.represented-message-sender-identifier",
        )
        for member, number in ATTACHED.items()
    ],
)
def test_a_message_stays_as_it_is_when_it_is_attached(mq: Port, judge: Recorder, mq_need: Any, story: str) -> None:
    play(story, mq, judge, mq_need, *_OBJECTS, "objects.get")
