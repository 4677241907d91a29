"""The deviation that explains a packet is blamed, and what follows from it is told as a consequence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest
from cases import all_of

from conformance.judge.packets.judge import ALL_RULES, REMOTE_RULES, judge_packet
from conformance.judge.packets.rules_lists import MULTI, SOAP, TRACED
from conformance.judge.packets.rules_security import CONNECTED, WITH_SID
from conformance.judge.packets.rules_user import ASKING, TRANSACTION
from conformance.judge.rules import PLAIN, Rule, Value
from conformance.verdict import Outcome, Verdict
from conformance.wire import Packet, dissect, encode, patch

U, B, T = "UserHeader.Flags.", "BaseHeader.Flags.", "TransactionHeader.Flags."
ALL = [pytest.param(rule, rule in REMOTE_RULES, id=rule.id) for rule in ALL_RULES]
# Requirements of two documents, or two sections, that say the same of the same bytes.
_HASHES = ("md2", "md4", "md5", "sha1", "sha256", "sha512")
SAME: tuple[frozenset[str], ...] = (
    *(
        frozenset({"MQDMPR-3.1.1.12.encryption-algorithm", f"MQMQ-2.2.19.3.encryption-{word}"})
        for word in ("rc2", "rc4", "aes128", "aes192", "aes256")
    ),
    *(
        frozenset(
            {
                "MQDMPR-3.1.1.12.hash-algorithm",
                f"MQMQ-2.2.19.3.hash-{word}",
                f"MQDMPR-3.1.1.12.hash-{word.replace('sha2', 'sha-2').replace('sha5', 'sha-5')}",
            }
        )
        for word in _HASHES
    ),
    *(
        frozenset({"MQDMPR-3.1.1.12.encryption-" + word, "MQMQ-2.2.19.3.initialization-vector"})
        for word in ("rc2", "aes128", "aes192", "aes256")
    ),
    frozenset({"MQMQ-2.2.18.1.6.custom-class", "MQMQ-2.2.19.3.message-class"}),
    # Two neighbours of one size that are exchanged: each is in the other's place.
    frozenset({"MQMQ-2.2.20.6.length-in-bits-layout", "MQMQ-2.2.20.6.public-exponent-layout"}),
    # One demand on one field, of every message with the sender type and of those that are signed.
    frozenset(
        {
            "MQMQ-2.2.20.6.sender-id-sid",
            "MQDMPR-3.1.1.12.sender-identifier-sid",
            "MQMQ-2.2.20.6.signature-1-sender-sid",
        }
    ),
    frozenset(
        {
            "MQDMPR-3.1.1.12.sender-identifier-queue-manager",
            "MQMQ-2.2.20.6.security-id-queue-manager",
            "MQMQ-2.2.20.6.signature-1-sender-guid",
        }
    ),
)


def judged(data: bytes, readings: str = "windows", transport: str = "buffer") -> list[Verdict]:
    return judge_packet(data, profile="msmq-6.0", transport=transport, readings=readings, level="may")


def blamed(data: bytes, readings: str = "windows", transport: str = "buffer") -> list[str]:
    found = (one.requirement for one in judged(data, readings, transport) if one.outcome is Outcome.FAIL)
    return list(dict.fromkeys(found))


@all_of(("rule", "remote"), ALL)
def test_the_first_blamed_requirement_is_the_one_that_the_mutation_breaks(rule: Rule, remote: bool) -> None:
    readings = "strict" if rule.reading else "windows"
    first = blamed(rule.breaks.broken(), readings, "remote" if remote else "buffer")[0]
    same = next((group for group in SAME if {rule.requirement, first} <= group), frozenset({rule.requirement}))
    assert first in same


SHAPES: Mapping[str, dict[str, Value]] = {
    "plain": {},
    "transactional": TRANSACTION,
    "secured": {**WITH_SID},
    "connected": CONNECTED,
    "traced": TRACED,
    "soap": SOAP,
    "listed": MULTI,
    "asking": ASKING,
    "most": {**TRANSACTION, **WITH_SID, **ASKING, **SOAP, **MULTI, **TRACED},
}
_HEADERS = {
    U + "TH": ("MQMQ-2.2.19.2.transaction-header", TRANSACTION),
    U + "SH": ("MQMQ-2.2.19.2.security-header", WITH_SID),
    U + "CQ": ("MQMQ-2.2.19.2.connector-type", CONNECTED),
    U + "HH": ("MQMQ-2.2.19.2.soap-header", SOAP),
    U + "MQ": ("MQMQ-2.2.19.2.multi-queue-header", MULTI),
    B + "DH": ("MQMQ-2.2.19.1.debug-header", TRACED),
}


def shape(name: str, **more: Value) -> Packet:
    return dissect(encode("UserMessage", {**PLAIN, **SHAPES[name], **more}))


def deviations() -> Iterator[tuple[str, str, bytes]]:
    """Yield a name, the requirement that is broken, and a packet with one deviation of its structure."""
    for name in SHAPES:
        right = shape(name)
        for flag, (word, _) in _HEADERS.items():
            there = right.fields[flag]
            if flag == B + "DH" and there:
                wrong = patch(right, {flag: 0, B + "TR": 0})
            else:
                wrong = patch(right, {flag: 1 - int(there)})
            yield f"{name}, {flag} {'clear' if there else 'set'}", f"{word}-{'absent' if there else 'present'}", wrong
        yield f"{name}, MP clear", "MQMQ-2.2.19.2.message-properties-flag", patch(right, {U + "MP": 0})
        size = right.fields["BaseHeader.PacketSize"]
        for slip in (-4, 4, 100):
            data = patch(right, {"BaseHeader.PacketSize": int(size) + slip})
            yield f"{name}, PacketSize {slip}", "MQMQ-2.2.19.1.packet-size", data
        for slip in (-2, 2, 4, 20):
            data = patch(right, {"UserHeader.DestinationQueue.Count": 20 + slip})
            yield f"{name}, Count {slip}", "MQMQ-2.2.18.1.5.2.count", data
        for number, word in ((0, "none"), (3, "private"), (5, "public")):
            data = patch(right, {U + "DQ": number})
            yield f"{name}, DQ {number}", f"MQMQ-2.2.19.2.destination-{word}", data
        # A response queue that is announced and not there; two flags say so at once where there is no other queue.
        for number, word in ((3, "private-destination"), (5, "public"), (6, "private-other"), (7, "direct")):
            if right.fields[U + {5: "CQ", 6: "TH"}.get(number, "X1")]:
                continue  # what follows is as long, and may be meant
            yield f"{name}, RQ {number}", f"MQMQ-2.2.19.2.response-{word}", patch(right, {U + "RQ": number})
        response = shape(name, **{"UserHeader.ResponseQueue.DirectFormatName": "OS:host\\r"})
        yield f"{name}, RQ 0", "MQMQ-2.2.19.2.response-queue-none", patch(response, {U + "RQ": 0})
        at, _ = right.spans["UserHeader"]
        yield f"{name}, half a UserHeader", "MQMQ-2.2.20.required-headers", cut(right, at + 20)
        yield f"{name}, no UserHeader", "MQMQ-2.2.20.required-headers", cut(right, at)
    for first, second, word in (
        ("TransactionHeader", "SecurityHeader", "transaction"),
        ("SecurityHeader", "MessagePropertiesHeader", "security"),
        ("DebugHeader", "SoapHeader", "debug"),
        ("SoapHeader", "MultiQueueFormatHeader", "soap"),
    ):
        yield f"{first} behind {second}", f"MQMQ-2.2.20.{word}-header-layout", swapped(shape("most"), first, second)


def cut(packet: Packet, size: int) -> bytes:
    return patch(packet, {"BaseHeader.PacketSize": size})[:size]


def swapped(packet: Packet, first: str, second: str) -> bytes:
    at, size = packet.spans[first]
    behind, length = packet.spans[second]
    data = packet.data
    return data[:at] + data[behind : behind + length] + data[at : at + size] + data[behind + length :]


@all_of(("requirement", "data"), [pytest.param(*rest, id=name) for name, *rest in deviations()])
def test_a_deviation_of_structure_is_the_only_one_that_is_blamed(requirement: str, data: bytes) -> None:
    assert blamed(data) == [requirement]
