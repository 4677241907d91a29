"""Rules judged by columns say what they say one by one: every rule, reading, profile, level and transport."""

import random
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from columns_beside import Beside, one_by_one
from columns_packets import changed, of_fuzzing, of_message, of_rules
from hypothesis import given, settings
from hypothesis import strategies as st
from nightly import amount
from packet_mutations import changes
from valid_packets import valid_packets

from conformance.capture import Frame, read_capture
from conformance.files import resource
from conformance.judge.columns import Outcomes, Slow
from conformance.judge.columns.judge import emitted
from conformance.judge.columns.rule_trees import outcome_code
from conformance.judge.packets import rules_security
from conformance.judge.packets.judge import ALL_RULES, find, rules_of
from conformance.judge.packets.message_facts import ODD
from conformance.judge.rules import Not, Rule, evaluate
from conformance.suites.packets.messages import (
    messages_in_a_session,
    messages_to_several_queues,
    soap_messages,
    user_messages,
)
from conformance.wire import dissect, encode
from conformance.wire.columns.packets import shapes_and_code
from conformance.wire.columns.table import Judged, chunks

HOW = (
    ("msmq-4.0", "windows", "must", "buffer"),
    ("msmq-1.0", "strict", "may", "tcp"),
    ("msmq-6.0", "permissive", "should", "remote"),
    ("msmq-3.0", "strict", "must", "remote"),
)
PROFILES = [profile for profile, *_ in HOW]
SIGNED = ("MQMQ-2.5.", "MQDMPR-3.1.1.12.signature", "MQDMPR-3.1.1.12.multiple", "MQDMPR-3.1.1.12.hash", "hash-")

# Rules about certificates and about the headers of HTTP messages: no packet that is judged here has what they read.
APART = (
    *SIGNED,
    *(rule.id for rule in rules_security.CERTIFICATE_RULES),
    "sender-cert-layout",
    "size-exact/certificate",
    "MQRR-2.2.5.1.",
    "target-queue",
)


@pytest.fixture(scope="module")
def beside() -> Beside:
    return Beside()


@pytest.fixture(scope="module", params=HOW, ids="-".join)
def how(request: pytest.FixtureRequest, beside: Beside) -> Outcomes:
    profile, readings, level, transport = request.param
    return Outcomes(beside.judge.code, profile, readings, level, transport)


def test_every_rule_says_the_same_of_what_it_holds_for_and_of_what_breaks_it(beside: Beside, how: Outcomes) -> None:
    packets = of_rules()
    outcomes = beside.compare(packets, how)
    # Rule by rule this is slow one by one: a different part of the packets for each way of asking.
    beside.compare_rules(packets[PROFILES.index(how.profile) :: 8], how)
    plain = [not isinstance(one, Slow) for data, one in zip(packets, outcomes, strict=True) if is_plain(data)]
    assert len(plain) > 0.7 * len(packets)
    assert sum(plain) > 0.8 * len(plain)


def is_plain(data: bytes) -> bool:
    """Return True for a packet that can be decoded whole and is not odd."""
    packet = dissect(data)
    return packet.whole and not evaluate(ODD, packet.fields)


def test_nearly_every_rule_is_seen_to_hold_and_to_break_by_columns(beside: Beside) -> None:
    # What remains is broken only by packets that cannot be decoded whole, or of which another layout may be right.
    broken: set[str] = set()
    held: set[str] = set()
    strict = Outcomes(beside.judge.code, "msmq-4.0", "strict")
    for rule in ALL_RULES:
        if any(word in rule.id for word in APART):
            continue
        for data in (rule.breaks.valid(), rule.breaks.broken()):
            (words,) = beside.outcomes([data])
            if not isinstance(words, Slow):
                result = strict.finding(rule, words).result.value
                (broken if result == "broken" else held if result == "holds" else set()).add(rule.id)
    judged = {rule.id for rule in ALL_RULES if not any(word in rule.id for word in APART)}
    assert len(held) >= 0.9 * len(judged), sorted(judged - held)
    plain = {rule.id for rule in ALL_RULES if is_plain(rule.breaks.broken())} & judged
    assert len(plain) > 150
    assert len(broken & plain) >= 0.8 * len(plain), sorted(plain - broken)


@given(st.integers(0, 1 << 32))
@settings(max_examples=amount("columns.packs-changed-a-little"), deadline=None)
def test_packets_changed_a_little_are_judged_the_same(seed: int) -> None:
    beside, chance = Beside(), random.Random(seed)
    profile, readings, level, transport = chance.choice(HOW)
    pool = of_rules() + of_fuzzing()
    packets = [changed(chance.choice(pool), chance) for _ in range(64)]
    beside.compare(packets, Outcomes(beside.judge.code, profile, readings, level, transport))


def test_valid_messages_and_changed_ones_are_judged_the_same(beside: Beside, how: Outcomes) -> None:
    beside.compare([*valid_packets(60), *(one.data for one in list(changes())[::97])], how)


@given(
    st.lists(
        st.one_of(
            user_messages(), messages_in_a_session(), messages_to_several_queues(with_soap=True), soap_messages()
        ),
        min_size=1,
        max_size=4,
    ),
    st.sampled_from(HOW),
)
@settings(max_examples=15, deadline=None)
def test_generated_messages_are_judged_the_same(messages: list[dict[str, Any]], asked: tuple[str, ...]) -> None:
    beside = Beside()
    profile, readings, level, transport = asked
    beside.compare(
        [of_message(message) for message in messages],
        Outcomes(beside.judge.code, profile, readings, level, transport),
    )


def test_packets_of_all_captures_are_judged_the_same(beside: Beside) -> None:
    how = Outcomes(beside.judge.code, "msmq-4.0", "windows", "must", "buffer")
    paths = sorted(path for path in resource("fixtures/captures").iterdir() if path.suffix != ".toml")
    frames = [event for path in paths for event in read_capture(path) if isinstance(event, Frame)]
    packets = [frame.data for frame in frames if frame.transport != "udp"]
    outcomes = beside.compare(packets, how)
    # Nearly all of them are decided here: captures are what this is for.
    assert sum(isinstance(one, Slow) for one in outcomes) < 0.2 * len(outcomes)


def test_what_a_name_begins_with_is_told_the_same_letter_by_letter(beside: Beside) -> None:
    direct, how = "UserHeader.DestinationQueue.DirectFormatName", Outcomes(beside.judge.code, "msmq-4.0", "strict")
    names = [text for word in ("direct=", "DIRECT=", "dIrEcT=", "direct", "direc\u0130", "\u0434irect=", "@IRECT=")
             for text in (*(word[:size] for size in range(1, 8)), word + "OS:h\\q", "\0" + word)]  # fmt: skip
    names += ["direct="[:at] + other + "direct="[at + 1 :] for at in range(7) for other in "\u0130\u212a\xff`\x7f\0"]
    names += [
        protocol + address + slash + queue
        for protocol in ("OS:", "tcp:", "TCP:", "FTP:", "O:")
        for address in ("host", "1.2.3.4", "1.2.3.256", "01.2.3.4", "1.2.3", "", "h\xe9", "h\\a")
        for slash in ("\\", "\\private$\\", "\\Private$", "\\privat$\\", "")
        for queue in ("q", "system$", "private$\\q", "q;journal", "q q", "\u0130", "\ud800", "q$", "x" * 125, "q,r", "")
    ]
    outcomes = beside.compare([encode("UserMessage", {direct: name}) for name in names], how)
    assert {isinstance(one, Slow) for one in outcomes} == {False, True}


def test_a_ping_breaks_no_rule(beside: Beside) -> None:
    how = Outcomes(beside.judge.code, "msmq-4.0")
    ping = encode("Ping", {"Ping.Cookie": 5})
    for data in (ping, ping + b"\0", ping[:-1], b"\0\0\0\0" + ping[4:]):
        (words,) = beside.outcomes([data], udp=True)
        assert isinstance(words, Slow) == (data != ping)
        if not isinstance(words, Slow):
            assert how.said(words) == ()


def test_any_bytes_are_left_to_the_other_path_or_judged_as_it_does(beside: Beside) -> None:
    how = Outcomes(beside.judge.code, "msmq-4.0")
    whole = encode("UserMessage", {"MessagePropertiesHeader.Label": "label"})
    beside.compare([whole[:size] for size in range(len(whole))], how)
    chance = random.Random(5)
    beside.compare([whole[:16] + chance.randbytes(chance.randrange(120)) for _ in range(200)], how)


def test_long_lists_of_names_are_judged_the_same(beside: Beside) -> None:
    how = Outcomes(beside.judge.code, "msmq-4.0", "permissive")
    name = "MultiQueueFormatHeader.Destination."
    elements = (b"\3\0" + "OS:h\\q\0".encode("utf-16-le"), b"\1\0" + bytes(16), b"\2\0\0\0" + bytes(20), b"\3\0\0\0")
    packets = [
        encode("UserMessage", {name + "FormatNameList": one * 1_500 + end, name + "ElementCount": count})
        for one in elements
        for end, count in ((b"", 1_500), (b"\4\0\0\0", 1_500), (b"\3\0O\0", 1_501), (bytes(3), 1_499))
    ]
    outcomes = beside.compare(packets, how)
    assert {at for at, one in enumerate(outcomes) if isinstance(one, Slow)} <= {3, *range(12, 16)}  # without a name


def test_what_is_left_out_says_why(beside: Beside) -> None:
    def why(data: bytes) -> tuple[int, ...] | Slow:
        return beside.outcomes([data])[0]

    label = "MessagePropertiesHeader.Label"
    direct = "UserHeader.DestinationQueue.DirectFormatName"
    security = "SecurityHeader.SecurityData."
    assert why(encode("UserMessage", {label: "x"})[:-1]) is Slow.UNREADABLE
    assert not isinstance(why(encode("UserMessage", {security + "Signature": b"signature"})), Slow)
    assert why(encode("UserMessage", {security + "SenderCert": b"certificate"})) is Slow.SIGNED
    assert why(encode("UserMessage", {direct: "\u0130rect=OS:h\\q"})) is Slow.LETTERS
    assert not isinstance(why(encode("UserMessage", {direct: "OS:h\\a\u0130"})), Slow)
    sid = {security + "SecurityID": b"\1\2", "SecurityHeader.Flags.ST": 1}
    assert why(encode("UserMessage", sid)) is Slow.INSIDE
    packed = {"SoapHeader.Header": "h", "SoapHeader.Body": "bo", "SoapHeader.HeaderPadding": b""}
    assert why(encode("UserMessage", {**packed, "SoapHeader.Header": "he"})) in (Slow.LAYOUT, Slow.TROUBLE)


def test_more_outcomes_than_the_table_holds_are_left_out_and_counted(beside: Beside) -> None:
    crowded = Beside(judge=beside.judge, capacity=4)
    how = Outcomes(crowded.judge.code, "msmq-4.0")
    outcomes = crowded.compare(of_rules(), how)
    judged = [one for one in outcomes if not isinstance(one, Slow)]
    assert Slow.CROWDED in outcomes
    assert 1 < len(set(judged)) <= 4
    assert sum(crowded.judge.seen(crowded.counts).values()) == len(judged)


def test_outcomes_that_find_no_room_close_together_are_told_apart(
    beside: Beside, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("conformance.wire.columns.table._NEAR", 4)
    monkeypatch.setattr("conformance.wire.columns.table._TRIES", 2)
    own, packets = Beside(judge=emitted(())), of_rules()
    for _ in range(2):
        for first in range(0, len(packets), own.rows):
            part = packets[first : first + own.rows]
            assert own.outcomes(part) == beside.outcomes(part)
    seen = own.judge.seen(own.counts)
    assert sum(seen.values()) == own.decided
    assert len(seen) > 50
    assert len({own.judge.words(own.counts, number) for number in seen}) == len(seen)


def test_each_outcome_is_counted(beside: Beside) -> None:
    own = Beside(judge=beside.judge)
    data = encode("UserMessage", {"MessagePropertiesHeader.Label": "label"})
    other = encode("SessionAck")
    outcomes = own.outcomes([data, other, data, data])
    counted = {own.judge.words(own.counts, at): count for at, count in own.judge.seen(own.counts).items()}
    assert counted == {outcomes[0]: 3, outcomes[1]: 1}


def test_a_tree_that_is_emitted_wrong_is_noticed() -> None:
    wanted = next(rule for rule in ALL_RULES if rule.id == "MQMQ-2.2.19.2.hop-count")
    right, wrong = judged_by(wanted), judged_by(replace(wanted, holds=Not(wanted.alternatives()[""])))
    for data in (wanted.breaks.valid(), wanted.breaks.broken()):
        alone = find(wanted, dissect(data), transport="buffer")
        assert right(data) == alone
        assert wrong(data) != alone


def judged_by(rule: Rule) -> Any:
    """The finding of one rule, judged by code made for it alone."""
    made = []

    def judging(shapes: Any, first: int) -> Judged:
        made.append(outcome_code(shapes, first, (rule,)))
        return made[0].judged(shapes)

    beside = Beside.of(chunks((), judging), lambda: made[0])
    outcomes = Outcomes(made[0], "msmq-4.0")
    return lambda data: outcomes.finding(rule, beside.outcomes([data])[0])


def test_every_rule_has_its_bits_once() -> None:
    shapes, _ = shapes_and_code()
    code = outcome_code(shapes, len(shapes.slots))
    places = [(pair.word, pair.shift) for pair in code.pairs]
    assert len(set(places)) == len(places)
    assert all(0 <= shift < 62 and shift % 2 == 0 for _, shift in places)
    emitted = {pair.rule.id for pair in code.pairs}
    # The others are about signatures, HTTP messages and reports, and never apply to a packet that is judged here.
    missing = [rule.id for rule in ALL_RULES if rule.id not in emitted]
    assert all(any(word in name for word in APART) for name in missing), missing


def test_the_order_of_what_is_said_is_that_of_the_verdicts(beside: Beside) -> None:
    data = encode("UserMessage", {"MessagePropertiesHeader.Label": "label", "DebugHeader.Flags.QT": 0})
    for transport in ("buffer", "remote"):
        how = Outcomes(beside.judge.code, "msmq-6.0", transport=transport)
        (words,) = beside.outcomes([data])
        assert not isinstance(words, Slow)
        assert beside.said(how, words) == one_by_one(data, how)
    assert rules_of("remote") != rules_of("buffer")


def test_machine_code_is_kept_for_the_next_process(beside: Beside) -> None:
    beside.judge.warm()
    asked = "from conformance.judge.columns import column_judge; column_judge().warm(print)"
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout == ""


def test_what_is_missing_is_one_sentence(tmp_path: Path) -> None:
    asked = (
        "import importlib.util as u, sys\n"
        "found = u.find_spec\n"
        "u.find_spec = lambda name, *rest: None if name == 'numba' else found(name, *rest)\n"
        "from conformance.judge.columns import column_judge\n"
    )
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, cwd=tmp_path, timeout=120)
    last = done.stderr.strip().splitlines()[-1]
    assert last.endswith("judging by columns needs numba, not installed here: pip install 'mqconform[columns]'")
