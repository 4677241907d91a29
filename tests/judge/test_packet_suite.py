"""The suite of packets finds wrong codecs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import packet_codecs as codecs
import pytest
from cases import all_of
from codec_runs import FEW, OPTIONS, client, failing, quiet
from hypothesis import given

from conformance.harness.recorder import ConformanceFailure, Recorder, RunOptions
from conformance.harness.repro_files import NotRepeatable
from conformance.judge.packets.judge import RULES
from conformance.spec.catalogue import assignment
from conformance.suites.packets import test_mqmq_mutations as suite
from conformance.suites.packets.cases import CONTROL, HANDLED, decode_case, encode_case, handling, mutated, refuse_case
from conformance.suites.packets.combinations import APART, changes, full_message, packet_with
from conformance.suites.packets.malformed import IGNORED, MALFORMED, TRANSACTION_BITS, Ignored, Malformed
from conformance.suites.packets.messages import base64_of, messages_in_a_session, packet_of, user_messages
from conformance.suites.packets.rejudge import rejudge
from conformance.verdict import Outcome
from conformance.wire import dissect
from conformance.wire.headers import USER_MESSAGE_SECTIONS
from conformance.wire.layout import Pad, bit_fields, leaves


def encoded_failures(codec: codecs.Codec) -> set[str]:
    """The first failing requirement of each of some examples."""
    found: set[str] = set()

    @FEW
    @given(user_messages())
    def run(message: dict[str, Any]) -> None:
        found.update(failing(list(encode_case(client(codec), message, OPTIONS, quiet)))[:1])

    run()
    return found


def decoded_failures(codec: codecs.Codec) -> set[str]:
    found: set[str] = set()

    @FEW
    @given(user_messages())
    def run(message: dict[str, Any]) -> None:
        found.update(failing(list(decode_case(client(codec), packet_of(message), message, OPTIONS, quiet)))[:1])

    run()
    return found


@FEW
@given(user_messages() | messages_in_a_session())
def test_a_right_codec_passes(message: dict[str, Any]) -> None:
    codec = client(codecs.Codec())
    verdicts = [
        *encode_case(codec, message, OPTIONS, quiet),
        *decode_case(codec, packet_of(message), message, OPTIONS, quiet),
    ]
    assert {verdict.outcome for verdict in verdicts} <= {Outcome.PASS, Outcome.READING}
    assert [v for v in verdicts if v.outcome is Outcome.READING] == []


@pytest.mark.parametrize(
    ("codec", "broken"),
    [
        (codecs.BigEndianPacketSize, {"MQMQ-2.2.19.1.packet-size"}),
        # The sender's GUID in SecurityData stays as it is, so that it is no longer that of the header.
        (
            codecs.BigEndianGuids,
            {
                "MQMQ-2.2.19.2.source-queue-manager-layout",
                "MQDMPR-3.1.1.12.sender-identifier-queue-manager",
            },
        ),
        (codecs.CountsTheLabelWithoutItsEnd, {"MQMQ-2.2.19.3.label-length"}),
        (codecs.KeepsThePrefix, {"MQMQ-2.2.18.1.5.2.direct-format-name"}),
        (codecs.TransactionWithPriority, {"MQMQ-2.2.19.1.transactional-priority-zero"}),
        (codecs.ForgetsThePadding, {"MQMQ-2.2.19.3.padding"}),
        (codecs.LosesTheCorrelation, {"MQDMPR-3.1.7.1.32.message-properties-header-correlation-id"}),
        (codecs.SwapsTheTimes, {"MQMQ-2.2.19.2.time-to-be-received-layout"}),
        (codecs.FailsOnExtensions, {"MQDMPR-3.1.7.1.30.constructs"}),
    ],
)
def test_a_wrong_encoder_fails_at_what_it_does_wrong(codec: type[codecs.Codec], broken: set[str]) -> None:
    assert encoded_failures(codec()) == broken


def test_a_wrong_field_is_counted_against_the_packet_as_a_whole() -> None:
    broken = failing(list(encode_case(client(codecs.SwapsTheTimes()), CONTROL, OPTIONS, quiet)))
    assert broken[:2] == ["MQMQ-2.2.19.2.time-to-be-received-layout", "MQMQ-2.2.19.2.sent-time-layout"]
    assert broken[-2:] == ["MQDMPR-3.1.7.1.30.conforms", "MQDMPR-3.1.7.1.32.serialised"]
    assert set(broken[2:-2]) == {
        "MQDMPR-3.1.7.1.32.user-header-sent-time",
        "MQDMPR-3.1.7.1.32.user-header-time-to-be-received",
        "MQDMPR-3.1.7.1.32.user-header-fields",
    }


def test_bits_numbered_from_the_top_are_seen() -> None:
    assert encoded_failures(codecs.NumbersBitsFromTheTop())


@pytest.mark.parametrize(
    ("codec", "broken"),
    [
        (codecs.ReadsTheBodyTooShort, {"MQDMPR-3.1.7.1.31.body-attribute"}),
        (codecs.SwapsTheFirstAndLastMark, {"MQDMPR-3.1.7.1.31.first-in-transaction-attribute"}),
    ],
)
def test_a_wrong_decoder_fails_at_what_it_does_wrong(codec: type[codecs.Codec], broken: set[str]) -> None:
    assert decoded_failures(codec()) == broken


@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in MALFORMED])
def test_a_right_decoder_refuses_what_is_malformed(case: Malformed) -> None:
    assert failing(list(refuse_case(client(codecs.Codec()), case.data(), case.requirement, OPTIONS, quiet))) == []


@all_of("case", [pytest.param(case, id=case.name) for case in (*IGNORED, *TRANSACTION_BITS)])
def test_a_right_decoder_ignores_what_is_reserved(case: Ignored) -> None:
    def run(codec: codecs.Codec) -> list[str]:
        return failing(
            list(decode_case(client(codec), case.data(), case.message, OPTIONS, quiet, requirement=case.requirement))
        )

    assert case.data() != packet_of(case.message)
    assert run(codecs.Codec()) == []
    if "-x" in case.name:
        assert run(codecs.RefusesReservedBits()) == [case.requirement]


def refused_wrongly(codec: codecs.Codec, name: str) -> list[str]:
    case = next(case for case in MALFORMED if case.name == name)
    return failing(list(refuse_case(client(codec), case.data(), case.requirement, OPTIONS, quiet)))


def test_decoders_that_accept_too_much_are_seen() -> None:
    assert refused_wrongly(codecs.AcceptsAnyVersion(), "version-0x11") == ["MQQB-3.1.5.1.2.version-refused"]
    assert refused_wrongly(codecs.ReadsWhatIsThere(), "cut-in-body") == ["MQQB-3.1.5.1.3.malformed-refused"]


def test_the_probe_after_a_malformed_packet_sees_a_decoder_that_died_of_it() -> None:
    codec = codecs.RefusesEverythingAfterAnError()
    assert refused_wrongly(codec, "version-0") == ["MQDMPR-3.1.7.1.31.reads"]


@pytest.mark.parametrize(
    ("codec", "repro", "failed"),
    [
        (codecs.BigEndianPacketSize, {"case": "encode", "message": CONTROL}, "MQMQ-2.2.19.1.packet-size"),
        (
            codecs.ReadsTheBodyTooShort,
            {"case": "decode", "message": CONTROL, "packet": base64_of(packet_of(CONTROL))},
            "MQDMPR-3.1.7.1.31.body-attribute",
        ),
        (
            codecs.AcceptsAnyVersion,
            {
                "case": "refuse",
                "packet": base64_of(MALFORMED[0].data()),
                "requirement": "MQQB-3.1.5.1.2.version-refused",
            },
            "MQQB-3.1.5.1.2.version-refused",
        ),
    ],
)
def test_a_repro_fails_again_and_is_fixed(codec: type[codecs.Codec], repro: dict[str, Any], failed: str) -> None:
    assert failing(list(rejudge(repro, cast(Any, codec()), OPTIONS)))[0] == failed
    assert failing(list(rejudge(repro, cast(Any, codecs.Codec()), OPTIONS))) == []


def test_an_unknown_repro_is_refused() -> None:
    for repro in (
        {"case": "dream"},
        {"case": "encode"},
        {"case": "refuse", "packet": "no base64!", "requirement": "x"},
    ):
        with pytest.raises(NotRepeatable):
            list(rejudge(repro, cast(Any, codecs.Codec()), OPTIONS))


RUN = RunOptions("msmq-4.0", "must", assignment("windows"), "windows", 0, 10, 10)


def offered(*_: Any) -> None:
    return None


def reserved(codec: codecs.Codec, judge: Recorder) -> None:
    suite.test_reserved_values_change_nothing(cast(Any, codec), offered, judge)


def refused(codec: codecs.Codec, judge: Recorder) -> None:
    suite.test_what_cannot_be_read_is_refused(cast(Any, codec), offered, judge, RUN)


def ignored(codec: codecs.Codec, judge: Recorder) -> None:
    suite.test_what_is_ignored_changes_nothing(cast(Any, codec), offered, judge)


def survived(codec: codecs.Codec, judge: Recorder) -> None:
    suite.test_other_mutations_are_survived(cast(Any, codec), offered, judge, RUN)


Run = Callable[[codecs.Codec, Recorder], None]


def judged() -> tuple[Recorder, set[str]]:
    seen: set[str] = set()
    return Recorder(RUN, lambda verdict, count: seen.add(verdict.requirement)), seen


def failure(run: Run, codec: codecs.Codec) -> ConformanceFailure:
    with pytest.raises(ConformanceFailure) as failed:
        run(codec, judged()[0])
    return failed.value


def test_every_rule_says_what_a_reader_does_with_its_mutation() -> None:
    rules = [rule for rule in RULES if rule.breaks.kind == "UserMessage"]
    assert {handling(rule).way for rule in rules} == {"refused", "same", "either"}
    used = {rule.requirement for rule in rules} | {"MQMQ-2.2.20.2.header-size/names"}
    assert set(HANDLED) == used
    assert all(one.section.startswith("MS-MQ") for one in HANDLED.values())
    assert sum(1 for way in ("refused", "same", "either") for _ in mutated(way)) == len(rules)  # type: ignore[arg-type]


@pytest.mark.parametrize("run", [reserved, refused, ignored, survived])
def test_a_right_decoder_passes(run: Run) -> None:
    judge, seen = judged()
    run(codecs.Codec(), judge)
    judge.flush()
    assert seen


def test_all_that_is_reserved_in_the_tables_is_tried() -> None:
    """All but what a message need not have: padding of lists that end where they should."""
    tried = {change.key for change in changes()}
    packet = dissect(packet_of(full_message()))
    for section, _ in USER_MESSAGE_SECTIONS:
        if section.name in ("TransactionHeader", "SRMPEnvelopeHeader", "CompoundMessageHeader"):
            continue
        wanted = {section.key(path) for path, bit in bit_fields(section) if bit.reserved}
        wanted |= {section.key(path) for path, item in leaves(section) if "Reserved" in path or isinstance(item, Pad)}
        assert {key for key in wanted if key in packet.fields} - tried <= set(APART)
        assert packet.has(section.name)
    found = dissect(packet_with(changes()), transport="buffer")
    assert all(found.fields[change.key] == change.value for change in changes())
    assert not found.trouble


class ReadsAReservedBit(codecs.Codec):
    """Takes DebugHeader.Flags.X9 for an order to raise the hop count."""

    def decode(self, data: bytes) -> dict[str, Any] | None:
        message = super().decode(data)
        if message and dissect(data).fields.get("DebugHeader.Flags.X9"):
            message["hop_count"] += 1
        return message


class RefusesTwoReservedFieldsTogether(codecs.Codec):
    """Takes a packet in which both reserved fields of SoapHeader are set for another version's."""

    def decode(self, data: bytes) -> dict[str, Any] | None:
        fields = dissect(data).fields
        both = fields.get("SoapHeader.Reserved") and fields.get("SoapHeader.Reserved1")
        return None if both else super().decode(data)


class FillsUpWithZeros(codecs.Codec):
    """Reads a packet that ends too early as if zeros came behind it."""

    def decode(self, data: bytes) -> dict[str, Any] | None:
        found = super().decode(data)
        if found is None and data[4:8] == b"LIOR" and data[0] == 0x10:
            return super().decode(data + bytes(512)) or {"destination": "DIRECT=OS:a\\q", "body": ""}
        return found


class KeepsTheLastLabel(codecs.Codec):
    """After a label with a NUL inside, every message has that label."""

    kept: str | None = None

    def decode(self, data: bytes) -> dict[str, Any] | None:
        message = super().decode(data)
        if message and self.kept:
            message["label"] = self.kept
        elif message and "\0" in message.get("label", ""):
            self.kept = message["label"]
        return message


@pytest.mark.parametrize(
    ("run", "codec", "broken"),
    [
        (reserved, ReadsAReservedBit, "MQMQ-2.2.20.8.flags-reserved-ignored"),
        (ignored, ReadsAReservedBit, "MQMQ-2.2.20.8.flags-reserved-ignored"),
        (refused, FillsUpWithZeros, "MQQB-3.1.5.1.3.malformed-refused"),
        (refused, codecs.AcceptsAnyVersion, "MQQB-3.1.5.1.2.version-refused"),
        (survived, KeepsTheLastLabel, "MQDMPR-3.1.7.1.31.label-attribute"),
    ],
)
def test_a_wrong_decoder_fails_at_what_it_handles_wrong(run: Run, codec: type[codecs.Codec], broken: str) -> None:
    assert failure(run, codec()).verdict.requirement == broken


def test_what_matters_only_together_is_told_as_the_two() -> None:
    failed = failure(reserved, RefusesTwoReservedFieldsTogether())
    assert failed.verdict.requirement == "MQMQ-2.2.20.7.reserved-ignored"
    assert "SoapHeader.Reserved and SoapHeader.Reserved1 set" in failed.story[-1].text


def test_repros_fail_again_and_are_fixed() -> None:
    again = list(rejudge(failure(reserved, ReadsAReservedBit()).repro, cast(Any, ReadsAReservedBit()), RUN))
    assert [one.outcome for one in again] == [Outcome.FAIL]
    fixed = list(rejudge(failure(reserved, ReadsAReservedBit()).repro, cast(Any, codecs.Codec()), RUN))
    assert [one.outcome for one in fixed] == [Outcome.PASS]
    either = {"case": "either", "packet": base64_of(b"LIOR")}
    assert {one.outcome for one in list(rejudge(either, cast(Any, codecs.Codec()), RUN))} == {Outcome.PASS}
