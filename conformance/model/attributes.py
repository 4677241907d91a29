"""The attributes of a message that an application sends: their defaults and their requirements (MS-MQDMPR 3.1.1.12)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from conformance.spec.catalogue import requirement_id
from conformance.verdict import Json

NO_CORRELATION: Final = "A" * 27 + "="  # 20 zero bytes in base64
FOUR_DAYS: Final = 345_600
UNLIMITED: Final = 0xFFFFFFFF
QUEUES: Final = ("response_queue", "administration_queue")
"""The members that name queues: a message without such a queue may lack the member."""


@dataclass(frozen=True, slots=True)
class Attribute:
    """A member of a message. default: the value of a member that is not sent, and its requirement; None: not judged.

    unchanged: the requirement that the member is received as it was sent; None: time or the manager may change it.
    """

    member: str
    default: tuple[Json, str] | None
    unchanged: str | None = None


def _attribute(member: str, default: Json, default_word: str, unchanged_word: str | None = None) -> Attribute:
    prefix = "MQDMPR-3.1.1.12."
    unchanged = requirement_id(prefix + unchanged_word) if unchanged_word else None
    return Attribute(member, (default, requirement_id(prefix + default_word)), unchanged)


ATTRIBUTES: Final = (
    _attribute("body", "", "default-body", "body-unchanged"),
    _attribute("body_type", 0, "default-body-type", "body-type-unchanged"),
    _attribute("label", "", "default-label", "label-unchanged"),
    _attribute("priority", 3, "default-priority", "priority-unchanged"),
    _attribute("delivery", "express", "default-delivery-guarantee", "delivery-guarantee-unchanged"),
    _attribute("class", 0, "default-class"),
    _attribute("application_tag", 0, "default-application-tag", "application-tag-unchanged"),
    _attribute(
        "correlation_identifier", NO_CORRELATION, "default-correlation-identifier", "correlation-identifier-unchanged"
    ),
    _attribute("extension", "", "default-extension", "extension-unchanged"),
    _attribute("positive_journaling", False, "default-positive-journaling"),
    _attribute("negative_journaling", False, "default-negative-journaling"),
    _attribute("acknowledgements", [], "default-acknowledgements"),
    _attribute("time_to_be_received", UNLIMITED, "default-time-to-be-received"),
    _attribute("time_to_reach_queue", FOUR_DAYS, "default-time-to-reach-queue"),
    _attribute("trace", False, "default-tracing-requested"),
    _attribute("response_queue", "", "response-queue", "response-queue"),
    _attribute("administration_queue", "", "administration-queue", "administration-queue"),
)
