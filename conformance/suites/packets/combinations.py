"""Combinations of options in one packet: every pair, judged together, and the reserved values of fields."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import UUID

from hypothesis import given
from hypothesis.strategies import SearchStrategy

from conformance.harness.hypothesis_settings import from_options
from conformance.judge.packets.signatures import SIGNERS_CERTIFICATE
from conformance.spec.catalogue import requirement, requirement_id
from conformance.spec.versions import LEVELS
from conformance.suites.packets.messages import base64_of, packet_of
from conformance.verdict import Outcome
from conformance.wire import dissect, patch
from conformance.wire.headers import SECTION
from conformance.wire.layout import Pad, Section, UInt, Value, bit_fields, leaves
from conformance.wire.security_items import sid_bytes

if TYPE_CHECKING:
    from conformance.harness.recorder import Recorder, RunOptions
    from conformance.verdict import Verdict

Choice = tuple[str, str]  # factor, option
Row = dict[str, str]
Forbids = Callable[[Choice, Choice], bool]


def pairs_of(factors: Mapping[str, Sequence[str]], forbids: Forbids) -> Iterator[frozenset[Choice]]:
    """Yield every permitted pair of options of two factors."""
    for one, other in combinations(factors, 2):
        for a in factors[one]:
            for b in factors[other]:
                if not forbids((one, a), (other, b)):
                    yield frozenset(((one, a), (other, b)))


def pairs_in(row: Row) -> Iterator[frozenset[Choice]]:
    """Yield every pair that a row holds."""
    return (frozenset(pair) for pair in combinations(row.items(), 2))


def all_pairs(factors: Mapping[str, Sequence[str]], forbids: Forbids) -> list[Row]:
    """Return rows with an option of every factor that together hold each permitted pair; deterministic.

    factors: names to options, the plain option first. forbids: returns True if two options, in either order, exclude
    each other. Raises ValueError if that leaves a factor without an option.
    """
    left = dict.fromkeys(pairs_of(factors, forbids))
    rows: list[Row] = []
    while left:
        row = dict(next(iter(left)))
        # Factors with most options first, because they have the most pairs to cover.
        for factor in sorted((name for name in factors if name not in row), key=lambda name: -len(factors[name])):
            allowed = [
                option
                for option in factors[factor]
                if not any(forbids((factor, option), chosen) for chosen in row.items())
            ]
            if not allowed:
                raise ValueError(f"no option of {factor} goes with {row}")
            row[factor] = max(
                allowed, key=lambda option: sum(frozenset(((factor, option), one)) in left for one in row.items())
            )
        for pair in pairs_in(row):
            left.pop(pair, None)
        rows.append({factor: row[factor] for factor in factors})
    return rows


def simplest(row: Row, factors: Mapping[str, Sequence[str]], still: Callable[[Row], bool]) -> Row:
    """Make as many options plain as possible while `still` accepts the row, in one pass with one try a factor."""
    for factor, options in factors.items():
        plainer = {**row, factor: options[0]}
        if row[factor] != options[0] and still(plainer):
            row = plainer
    return row


SOURCE, TARGET, OTHER = (
    "11ea26c6-b6e6-4997-9595-9150557358d1",
    "909ea0fc-9078-4445-8f11-394c43cd8907",
    "7a1f3c52-0b6e-4d6f-9a57-6f5b2f3f9a10",
)
_QUEUES = {
    "direct": "DIRECT=OS:host\\private$\\q",
    "direct-odd": "DIRECT=TCP:10.0.0.1\\qq",
    "source": f"PRIVATE={SOURCE}\\00000001",
    "target": f"PRIVATE={TARGET}\\ffffffff",
    "other": f"PRIVATE={OTHER}\\80000000",
    "public": f"PUBLIC={OTHER}",
}
Members = Mapping[str, Any]
NOTHING: Members = {}
_TOP = 0xFFFFFFFF
# Values around the sign bit and at the ends reveal signed, shorter and byte-swapped numbers.
_ENDS = (0, 1, 0x7FFFFFFF, 0x80000000, 0x01020304, _TOP - 1, _TOP)


def _numbers(member: str, *values: int) -> dict[str, Members]:
    return {f"{value:#x}": {member: value} for value in values}


def _octets(member: str, *sizes: int) -> dict[str, Members]:
    return {str(size): {member: base64_of(bytes(at & 0xFF for at in range(1, size + 1)))} for size in sizes}


def _administration(name: str) -> Members:
    return {"administration_queue": _QUEUES[name]}


def _asked(*names: str) -> Members:
    return {"acknowledgements": list(names)}


def _transaction(number: int, ordinal: int, stamp: int, index: int, **marks: Any) -> Members:
    return {
        "transaction": {
            "sequence_identifier": {"ordinal": ordinal, "timestamp": stamp},
            "sequence_number": number,
            "previous_sequence_number": number - 1,
            "index": index,
            "first": False,
            "last": False,
            **marks,
        },
        "delivery": "recoverable",
        "priority": 0,
    }


def _session(*numbers: int) -> Members:
    names = (
        "ack_sequence_number",
        "recoverable_ack_sequence_number",
        "recoverable_ack_flags",
        "user_message_sequence_number",
        "recoverable_message_sequence_number",
    )
    return {"session": {**dict(zip(names, numbers, strict=True)), "window_size": 64}}


_SID = {"sender_identifier_type": "sid", "sender_identifier": base64_of(sid_bytes("S-1-5-21-1-2-4294967295-500"))}
_MANAGER = {"sender_identifier_type": "queue_manager", "sender_identifier": base64_of(UUID(SOURCE).bytes_le)}
_CERTIFIED = {"sender_certificate": base64_of(SIGNERS_CERTIFICATE)}
_SIGNATURE = {"signature": base64_of(bytes(range(1, 34)))}
_LISTED = [_QUEUES["direct-odd"], _QUEUES["public"], f"DL={OTHER}", _QUEUES["other"]]
_WITH_ALL_BITS = ("positive_arrival", "positive_receive", "negative_arrival", "negative_receive")

# The first option of each factor is the plain one.
FACTORS: dict[str, dict[str, Members]] = {
    "destination": {
        "direct": {"destination": _QUEUES["direct"]},
        "direct-odd": {"destination": _QUEUES["direct-odd"]},
        "direct-long": {"destination": "DIRECT=OS:" + "h" * 15 + "\\" + "q" * 104},
        "private": {"destination": _QUEUES["target"], "destination_queue_manager": TARGET},
        "public": {"destination": _QUEUES["public"], "destination_queue_manager": TARGET},
    },
    "administration": {
        "none": NOTHING,
        **{name: _administration(name) for name in ("direct", "direct-odd", "source", "target", "other", "public")},
    },
    "asked": {
        "as-needed": NOTHING,
        "two": _asked("negative_arrival", "positive_receive"),
        "all": _asked(*_WITH_ALL_BITS),
    },
    "response": {
        "none": NOTHING,
        **{name: {"response_queue": _QUEUES[name]} for name in ("direct", "direct-odd", "source", "other", "public")},
        "as-administration": {"response_queue": "administration"},
        "beside-administration": {"response_queue": "beside"},
    },
    "connector": {"none": NOTHING, "some": {"connector_type": OTHER}},
    "transaction": {
        "none": NOTHING,
        "whole": _transaction(1, 0, 1, 0, first=True, last=True),
        "inside": _transaction(0x80000000, 1, 0x80000000, 1, final_ack_required=True),
        "last": _transaction(_TOP, _TOP, 0x7FFFFFFF, (1 << 20) - 1, last=True, connector_queue_manager=OTHER),
    },
    "sender": {"none": NOTHING, "sid": _SID, "manager": _MANAGER, "sid-certificate": {**_SID, **_CERTIFIED}},
    "signature": {
        "none": NOTHING,
        "plain": _SIGNATURE,
        "provider": {**_SIGNATURE, "provider_type": _TOP, "provider_name": "provider"},
    },
    "trace": {"none": NOTHING, "bare": {"trace": True}, "queue": {"trace": True, "trace_queue": OTHER}},
    "soap": {
        "none": NOTHING,
        "both": {"soap_header": "<head/>", "soap_body": "<body/>"},
        "odd": {"soap_header": "<h/>", "soap_body": "<body>"},
        "header": {"soap_header": "<h>"},
        "body": {"soap_body": "<b>"},
    },
    "lists": {
        "none": NOTHING,
        "one": {"destinations": []},
        "several": {"destinations": _LISTED, "response_queues": _LISTED[:2]},
        "all": {"destinations": _LISTED, "administration_queues": _LISTED[1:2], "response_queues": _LISTED[::-1]},
    },
    "session": {
        "none": NOTHING,
        "express": _session(0xFFFF, 0, 0, 1, 0),
        "recoverable": _session(1, 0x8000, 0x80000001, 0xFFFF, 0x7FFF),
    },
    "priority": {"usual": NOTHING, **_numbers("priority", 0, 1, 4, 7)},
    "delivery": {"usual": NOTHING, "express": {"delivery": "express"}, "recoverable": {"delivery": "recoverable"}},
    "journaling": {
        "none": NOTHING,
        "positive": {"positive_journaling": True},
        "negative": {"negative_journaling": True},
        "both": {"positive_journaling": True, "negative_journaling": True},
    },
    "label": {
        "none": NOTHING,
        **{str(size): {"label": "l" * size} for size in (1, 2, 127, 128, 249)},
        "beyond-the-plane": {"label": "\U0001f4e8\u0416"},
    },
    "extension": {"none": NOTHING, **_octets("extension", 1, 2, 3, 4, 255, 256)},
    "body": {"none": NOTHING, **_octets("body", 1, 2, 3, 4, 255, 256, 4096)},
    "body_type": {"none": NOTHING, **_numbers("body_type", 3, 31, 65, 0x1011)},
    "class": {"normal": NOTHING, **_numbers("class", 1, 2, 0x4000, 0x8000, 0x800B, 0xC004)},
    "correlation": {"none": NOTHING, "ones": {"correlation_identifier": base64_of(b"\xff" * 20)}},
    "hash": {"usual": NOTHING, **_numbers("hash_algorithm", 0x8001, 0x8003, 0x800E)},
    "cipher": {"usual": NOTHING, **_numbers("encryption_algorithm", 0x6602, 0x660E, 0x6610)},
    "hops": {"none": NOTHING, **_numbers("hop_count", 1, 15, 16, 29)},
    "reach": {"usual": {"time_to_reach_queue": 345600}, **_numbers("time_to_reach_queue", *_ENDS)},
    "receive": {"usual": NOTHING, **_numbers("time_to_be_received", *_ENDS)},
    "sent": {"usual": NOTHING, **_numbers("sent_time", *_ENDS)},
    "tag": {"usual": NOTHING, **_numbers("application_tag", *_ENDS)},
    "ordinal": {"usual": NOTHING, **_numbers("ordinal", *_ENDS)},
}
_REMOTE = ("private", "public")
# Option to the factor it depends on, and the options of that factor that fit.
_NEEDS: dict[Choice, tuple[str, tuple[str, ...]]] = {
    ("administration", "target"): ("destination", _REMOTE),
    **{
        ("asked", option): ("administration", tuple(FACTORS["administration"])[1:]) for option in ("two", "all")
    },  # R-MQMQ-administration-queue: acknowledgments and administration queue need each other
    ("response", "as-administration"): ("administration", tuple(FACTORS["administration"])[1:]),
    ("response", "beside-administration"): ("administration", ("source", "other")),
    ("signature", "plain"): ("connector", ("some",)),  # a connector may sign in its own way
    ("signature", "provider"): ("connector", ("some",)),
    **{("priority", option): ("transaction", ("none",)) for option in FACTORS["priority"] if option != "usual"},
    ("delivery", "express"): ("transaction", ("none",)),
}


@cache
def forbids(one: Choice, other: Choice) -> bool:
    """Return True if two options exclude each other in one message."""
    return any(
        option in _NEEDS and _NEEDS[option][0] == chosen[0] and chosen[1] not in _NEEDS[option][1]
        for option, chosen in ((one, other), (other, one))
    )


def stands(row: Row) -> bool:
    """Return True if no two options of a row exclude each other."""
    return not any(forbids(one, other) for one, other in combinations(row.items(), 2))


@cache
def rows() -> tuple[Row, ...]:
    """Return the combinations, in a fixed order."""
    return tuple(all_pairs(OPTIONS, forbids))


OPTIONS: dict[str, tuple[str, ...]] = {factor: tuple(options) for factor, options in FACTORS.items()}


def message_of(row: Mapping[str, str], *, readable: bool = False) -> dict[str, Any]:
    """Return the message of a row. readable: its Soap texts need no alignment, in which readers may differ."""
    message: dict[str, Any] = {"identifier": {"source": SOURCE, "ordinal": 7}}
    for factor, option in row.items():
        message |= FACTORS[factor][option]
    if "ordinal" in message:
        message["identifier"] = {"source": SOURCE, "ordinal": message.pop("ordinal")}
    administration = message.get("administration_queue")
    if administration and "acknowledgements" not in message:
        message["acknowledgements"] = ["positive_arrival"]
    if message.get("response_queue") == "administration":
        message["response_queue"] = administration
    elif message.get("response_queue") == "beside":
        message["response_queue"] = f"{administration[:-8]}00000002" if administration else None
    if "destinations" in message:
        message["destinations"] = [message["destination"], *message["destinations"]]
    if readable and ("soap_header" in message or "soap_body" in message):
        message |= FACTORS["soap"]["both"]
    return message


Check = Callable[[dict[str, Any]], Iterable["Verdict"]]


def combine(
    options: RunOptions, judge: Recorder, repro: Callable[[dict[str, Any]], Mapping[str, Any]], check: Check, **how: Any
) -> None:
    """Judge the message of every row. how: passed to `message_of`."""
    for row in rows():
        message = message_of(row, **how)
        judge.begin_example("packet", repro(message))
        verdicts = list(check(message))
        failing = [one for one in verdicts if _demanded(one, options)]
        if any(one.requirement in judge.disabled for one in failing):
            continue  # the broken field may shift all later ones: with its check off, the packet cannot be judged
        broken = next(iter(failing), None)
        if broken is not None:
            message = message_of(_plainest(row, broken, options, check, how), **how)
            judge.begin_example("packet", repro(message))
            verdicts = list(check(message))
        judge.record(*verdicts)


def _plainest(row: Row, broken: Verdict, options: RunOptions, check: Check, how: Mapping[str, Any]) -> Row:
    """Return the plainest combination in which the same demand is the first to break."""

    def still(plainer: Row) -> bool:
        if not stands(plainer):
            return False
        found = next((one for one in check(message_of(plainer, **how)) if _demanded(one, options)), None)
        return found is not None and found.requirement == broken.requirement

    return simplest(row, OPTIONS, still)


def _demanded(verdict: Verdict, options: RunOptions) -> bool:
    """Return True if a verdict fails a run with these options."""
    demand = requirement(verdict.requirement)
    strong = LEVELS.index(demand.level) <= LEVELS.index(options.level)
    return verdict.outcome is Outcome.FAIL and demand.binds(options.profile) and strong


T = TypeVar("T")


def explore(
    options: RunOptions,
    judge: Recorder,
    examples: SearchStrategy[T],
    repro: Callable[[T], dict[str, Any]],
    check: Callable[[T], Iterable[Verdict]],
    *,
    share: float = 1.0,
) -> None:
    """Judge each example. repro: returns the data for a repro file. check: yields the verdicts one by one."""

    @from_options(options, share=share)
    @given(examples)
    def run(example: T) -> None:
        judge.begin_example("packet", repro(example))
        for verdict in check(example):
            judge.record(verdict)

    run()


# One option of each factor, to have every header, and padding wherever it can be.
_FULL = {
    "destination": "direct-odd",
    "administration": "direct-odd",
    "response": "direct-odd",
    "connector": "some",
    "transaction": "last",
    "sender": "sid-certificate",
    "signature": "provider",
    "trace": "queue",
    "soap": "both",
    "lists": "all",
    "session": "recoverable",
    "body": "3",
}
_ANY = "MQDMPR-3.1.7.1.31.reads"  # no sentence names these bytes; a readable packet must be read
# Section to the demands that a reader breaks by not ignoring its reserved bits, reserved fields and padding, by name.
_IDS: dict[str, dict[str, str]] = {
    "BaseHeader": {"": "MQMQ-2.2.19.1.flags-reserved-ignored", "Reserved": "MQMQ-2.2.19.1.reserved-ignored"},
    "UserHeader": {
        "": "MQMQ-2.2.19.2.flags-reserved-ignored",
        **{f"{name}Queue.Padding": "MQMQ-2.2.18.1.5.2.padding-any" for name in ("Destination", "Admin", "Response")},
    },
    "SecurityHeader": {
        "": "MQMQ-2.2.20.6.flags-reserved-ignored",
        **{
            f"SecurityData.{item}.Padding": _ANY
            for item in ("SecurityID", "EncryptionKey", "Signature", "SenderCert", "ProviderInfo")
        },
    },
    "MessagePropertiesHeader": {
        "": "MQMQ-2.2.19.3.flags-unused-ignored",
        "Padding": "MQMQ-2.2.19.3.padding-ignored",
    },
    "DebugHeader": {"": "MQMQ-2.2.20.8.flags-reserved-ignored", "Reserved": "MQMQ-2.2.20.8.reserved-ignored"},
    "SoapHeader": {"Reserved": "MQMQ-2.2.20.7.reserved-ignored", "Reserved1": "MQMQ-2.2.20.7.reserved1-ignored"},
    "MultiQueueFormatHeader": {
        **{f"{name}.Reserved": "MQMQ-2.2.20.2.reserved-ignored" for name in ("Destination", "Administration")},
        "Response.Reserved": "MQMQ-2.2.20.2.reserved-ignored",
        "Signature.Reserved": "MQMQ-2.2.20.3.reserved-ignored",
        "Destination.Padding": "MQMQ-2.2.20.1.destination-padding-any",
        "Administration.Padding": "MQMQ-2.2.20.1.administration-padding-any",
        "Response.Padding": "MQMQ-2.2.20.1.response-padding-any",
        "Signature.Padding": _ANY,
    },
    "SessionHeader": {"Reserved": "MQMQ-2.2.20.4.reserved-ignored"},
}
# Reserved bits of TransactionHeader may also be refused (R-MQMQ-transaction-reserved-bits); they have their own test.
# Readings differ on padding in SoapHeader, so its texts here need none.
APART = ("TransactionHeader", "SoapHeader.HeaderPadding", "SoapHeader.BodyPadding")


@dataclass(frozen=True, slots=True)
class Change:
    """A field with a changed value. requirement: demands that the change has no effect."""

    key: str
    value: Value
    requirement: str


@cache
def full_message() -> dict[str, Any]:
    """Return a message with every header."""
    row = {factor: _FULL.get(factor, options[0]) for factor, options in OPTIONS.items()}
    assert row.keys() == FACTORS.keys()
    return message_of(row, readable=True)


@cache
def changes() -> tuple[Change, ...]:
    """Return a change for each reserved bit, reserved field and padding in the packet of `full_message`."""
    packet = dissect(packet_of(full_message()))
    out: list[Change] = []
    for name, section in SECTION.items():
        if name not in packet.spans or name not in _IDS:
            continue
        for path in _reserved(section):
            key = f"{name}.{path}"
            if key not in packet.fields or key in APART:
                continue
            sort = "" if path.startswith("Flags.") else path
            value = packet.fields[key]
            if isinstance(value, bytes):
                changed: Value = b"\xde" * len(value)
            else:
                changed = (1 << _width(section, path)) - 1
            out.append(Change(key, changed, requirement_id(_IDS[name][sort])))
    return tuple(out)


def packet_with(these: Sequence[Change]) -> bytes:
    """Return the packet of `full_message` with these changes."""
    return patch(dissect(packet_of(full_message())), {change.key: change.value for change in these})


def _reserved(section: Section) -> Iterator[str]:
    yield from (path for path, bit in bit_fields(section) if bit.reserved)
    for path, item in dict(leaves(section)).items():
        if isinstance(item, Pad) or path.rpartition(".")[2].startswith("Reserved"):
            yield path


def _width(section: Section, path: str) -> int:
    for inner, bit in bit_fields(section):
        if inner == path:
            return bit.width
    item = dict(leaves(section))[path]
    return 8 * item.width if isinstance(item, UInt) else 0
