"""Combinations of options: each pair is there, right codecs pass, a defect of two options together is told alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import packet_codecs as codecs
import pytest

from conformance.harness.recorder import ConformanceFailure, Recorder, RunOptions
from conformance.spec.catalogue import assignment
from conformance.suites.packets.cases import decode_case, decode_lists_case, encode_case
from conformance.suites.packets.combinations import (
    FACTORS,
    OPTIONS,
    all_pairs,
    combine,
    forbids,
    message_of,
    pairs_in,
    pairs_of,
    row_text,
    rows,
    simplest,
)
from conformance.suites.packets.messages import packet_of
from conformance.verdict import Outcome, Verdict
from conformance.wire import dissect, patch

RUN = RunOptions("msmq-4.0", "must", assignment("windows"), "windows", 0, 10, 10)


def quiet(*_: Any) -> None:
    return None


def test_every_pair_that_may_stand_together_does() -> None:
    wanted = set(pairs_of(OPTIONS, forbids))
    assert len(wanted) > 10_000
    assert wanted <= {pair for row in rows() for pair in pairs_in(row)}
    assert len(rows()) < 150


def test_no_row_holds_what_is_forbidden() -> None:
    for row in rows():
        assert not any(forbids(one, other) for one, other in (tuple(pair) for pair in pairs_in(row)))


def test_pairs_of_a_small_set() -> None:
    found = all_pairs({"a": ("0", "1"), "b": ("0", "1"), "c": ("0", "1")}, lambda one, other: False)
    assert 4 <= len(found) <= 6
    assert simplest({"a": "1", "b": "1"}, {"a": ("0", "1"), "b": ("0", "1")}, lambda row: row["b"] == "1") == {
        "a": "0",
        "b": "1",
    }


def test_every_option_is_in_the_message() -> None:
    plain = {factor: options[0] for factor, options in OPTIONS.items()}
    for factor, options in FACTORS.items():
        seen = [message_of({**plain, "administration": "target", factor: option}) for option in options]
        assert all(one not in seen[:at] for at, one in enumerate(seen) if factor != "asked"), factor
    assert row_text(plain) == "plain"


def _all(codec: codecs.Codec) -> list[Verdict]:
    client = cast(Any, codec)
    found = []
    for row in rows():
        message, readable = message_of(row), message_of(row, readable=True)
        found += encode_case(client, message, RUN, quiet)
        if readable.get("destinations"):
            found += decode_lists_case(client, readable, RUN, quiet)
        else:
            found += decode_case(client, packet_of(readable), readable, RUN, quiet)
    return found


def test_a_right_codec_passes_all() -> None:
    assert {verdict.outcome for verdict in _all(codecs.Codec())} == {Outcome.PASS}


class ForgetsTheWindowOfTracedMessages(codecs.Codec):
    """WindowSize is 0 when a traced message carries a session acknowledgment."""

    def encode(self, message: Mapping[str, Any]) -> bytes:
        data = super().encode(message)
        if message.get("session") and message.get("trace_queue"):
            return patch(dissect(data), {"SessionHeader.WindowSize": 0})
        return data


def test_a_defect_of_two_options_together_is_found_and_told_alone() -> None:
    judge = Recorder(RUN, lambda verdict, count: None)
    client = cast(Any, ForgetsTheWindowOfTracedMessages())
    with pytest.raises(ConformanceFailure) as failed:
        combine(
            RUN,
            judge,
            lambda message: {"case": "encode", "message": message},
            lambda message: encode_case(client, message, RUN, judge.step),
        )
    assert failed.value.verdict.requirement.startswith("MQMQ-2.2.20.4.window-size")
    message = failed.value.repro["message"]
    assert message["session"] and message["trace_queue"]
    assert not set(message) & {"transaction", "label", "body", "sender_identifier", "destinations", "response_queue"}
