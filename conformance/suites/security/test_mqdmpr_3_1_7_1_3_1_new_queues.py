"""The descriptor of a new queue, as it comes or as it is supplied: MS-MQDMPR 3.1.7.1.3.1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from conformance.suites.security.new_queues import STORIES
from conformance.suites.security.stories import marked, play

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder

_DEFAULT = "MQDMPR-3.1.7.1.3.1."
_ENTRIES = ("world-entry", "machine-entry", "machine-properties", "default-dacl", "self-relative")
_ANY = ("MQDMPR-3.1.7.1.33.default-security", *(f"{_DEFAULT}{word}" for word in _ENTRIES))
_BY_KIND = {
    "domain-user": ("world-properties", "owner-all", "owner-entry", "caller-owner"),
    "privileged": ("world-properties", "owner-all", "owner-entry", "caller-owner"),
    "guest": ("world-all", "caller-owner"),
    "stranger": ("world-all", "anonymous-owner"),
}


def _claims(name: str) -> tuple[str, ...]:
    parts = name.split("-")
    words = ["supplied", "supplied-parts"]
    words += ["supplied-owner"] if "owner" in parts else []
    words += ["supplied-dacl"] if "dacl" in parts else ["default-dacl"]
    words += ["supplied-sacl"] if "sacl" in parts else []
    given = ("MQDMPR-3.1.7.1.3.attribute-security",) if "dacl" in parts else ()
    return (*(f"{_DEFAULT}{word}" for word in words), *given)


@pytest.mark.requirement(*_ANY)
@pytest.mark.parametrize(
    "story", [marked(f"default-{kind}", *(f"{_DEFAULT}{word}" for word in words)) for kind, words in _BY_KIND.items()]
)
def test_a_queue_is_created_without_a_descriptor(mq: Port, judge: Recorder, mq_need: Any, story: str) -> None:
    play(story, mq, judge, mq_need)


@pytest.mark.requirement(f"{_DEFAULT}srmp-write", f"{_DEFAULT}anonymous-entry")
def test_a_queue_that_messages_reach_over_http(mq: Port, judge: Recorder, mq_need: Any) -> None:
    if not (mq.hello.security or {}).get("srmp", False):
        pytest.skip("not offered by the driver: srmp in hello.security")
    play("default-domain-user", mq, judge, mq_need)


@pytest.mark.parametrize("story", [marked(name, *_claims(name)) for name in STORIES if name.startswith("supplied-")])
def test_a_queue_is_created_with_a_descriptor(mq: Port, judge: Recorder, mq_need: Any, story: str) -> None:
    play(story, mq, judge, mq_need)
