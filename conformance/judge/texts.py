"""Judges texts that have a grammar but are not queue names: labels, and the multicast address of a queue.

Sources: MS-MQMQ 2.3.1.8, 2.3.1.23 and 2.4, MS-MQDMPR 3.1.1.12. This module parses no texts: the cases hold what each
alternative of a reading makes of them. Packet rules judge the label in a packet (MS-MQMQ 2.2.19.3).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from conformance.judge.names import FAILURE, ONLY
from conformance.spec.assignment import either
from conformance.spec.catalogue import reading_id, requirement_id
from conformance.spec.constants.hresults import (
    MQ_ERROR_ILLEGAL_PROPERTY_VALUE,
    MQ_ERROR_LABEL_TOO_LONG,
    MQ_ERROR_PROPERTY,
    name_of,
)
from conformance.verdict import Outcome, Verdict

QUEUE_LABEL = "PROPID_Q_LABEL"
MULTICAST_ADDRESS = "PROPID_Q_MULTICAST_ADDRESS"

QUEUE_LABEL_MAXIMUM = requirement_id("MQMQ-2.3.1.8.label-maximum")
REFUSED_UNCHANGED = requirement_id("MQMP-3.1.4.10.refused-unchanged")
QUEUE_LABEL_KEPT = requirement_id("MQDMPR-3.1.1.2.label")
MULTICAST_SHAPE = requirement_id("MQMQ-2.3.1.23.address")
MULTICAST_RULE = requirement_id("MQMQ-2.3.1.23.multicast-address-rule")
MULTICAST_CLASS = requirement_id("MQMQ-2.3.1.23.class-d")
LABEL_LENGTH = requirement_id("MQDMPR-3.1.1.12.label-length")
LABEL_UNCHANGED = requirement_id("MQDMPR-3.1.1.12.label-unchanged")
LABEL_TOO_LONG = requirement_id("MQMQ-2.4.label-too-long")
LABEL_CODE = requirement_id("MQMQ-2.4.label-too-long-code")

VALUE_CODE = requirement_id("MQMQ-2.4.mq-error-illegal-property-value")

PROPERTY_STATUS = reading_id("R-MQMP-property-status")
LONG_LABEL = reading_id("R-MQMQ-long-label")
QUEUE_LABEL_CHARACTERS = reading_id("R-MQMQ-queue-label-characters")
ONE_PORT = reading_id("R-MQMQ-multicast-address")
PORTS = reading_id("R-MQMQ-port")
PORT_ZEROS = reading_id("R-MQMQ-port-zeros")

LONGEST_LABEL = 249  # elements of UTF-16, without the terminating NUL
LONGEST_QUEUE_LABEL = 124

# The requirement that a property is read back as it was set; a multicast address has its own rule.
_KEPT = {QUEUE_LABEL: QUEUE_LABEL_KEPT, MULTICAST_ADDRESS: MULTICAST_RULE}


@dataclass(frozen=True, slots=True)
class TextCase:
    """A value of a queue property and, for each alternative of `reading`, whether the value must be accepted.

    given: another reading with the only alternative under which the case is judged, as in `NameCase`.
    """

    property: str
    text: str
    requirement: str
    accepted: Mapping[str, bool]
    reading: str | None = None
    given: tuple[str, str] | None = None

    def presupposed(self, readings: Mapping[str, tuple[str, ...]]) -> bool:
        """Return True when a run that accepts these alternatives of each reading can judge the case."""
        return self.given is None or readings[self.given[0]] == (self.given[1],)

    def to_json(self) -> dict[str, Any]:
        """Return the case as a repro file stores it."""
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
        """Read what `to_json` wrote. Raises KeyError for any other value."""
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
    """The result of setting or sending a text: whether it was accepted, and the value read afterwards.

    status None: an API without HRESULTs. read: the value could be read back. value: the value that was read.
    """

    accepted: bool
    status: int | None = None
    read: bool = False
    value: Any = None

    @classmethod
    def of(cls, status: int | None) -> TextObservation:
        """Make an observation from the status of an answer; nothing has been read back yet."""
        return cls(status is not None and status < FAILURE, status)

    def to_json(self) -> dict[str, Any]:
        """Return the members that are known as JSON."""
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
    """Judge queues.set with a text, and the value of the property afterwards; `before` is the value before the call.

    An accepted value must be read back, a refused value must not. The list is empty when the case presupposes other
    readings.
    """
    if not case.presupposed(readings):
        return []
    first = _acceptance(case, seen, readings)
    refused = not seen.accepted and seen.status is not None and first.outcome is not Outcome.FAIL
    coded = [_value_code(case, seen, readings)] if refused else []
    # A port with leading zeros may be returned without them: the reading settles acceptance, not the stored form.
    if not seen.read or first.outcome is Outcome.FAIL or (seen.accepted and case.reading == PORT_ZEROS):
        return [first, *coded]
    wanted, demand = (case.text, _kept(case, seen.value)) if seen.accepted else (before, REFUSED_UNCHANGED)
    read = _verdict(demand, seen.value == wanted, f"{_subject(case)}, read back", {"value": wanted}, seen)
    return [first, read, *coded]


def _value_code(case: TextCase, seen: TextObservation, readings: Mapping[str, tuple[str, ...]]) -> Verdict:
    """Judge the code of a refusal: that of the property, or that of the whole call."""
    allowed = readings[PROPERTY_STATUS]
    codes = {"reason": MQ_ERROR_ILLEGAL_PROPERTY_VALUE, "summary": MQ_ERROR_PROPERTY}
    followed = next((name for name, code in codes.items() if seen.status == code), None)
    wanted = {name: f"0x{codes[name]:08X}" for name in allowed}
    if followed is None or followed not in allowed:
        return Verdict(
            VALUE_CODE, Outcome.FAIL, _subject(case), wanted, seen.to_json(), ((PROPERTY_STATUS, allowed[0]),)
        )
    outcome = Outcome.PASS if followed == allowed[0] else Outcome.READING
    return Verdict(VALUE_CODE, outcome, _subject(case), wanted, seen.to_json(), ((PROPERTY_STATUS, followed),))


def _kept(case: TextCase, value: Any) -> str:
    """Return the requirement that an accepted text is read back as it was set; for one cut at its end, its limit."""
    longest = case.property == QUEUE_LABEL and units(case.text) == LONGEST_QUEUE_LABEL
    cut = isinstance(value, str) and value != case.text and case.text.startswith(value) and value
    return QUEUE_LABEL_MAXIMUM if longest and cut else _KEPT[case.property]


def _acceptance(case: TextCase, seen: TextObservation, readings: Mapping[str, tuple[str, ...]]) -> Verdict:
    if case.reading is None:
        wanted = {"accepted": case.accepted[ONLY]}
        return _verdict(case.requirement, seen.accepted == case.accepted[ONLY], _subject(case), wanted, seen)
    allowed = readings[case.reading]
    followed = [name for name, accepted in case.accepted.items() if accepted == seen.accepted]
    usable = [name for name in allowed if name in followed]
    assumed: tuple[tuple[str, str], ...] = ()
    wanted_by_reading = {name: {"accepted": case.accepted[name]} for name in usable or allowed}
    if not usable:
        outcome, assumed = Outcome.FAIL, ((case.reading, allowed[0]),)
    else:
        outcome = Outcome.PASS if allowed[0] in usable else Outcome.READING
        one_sided = len(followed) == 1 or len(usable) < len(allowed)
        if one_sided:
            assumed = ((case.reading, either(usable)),)
    return Verdict(case.requirement, outcome, _subject(case), wanted_by_reading, seen.to_json(), assumed)


def judge_label(label: str, sent: TextObservation, readings: Mapping[str, tuple[str, ...]]) -> list[Verdict]:
    """Judge a message that was sent with this label, and the label of the received message.

    Lengths count elements of UTF-16. A reading decides on labels that are too long. A NUL in a label may be refused,
    received, or taken for the end of the label: the documents say no more about a label outside a packet.
    """
    subject = f"label of {units(label)} elements, {_short(label)}"
    if units(label) > LONGEST_LABEL:
        return _long(label, subject, sent, readings[LONG_LABEL])
    if "\0" not in label:
        out = [_verdict(LABEL_LENGTH, sent.accepted, subject, {"accepted": True}, sent)]
    elif sent.accepted:
        out = []
    else:
        return []
    if sent.accepted and sent.read:
        whole = (label, label.partition("\0")[0])
        out.append(_verdict(LABEL_UNCHANGED, sent.value in whole, f"{subject}, received", {"value": label}, sent))
    return out


def _long(label: str, subject: str, sent: TextObservation, allowed: tuple[str, ...]) -> list[Verdict]:
    """Judge a label that is too long: it must be refused, or received cut to the longest allowed length."""
    if sent.accepted and not sent.read and "truncated" in allowed:
        reason = "the message was accepted, and could not be received to see its label"
        return [Verdict(LABEL_TOO_LONG, Outcome.INCONCLUSIVE, subject, reason=reason)]
    cut = sent.accepted and sent.value in _truncated(label)
    followed = "truncated" if cut else "refused" if not sent.accepted else None
    wanted = {name: _LONG[name] for name in ([followed] if followed in allowed else allowed)}
    if followed not in allowed:
        outcome, assumed = Outcome.FAIL, allowed[0]
    else:
        outcome, assumed = Outcome.PASS if followed == allowed[0] else Outcome.READING, str(followed)
    out = [
        Verdict(demand, outcome, subject, wanted, sent.to_json(), ((LONG_LABEL, assumed),))
        for demand in (LABEL_TOO_LONG, LABEL_LENGTH)
    ]
    return out if sent.accepted else [*out, _code(subject, sent)]


_LONG: Mapping[str, Any] = {
    "refused": {"accepted": False},
    "truncated": {"accepted": True, "value": f"its first {LONGEST_LABEL} elements"},
}


def _truncated(label: str) -> tuple[str, str]:
    """Return the accepted forms of a cut label: all that fits, and the same without half a surrogate pair."""
    left = label.encode("utf-16-le", "surrogatepass")[: 2 * LONGEST_LABEL]
    return left.decode("utf-16-le", "surrogatepass"), left.decode("utf-16-le", "ignore")


def units(text: str) -> int:
    """Count the elements of UTF-16 of a text."""
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
