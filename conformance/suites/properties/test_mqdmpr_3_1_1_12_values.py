"""MS-MQDMPR 3.1.1.12: values at the ends of their ranges come unchanged through whatever happens to their message."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from conformance.judge.packets.attribute_compare import BODY
from conformance.suites.properties.mailbox import NEEDS
from conformance.suites.properties.stories import restarts, run_story
from conformance.suites.properties.values import PASSAGES

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder

EXTENSION = "MQDMPR-3.1.1.12.extension-unchanged"
_OWN = tuple(
    f"MQDMPR-3.1.1.12.{word}"
    for word in (
        *("body-unchanged", "label-unchanged", "extension-unchanged", "application-tag-unchanged"),
        *("body-type-unchanged", "correlation-identifier-unchanged", "response-queue", "response-queues"),
        *("administration-queue", "administration-queues"),
    )
)


def _passages(received: tuple[str, ...]) -> pytest.MarkDecorator:
    """Return the passages as parameters, each with what it judges."""
    return pytest.mark.parametrize(
        "passage",
        [
            pytest.param(name, marks=pytest.mark.requirement(*(passage.demands or received)))
            for name, passage in PASSAGES.items()
        ],
    )


def _tell(kind: str, passage: str, mq: Port, judge: Recorder, mq_need: Any) -> None:
    known = PASSAGES[passage]
    mq_need(*NEEDS, *known.needs)
    mq.need("format_names", *known.names)
    if known.restarts:
        restarts(mq)
    run_story(f"{kind}-{passage}", mq, judge)


@_passages(_OWN)
def test_values_pass(mq: Port, judge: Recorder, mq_need: Any, passage: str) -> None:
    _tell("values", passage, mq, judge, mq_need)


@_passages((BODY, EXTENSION))
def test_large_values_pass(mq: Port, judge: Recorder, mq_need: Any, passage: str) -> None:
    """A body of the length that the driver declares comes through; one byte more is refused, or comes through too."""
    _tell("large", passage, mq, judge, mq_need)
