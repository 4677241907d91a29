"""Judges texts with a grammar that are no names of queues: labels, and the multicast address of a queue.

MS-MQMQ 2.2.19.3, 2.3.1.8, 2.3.1.23 and 2.4, MS-MQDMPR 3.1.1.12. Nothing here parses a text: the cases say what each
alternative of a reading makes of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from conformance.judge.names import FAILURE, ONLY
from conformance.spec.assignment import either
from conformance.spec.catalogue import reading_id, requirement_id
from conformance.spec.constants.hresults import MQ_ERROR_LABEL_TOO_LONG, name_of
from conformance.verdict import Outcome, Verdict

QUEUE_LABEL = "PROPID_Q_LABEL"
MULTICAST_ADDRESS = "PROPID_Q_MULTICAST_ADDRESS"

QUEUE_LABEL_MAXIMUM = requirement_id("MQMQ-2.3.1.8.label-maximum")
QUEUE_LABEL_KEPT = requirement_id("MQDMPR-3.1.1.2.label")
MULTICAST_SHAPE = requirement_id("MQMQ-2.3.1.23.address")
MULTICAST_RULE = requirement_id("MQMQ-2.3.1.23.multicast-address-rule")
MULTICAST_CLASS = requirement_id("MQMQ-2.3.1.23.class-d")
LABEL_RULE = requirement_id("MQMQ-2.2.19.3.label-rule")
LABEL_LENGTH = requirement_id("MQDMPR-3.1.1.12.label-length")
LABEL_UNCHANGED = requirement_id("MQDMPR-3.1.1.12.label-unchanged")
LABEL_TOO_LONG = requirement_id("MQMQ-2.4.label-too-long")
LABEL_CODE = requirement_id("MQMQ-2.4.label-too-long-code")

QUEUE_LABEL_CHARACTERS = reading_id("R-MQMQ-queue-label-characters")
ONE_PORT = reading_id("R-MQMQ-multicast-address")
PORTS = reading_id("R-MQMQ-port")
PORT_ZEROS = reading_id("R-MQMQ-port-zeros")

LONGEST_LABEL = 249  # elements of UTF-16, without the terminating null
LONGEST_QUEUE_LABEL = 124

# What gives back the value of a property: of a multicast address, its own rule.
_KEPT = {QUEUE_LABEL: QUEUE_LABEL_KEPT, MULTICAST_ADDRESS: MULTICAST_RULE}


@dataclass(frozen=True, slots=True)
class TextCase:
    """A value of a queue property and, for each alternative of `reading`, whether it is to be accepted.

    given: another reading with the one alternative it is judged under, as in `NameCase`.
    """

    property: str
    text: str
    requirement: str
    accepted: Mapping[str, bool]
    reading: str | None = None
    given: tuple[str, str] | None = None

    def presupposed(self, readings: Mapping[str, tuple[str, ...]]) -> bool:
        """Whether a run that accepts these alternatives of each reading can judge it."""
        return self.given is None or readings[self.given[0]] == (self.given[1],)

    def to_json(self) -> dict[str, Any]:
        """The case as a repro file stores it."""
        return {
            "property": self.property,
            "text": self.text,
            "requirement": self.requirement,
            "accepted": dict(self.accepted),
            "reading": self.reading,
            "given": list(self.given) if self.given else None,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> TextCase:
        """The inverse of `to_json`. Raises KeyError for a value it could not have written."""
        given = value["given"]
        return cls(
            value["property"],
            value["text"],
            value["requirement"],
            value["accepted"],
            value["reading"],
            (given[0], given[1]) if given else None,
        )


@dataclass(frozen=True, slots=True)
class TextObservation:
    """What became of a value: whether it was accepted, and what is read afterwards.

    status None: an API without HRESULTs. read: whether the value could be read back; value: what it was.
    """

    accepted: bool
    status: int | None = None
    read: bool = False
    value: Any = None

    @classmethod
    def of(cls, status: int | None) -> TextObservation:
        """From the status of an answer, nothing read back yet."""
        return cls(status is not None and status < FAILURE, status)

    def to_json(self) -> dict[str, Any]:
        """The members that say something."""
        out: dict[str, Any] = {"accepted": self.accepted}
        if self.status is not None and not self.accepted:
            out["status"] = f"0x{self.status:08X}"
            if name := name_of(self.status):
                out["status_name"] = name
        if self.read:
            out["value"] = self.value
        return out


def judge_property(
    case: TextCase, seen: TextObservation, before: Any, readings: Mapping[str, tuple[str, ...]]
) -> list[Verdict]:
    """The verdicts on queues.set with a text, and on what the property is afterwards; `before` is what it was.

    The value accepted has to be there, a value refused must not be. None where the case presupposes another run.
    """
    if not case.presupposed(readings):
        return []
    first = _acceptance(case, seen, readings)
    # A port written with zeros may be given back without them: that a reading takes it does not say how it is kept.
    if not seen.read or first.outcome is Outcome.FAIL or (seen.accepted and case.reading == PORT_ZEROS):
        return [first]
    wanted, demand = (case.text, _KEPT[case.property]) if seen.accepted else (before, case.requirement)
    return [first, _verdict(demand, seen.value == wanted, f"{_subject(case)}, read back", {"value": wanted}, seen)]


def _acceptance(case: TextCase, seen: TextObservation, readings: Mapping[str, tuple[str, ...]]) -> Verdict:
    if case.reading is None:
        wanted = {"accepted": case.accepted[ONLY]}
        return _verdict(case.requirement, seen.accepted == case.accepted[ONLY], _subject(case), wanted, seen)
    allowed = readings[case.reading]
    followed = [name for name, accepted in case.accepted.items() if accepted == seen.accepted]
    usable = [name for name in allowed if name in followed]
    assumed: tuple[tuple[str, str], ...] = ()
    told = {name: {"accepted": case.accepted[name]} for name in usable or allowed}
    if not usable:
        outcome, assumed = Outcome.FAIL, ((case.reading, allowed[0]),)
    else:
        outcome = Outcome.PASS if allowed[0] in usable else Outcome.READING
        one_sided = len(followed) == 1 or len(usable) < len(allowed)
        if one_sided:
            assumed = ((case.reading, either(usable)),)
    return Verdict(case.requirement, outcome, _subject(case), told, seen.to_json(), assumed)


def judge_label(label: str, sent: TextObservation) -> list[Verdict]:
    """The verdicts on a message sent with this label, and on the label it is received with.

    Lengths count elements of UTF-16. A null in the text may be refused, or end the label; it must not be received.
    """
    subject = f"label of {units(label)} elements, {_short(label)}"
    if units(label) > LONGEST_LABEL:
        refused = not sent.accepted
        wanted: dict[str, Any] = {"accepted": False}
        out = [_verdict(demand, refused, subject, wanted, sent) for demand in (LABEL_TOO_LONG, LABEL_LENGTH)]
        return [*out, _code(subject, sent)] if refused else out
    if "\0" in label:
        fine = not sent.accepted or not sent.read or "\0" not in str(sent.value)
        return [_verdict(LABEL_RULE, fine, subject, {"null": "refused or not received"}, sent)]
    out = [_verdict(LABEL_RULE, sent.accepted, subject, {"accepted": True}, sent)]
    if sent.accepted and sent.read:
        out.append(_verdict(LABEL_UNCHANGED, sent.value == label, f"{subject}, received", {"value": label}, sent))
    return out


def units(text: str) -> int:
    """How many elements of UTF-16 a text takes."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _code(subject: str, seen: TextObservation) -> Verdict:
    if seen.status is None:
        return Verdict(LABEL_CODE, Outcome.SKIP, subject, reason="the driver's API has no HRESULTs")
    wanted = {"status": f"0x{MQ_ERROR_LABEL_TOO_LONG:08X}", "status_name": name_of(MQ_ERROR_LABEL_TOO_LONG)}
    return _verdict(LABEL_CODE, seen.status == MQ_ERROR_LABEL_TOO_LONG, subject, wanted, seen)


def _verdict(demand: str, holds: bool, subject: str, wanted: Mapping[str, Any], seen: TextObservation) -> Verdict:
    return Verdict(demand, Outcome.PASS if holds else Outcome.FAIL, subject, dict(wanted), seen.to_json())


def _subject(case: TextCase) -> str:
    return f"{case.property} {_short(case.text)}"


def _short(text: str) -> str:
    return ascii(text if len(text) <= 60 else text[:57] + "...")
