"""Valid messages with every header, form of queue, class and algorithm are accused of nothing."""

from __future__ import annotations

from collections import Counter

from nightly import SEED, amount
from valid_packets import valid_packets

from conformance.judge.packets.judge import judge_packet
from conformance.verdict import Outcome
from conformance.wire import dissect

SECTIONS = ("TransactionHeader", "SecurityHeader", "DebugHeader", "SoapHeader", "MultiQueueFormatHeader")


def test_valid_messages_are_accused_of_nothing() -> None:
    for data in valid_packets(amount("packets.valid"), int(SEED)):
        verdicts = judge_packet(data, profile="msmq-6.0", transport="buffer", level="may")
        accused = {one.requirement for one in verdicts if one.outcome in (Outcome.FAIL, Outcome.WARN)}
        assert not accused, data.hex()


def test_the_messages_have_everything_that_one_may_have() -> None:
    seen: Counter[str] = Counter()
    for data in valid_packets(200):
        packet = dissect(data)
        assert packet.whole
        seen.update(name for name in (*SECTIONS, "SessionHeader") if packet.has(name))
        seen.update(f"{flag} {int(packet.fields[f'UserHeader.Flags.{flag}'])}" for flag in ("DQ", "AQ", "RQ"))
        seen["encrypted"] += packet.fields.get("SecurityHeader.Flags.EB") == 1
        seen["signed"] += bool(packet.fields.get("SecurityHeader.SignatureSize"))
        seen["signed list"] += bool(packet.fields.get("MultiQueueFormatHeader.Signature.Size"))
    kinds = [
        f"{flag} {number}"
        for flag, numbers in (("DQ", "357"), ("AQ", "023567"), ("RQ", "0123567"))
        for number in numbers
    ]
    assert not [
        word for word in (*SECTIONS, "SessionHeader", *kinds, "encrypted", "signed", "signed list") if not seen[word]
    ]
