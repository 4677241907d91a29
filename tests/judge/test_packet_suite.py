"""The packets suite's own logic: a right codec passes, each wrong one fails at what it is named after."""

from typing import Any, cast

import packet_codecs as codecs
import pytest
from cases import all_of
from codec_runs import FEW, OPTIONS, client, failing, quiet
from hypothesis import given

from conformance.harness.repro_files import NotRepeatable
from conformance.suites.packets.cases import CONTROL, decode_case, encode_case, refuse_case
from conformance.suites.packets.malformed import IGNORED, MALFORMED, TRANSACTION_BITS, Ignored, Malformed
from conformance.suites.packets.messages import base64_of, messages_in_a_session, packet_of, user_messages
from conformance.suites.packets.rejudge import rejudge
from conformance.verdict import Outcome


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
