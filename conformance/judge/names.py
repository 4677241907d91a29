"""Judges how an implementation parses queue names and other texts with a grammar (MS-MQMQ 2.1)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from msgspec import convert

from conformance.spec.catalogue import reading_id, requirement_id
from conformance.spec.constants.hresults import (
    MQ_ERROR_ILLEGAL_FORMATNAME,
    MQ_ERROR_ILLEGAL_PROPERTY_VALUE,
    MQ_ERROR_ILLEGAL_QUEUE_PATHNAME,
    MQ_ERROR_LABEL_TOO_LONG,
    MQ_ERROR_PROPERTY,
    name_of,
)
from conformance.spec.followed_readings import either
from conformance.spec.versions import applies
from conformance.verdict import Evidence, Outcome, Verdict

FAILURE = 0x80000000  # an HRESULT with the top bit set is a failure
PATH_NAME, FORMAT_NAME, MULTIPLE_ELEMENT = "path_name", "format_name", "multiple_element"
FORMS = (PATH_NAME, FORMAT_NAME, MULTIPLE_ELEMENT)

ILLEGAL_PATH_NAME = requirement_id("MQMQ-2.4.illegal-queue-pathname")
ILLEGAL_FORMAT_NAME = requirement_id("MQMQ-2.4.illegal-formatname")
INVALID_CREATION = requirement_id("MQDMPR-3.1.7.1.3.invalid-path-name")
NOTHING_CREATED = requirement_id("MQDMPR-3.1.7.1.3.invalid-path-name-no-queue")
PERSISTENT = requirement_id("MQDMPR-3.1.1.2.private-attributes-persistent")
MALFORMED_OPEN = requirement_id("MQMP-3.1.4.17.malformed-format-name")

_CODES = {
    PATH_NAME: (ILLEGAL_PATH_NAME, MQ_ERROR_ILLEGAL_QUEUE_PATHNAME),
    FORMAT_NAME: (ILLEGAL_FORMAT_NAME, MQ_ERROR_ILLEGAL_FORMATNAME),
    MULTIPLE_ELEMENT: (ILLEGAL_FORMAT_NAME, MQ_ERROR_ILLEGAL_FORMATNAME),
}

# Keywords and hexadecimal digits are case-insensitive (RFC 5234 2.3): an implementation may return its own case.
_CASELESS = frozenset({"protocol", "guid"})


@dataclass(frozen=True, slots=True)
class Expectation:
    """The result that one reading expects for a text. kind and parts are None where the reading leaves them open."""

    accepted: bool
    kind: str | None = None
    parts: Mapping[str, Any] | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the members that are not None as JSON."""
        out: dict[str, Any] = {"accepted": self.accepted}
        if self.kind is not None:
            out["kind"] = self.kind
        if self.parts is not None:
            out["parts"] = dict(self.parts)
        return out


@dataclass(frozen=True, slots=True)
class NameCase:
    """One text and its expected results.

    form: as in the method names.parse. requirement: judged by acceptance. kind_requirement, parts_requirement: judged
    by the kind and the parts of an accepted name. expected: one expectation, or for a disputed text (`reading` is set)
    the expectations of each alternative of the reading; any of them satisfies it. since, until: the profiles it binds.
    given: another reading that the case presupposes, with the alternatives that fit. Where a run accepts a further
    alternative, an answer would have two explanations, so the case is not judged.
    """

    text: str
    form: str
    rule: str
    requirement: str
    kind_requirement: str
    parts_requirement: str
    expected: Mapping[str, tuple[Expectation, ...]]
    reading: str | None = None
    since: str | None = None
    until: str | None = None
    given: tuple[str, tuple[str, ...]] | None = None

    def binds(self, profile: str) -> bool:
        """Return True when the case binds this MSMQ version."""
        return applies(profile, self.since, self.until)

    def presupposed(self, readings: Mapping[str, tuple[str, ...]]) -> bool:
        """Return True when a run that accepts these alternatives of each reading can judge the case."""
        return self.given is None or set(readings[self.given[0]]) <= set(self.given[1])

    @property
    def accepted_by_all(self) -> bool:
        """True when every reading accepts the text."""
        return all(each.accepted for choices in self.expected.values() for each in choices)

    @property
    def refused_by_all(self) -> bool:
        """True when every reading rejects the text."""
        return all(not each.accepted for choices in self.expected.values() for each in choices)

    def to_json(self) -> dict[str, Any]:
        """Return the case as a repro file stores it."""
        out = {name: getattr(self, name) for name in _TEXT_MEMBERS if getattr(self, name) is not None}
        if self.given is not None:
            out["given"] = [self.given[0], list(self.given[1])]
        out["expected"] = {name: [each.to_json() for each in choices] for name, choices in self.expected.items()}
        return out

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> NameCase:
        """Read what `to_json` wrote. Raises ValueError that names the wrong member."""
        return convert(value, cls)


_TEXT_MEMBERS = (
    *("text", "form", "rule", "requirement", "kind_requirement", "parts_requirement"),
    *("reading", "since", "until"),
)
# The demand on the suffix of an accepted name, by kind; those on its other parts do not speak of it.
_SUFFIX = {
    "private": requirement_id("MQMQ-2.1.4.journal"),
    "connector": requirement_id("MQMQ-2.1.6.connector-suffix"),
}
ONLY = "only"  # the key of `expected` for a text that no reading disputes


@dataclass(frozen=True, slots=True)
class NameObservation:
    """An implementation's answer. status None: its API has no HRESULTs and tells only `accepted`.

    kind None and parts None: the answer left them out.
    """

    accepted: bool
    status: int | None = None
    kind: str | None = None
    parts: Mapping[str, Any] | None = None
    failure: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, status: int | None, values: Mapping[str, Any], failure: Mapping[str, Any] | None) -> NameObservation:
        """Make an observation from the members of an answer of the adapter protocol."""
        accepted = status is not None and status < FAILURE
        return cls(accepted, status, values.get("kind"), values.get("parts"), failure or {})

    def to_json(self) -> dict[str, Any]:
        """Return the members that were answered as JSON."""
        out: dict[str, Any] = {"accepted": self.accepted}
        if self.status is not None and not self.accepted:
            out["status"] = f"0x{self.status:08X}"
            if name := name_of(self.status):
                out["status_name"] = name
        for name in ("kind", "parts", "failure"):
            if value := getattr(self, name):
                out[name] = dict(value) if isinstance(value, Mapping) else value
        return out


def judge_name(case: NameCase, observation: NameObservation, readings: Mapping[str, tuple[str, ...]]) -> list[Verdict]:
    """Judge one answer of names.parse; the verdict on acceptance comes first.

    The list is empty when the case presupposes other readings. readings: the alternatives accepted for each reading,
    the default first (as in `RunOptions`).
    """
    if not case.presupposed(readings):
        return []
    if case.reading is None:
        verdicts = _undisputed(case, observation, case.expected[ONLY][0])
    else:
        verdicts = _disputed(case, observation, case.reading, readings[case.reading])
    if not observation.accepted and verdicts[0].outcome in (Outcome.PASS, Outcome.READING):
        verdicts.append(_code(case, observation))
    return verdicts


def suffix_requirements(cases: Iterable[NameCase]) -> tuple[str, ...]:
    """Return the requirements on suffixes that a misread name of these cases breaks."""
    wanted = [each for case in cases for choices in case.expected.values() for each in choices]
    kinds = dict.fromkeys(each.kind for each in wanted if each.parts and "suffix" in each.parts)
    return tuple(_SUFFIX[kind] for kind in kinds if kind in _SUFFIX)


def judge_refused_creation(
    path_name: str, created: NameObservation, opened_after: NameObservation | None
) -> list[Verdict]:
    """Judge queues.create with a malformed path name, and whether it left a queue that can be opened.

    opened_after: the answer of queues.open on the direct name of the same text; None when it was not tried.
    """
    wanted = {"accepted": False}
    refused = not created.accepted
    verdicts = [_verdict(INVALID_CREATION, refused, f"create {path_name}", wanted, created)]
    if opened_after is not None:
        gone = not opened_after.accepted
        verdicts.append(_verdict(NOTHING_CREATED, gone, f"open {path_name} after its creation", wanted, opened_after))
    if refused:
        verdicts.append(
            _code_verdict(ILLEGAL_PATH_NAME, MQ_ERROR_ILLEGAL_QUEUE_PATHNAME, f"create {path_name}", created)
        )
    return verdicts


def judge_accepted(subject: str, demand: str, seen: NameObservation) -> Verdict:
    """Judge a call with a name that `demand` accepts."""
    return _verdict(demand, seen.accepted, subject, {"accepted": True}, seen)


def judge_left_behind(path_name: str, remnant: str, opened: NameObservation) -> Verdict:
    """Judge the opening of a queue that a careless implementation leaves after it refused a malformed path name."""
    subject = f"open {remnant} after creation of {path_name}"
    return _verdict(NOTHING_CREATED, not opened.accepted, subject, {"accepted": False}, opened)


def judge_refused_open(
    format_name: str, access: str, opened: NameObservation, demand: str = MALFORMED_OPEN
) -> list[Verdict]:
    """Judge queues.open with a name that must be refused; `demand` is the requirement that demands the refusal."""
    subject = f"open {format_name} for {access}"
    verdicts = [_verdict(demand, not opened.accepted, subject, {"accepted": False}, opened)]
    if not opened.accepted and demand == MALFORMED_OPEN:
        verdicts.append(_code_verdict(ILLEGAL_FORMAT_NAME, MQ_ERROR_ILLEGAL_FORMATNAME, subject, opened))
    return verdicts


def _undisputed(case: NameCase, seen: NameObservation, wanted: Expectation) -> list[Verdict]:
    if seen.accepted != wanted.accepted:
        return [_case_verdict(case, case.requirement, Outcome.FAIL, wanted.to_json(), seen)]
    passed = _case_verdict(case, case.requirement, Outcome.PASS, wanted.to_json(), seen)
    return [passed, *_understood(case, seen, wanted)] if wanted.accepted else [passed]


def _understood(case: NameCase, seen: NameObservation, wanted: Expectation) -> list[Verdict]:
    """Judge the kind and the parts of an accepted name."""
    verdicts = []
    if wanted.kind is not None:
        outcome = Outcome.PASS if seen.kind == wanted.kind else Outcome.FAIL
        verdicts.append(_case_verdict(case, case.kind_requirement, outcome, wanted.to_json(), seen))
    if wanted.parts is not None:
        if seen.parts is None:
            verdicts.append(
                Verdict(case.parts_requirement, Outcome.SKIP, case.text, reason="the driver tells no parts of names")
            )
        else:
            right = _same_parts(wanted.parts, seen.parts)
            outcome, demand = (
                (Outcome.PASS, case.parts_requirement) if right else (Outcome.FAIL, _of_parts(case, seen, (wanted,)))
            )
            verdicts.append(_case_verdict(case, demand, outcome, wanted.to_json(), seen))
    return verdicts


def _disputed(case: NameCase, seen: NameObservation, reading: str, allowed: tuple[str, ...]) -> list[Verdict]:
    followed = [name for name, choices in case.expected.items() if any(_agrees(each, seen) for each in choices)]
    usable = [name for name in allowed if name in followed]
    if usable:
        outcome = Outcome.PASS if allowed[0] in usable else Outcome.READING
        # Assume an alternative only when the answer excludes another one: naming one of several would look like taking
        # sides.
        one_sided = len(followed) == 1 or len(usable) < len(allowed)
        assumed = ((reading, either(usable)),) if one_sided else ()
        wanted = {name: [each.to_json() for each in case.expected[name]] for name in usable}
        return [_case_verdict(case, case.requirement, outcome, wanted, seen, assumed)]
    wanted = {name: [each.to_json() for each in case.expected[name]] for name in allowed}
    assumed = ((reading, allowed[0]),)
    # The name was accepted as an allowed reading wants, but its parts fit no reading: acceptance is not what broke.
    near = [each for name in allowed for each in case.expected[name] if each.accepted == seen.accepted]
    if near and seen.accepted:
        kind_wrong = all(each.kind is not None and each.kind != seen.kind for each in near)
        demand = case.kind_requirement if kind_wrong else _of_parts(case, seen, near)
        return [_case_verdict(case, demand, Outcome.FAIL, wanted, seen, assumed)]
    return [_case_verdict(case, case.requirement, Outcome.FAIL, wanted, seen, assumed)]


def _of_parts(case: NameCase, seen: NameObservation, wanted: Iterable[Expectation]) -> str:
    """Return the requirement that wrong parts break; where the name has lost its suffix alone, that on the suffix."""
    for each in wanted:
        suffix = _SUFFIX.get(each.kind or "") if each.parts and "suffix" in each.parts else None
        without = {name: value for name, value in (each.parts or {}).items() if name != "suffix"}
        if suffix is not None and seen.parts is not None and _same_parts(without, seen.parts):
            return suffix
    return case.parts_requirement


def _agrees(wanted: Expectation, seen: NameObservation) -> bool:
    if wanted.accepted != seen.accepted:
        return False
    if not wanted.accepted:
        return True
    if wanted.kind is not None and wanted.kind != seen.kind:
        return False
    return wanted.parts is None or seen.parts is None or _same_parts(wanted.parts, seen.parts)


def _same_parts(wanted: Mapping[str, Any], seen: Mapping[str, Any]) -> bool:
    return {name: _plain(name, value) for name, value in wanted.items()} == {
        name: _plain(name, value) for name, value in seen.items()
    }


def _plain(name: str, value: Any) -> Any:
    return value.casefold() if name in _CASELESS and isinstance(value, str) else value


def _code(case: NameCase, seen: NameObservation) -> Verdict:
    demand, code = _CODES[case.form]
    return _code_verdict(demand, code, case.text, seen)


def _code_verdict(demand: str, code: int, subject: str, seen: NameObservation) -> Verdict:
    if seen.status is None:
        return Verdict(demand, Outcome.SKIP, subject, reason="the driver's API has no HRESULTs")
    wanted = {"accepted": False, "status": f"0x{code:08X}", "status_name": name_of(code)}
    return _verdict(demand, seen.status == code, subject, wanted, seen)


def _verdict(demand: str, holds: bool, subject: str, wanted: Mapping[str, Any], seen: NameObservation) -> Verdict:
    return Verdict(demand, Outcome.PASS if holds else Outcome.FAIL, subject, dict(wanted), seen.to_json())


def _case_verdict(
    case: NameCase,
    demand: str,
    outcome: Outcome,
    wanted: Mapping[str, Any],
    seen: NameObservation,
    assumed: Iterable[tuple[str, str]] = (),
) -> Verdict:
    evidence = None
    if outcome is not Outcome.PASS:
        evidence = Evidence("name", case.text, {"case": case.to_json(), "observation": seen.to_json()})
    return Verdict(demand, outcome, case.text, dict(wanted), seen.to_json(), tuple(assumed), evidence=evidence)


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

LONGEST_MESSAGE_LABEL = 249  # elements of UTF-16, without the terminating NUL
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
        return asdict(self)

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> TextCase:
        """Read what `to_json` wrote. Raises ValueError that names the wrong member."""
        return convert(value, cls)


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
    read = _text_verdict(demand, seen.value == wanted, f"{_subject(case)}, read back", {"value": wanted}, seen)
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
        return _text_verdict(case.requirement, seen.accepted == case.accepted[ONLY], _subject(case), wanted, seen)
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
    if units(label) > LONGEST_MESSAGE_LABEL:
        return _long(label, subject, sent, readings[LONG_LABEL])
    if "\0" not in label:
        out = [_text_verdict(LABEL_LENGTH, sent.accepted, subject, {"accepted": True}, sent)]
    elif sent.accepted:
        out = []
    else:
        return []
    if sent.accepted and sent.read:
        whole = (label, label.partition("\0")[0])
        out.append(_text_verdict(LABEL_UNCHANGED, sent.value in whole, f"{subject}, received", {"value": label}, sent))
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
    return out if sent.accepted else [*out, _text_code(subject, sent)]


_LONG: Mapping[str, Any] = {
    "refused": {"accepted": False},
    "truncated": {"accepted": True, "value": f"its first {LONGEST_MESSAGE_LABEL} elements"},
}


def _truncated(label: str) -> tuple[str, str]:
    """Return the accepted forms of a cut label: all that fits, and the same without half a surrogate pair."""
    left = label.encode("utf-16-le", "surrogatepass")[: 2 * LONGEST_MESSAGE_LABEL]
    return left.decode("utf-16-le", "surrogatepass"), left.decode("utf-16-le", "ignore")


def units(text: str) -> int:
    """Count the elements of UTF-16 of a text."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _text_code(subject: str, seen: TextObservation) -> Verdict:
    if seen.status is None:
        return Verdict(LABEL_CODE, Outcome.SKIP, subject, reason="the driver's API has no HRESULTs")
    wanted = {"status": f"0x{MQ_ERROR_LABEL_TOO_LONG:08X}", "status_name": name_of(MQ_ERROR_LABEL_TOO_LONG)}
    return _text_verdict(LABEL_CODE, seen.status == MQ_ERROR_LABEL_TOO_LONG, subject, wanted, seen)


def _text_verdict(demand: str, holds: bool, subject: str, wanted: Mapping[str, Any], seen: TextObservation) -> Verdict:
    return Verdict(demand, Outcome.PASS if holds else Outcome.FAIL, subject, dict(wanted), seen.to_json())


def _subject(case: TextCase) -> str:
    return f"{case.property} {_short(case.text)}"


def _short(text: str) -> str:
    return ascii(text if len(text) <= 60 else text[:57] + "...")
