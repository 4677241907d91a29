"""Trees of rules over columns, and the sieve before them."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from columns_beside import Beside
from columns_packets import changed, of_rules
from packet_mutations import changes

from conformance.judge.columns import Slow, column_judge
from conformance.judge.columns.judge import Sieve
from conformance.judge.columns.rule_trees import Pair, groups_of, outcome_code
from conformance.judge.packets.diagnosis import AT_ONCE, Search, Sifted, hypotheses
from conformance.judge.packets.judge import _Failing, facts, judge_dissected
from conformance.judge.packets.message_facts import ODD
from conformance.judge.rules import (
    And,
    Begins,
    ByteAt,
    Compare,
    Const,
    Expr,
    Field,
    Has,
    In,
    Masked,
    Mutation,
    Not,
    Or,
    Plus,
    Rest,
    Rule,
    Times,
    compiled,
)
from conformance.spec.catalogue import assignment
from conformance.wire import Packet, dissect
from conformance.wire.columns.packets import shapes_and_code
from conformance.wire.columns.shapes import Shapes, Sort, UnknownShapeError
from conformance.wire.columns.table import Judged, chunks

SHAPES, _ = shapes_and_code()
NULL = "00000000-0000-0000-0000-000000000000"
TEXTS = ("OS:host\\q", "label", "direct=", "OS:", "Microsoft Base Cryptographic Provider v1.0", "e")


def keys(*sorts: Sort) -> list[str]:
    """Keys of these sorts: of every section a rule's packets have, sorted, so that a seed picks the same."""
    found = [place for place in SHAPES.places.values() if place.sort in sorts]
    return sorted(
        one.key for one in found if (one.width < 8 or one.mask or one.sort is Sort.GUID) and one.fact != "const"
    )


NUMBERS, WORDS = keys(Sort.NUMBER, Sort.FLAG), keys(Sort.WORD)
GUIDS, TEXTUAL, BYTES = keys(Sort.GUID), keys(Sort.TEXT), keys(Sort.BYTES)


def tree(chance: random.Random, depth: int) -> Expr:
    """A tree that is true or false."""
    if depth and chance.random() < 0.6:
        parts = tuple(tree(chance, depth - 1) for _ in range(chance.randint(1, 3)))
        return chance.choice((And(parts), Or(parts), Not(parts[0])))
    match chance.randrange(9):
        case 0:
            return Has(chance.choice((*NUMBERS, *WORDS, *GUIDS, *TEXTUAL, *BYTES)))
        case 1:
            key = chance.choice(WORDS)
            return Compare(chance.choice(("eq", "ne")), Field(key), Const(chance.choice(SHAPES.places[key].words)))
        case 2:
            other = chance.choice((Const(NULL), Field(chance.choice(GUIDS))))
            return Compare(chance.choice(("eq", "ne")), Field(chance.choice(GUIDS)), other)
        case 3:
            return Compare(chance.choice(("eq", "ne")), Field(chance.choice(TEXTUAL)), Const(chance.choice(TEXTS)))
        case 4:
            return Begins(chance.choice(TEXTUAL), chance.choice(TEXTS))
        case 5:
            return In(
                number(chance, 1), tuple(chance.choices((0, 1, 2, 3, 7, 61, 62, 63, 64, 0x6801, 0xFFFFFFFF), k=4))
            )
        case 6:
            return number(chance, 1)
    return Compare(chance.choice(("eq", "ne", "lt", "le", "gt", "ge")), number(chance, 1), number(chance, 1))


def number(chance: random.Random, depth: int) -> Expr:
    """A tree that is a number."""
    match chance.randrange(8 if depth else 3):
        case 0:
            return Field(chance.choice(NUMBERS))
        case 1:
            return ByteAt(chance.choice(BYTES), chance.randrange(20))
        case 2:
            return Field(chance.choice([key for key in NUMBERS if key.startswith(("UserHeader.", "MessageProp"))]))
        case 3:
            return Masked(number(chance, depth - 1), chance.choice((1, 3, 0x1E00, 0xFFFF)))
        case 4:
            return Times(number(chance, depth - 1), chance.choice((2, 4, 12)))
        case 5:
            return Rest(number(chance, depth - 1), chance.choice((4, 12, 1, 7)))
        case 6:
            return Plus(number(chance, depth - 1), number(chance, depth - 1))
    return Const(chance.choice((0, 1, 4, 12, 16, 250)))


def in_front(expr: Expr) -> bool:
    """A comparison is written with the field in front: what has a constant there is no rule of ours."""
    if isinstance(expr, Compare) and isinstance(expr.left, Const) and not isinstance(expr.right, Const):
        return False
    inner = expr.parts if isinstance(expr, And | Or) else (expr.part,) if isinstance(expr, Not) else ()
    return all(in_front(one) for one in inner)


def made_up(seed: int, count: int) -> list[Rule]:
    chance = random.Random(seed)
    out: list[Rule] = []
    while len(out) < count:
        applies, *holds = (tree(chance, 2) for _ in range(3))
        if all(in_front(one) for one in (applies, *holds)):
            out.append(Rule(f"MADE-{len(out)}.up", applies, {"one": holds[0], "other": holds[1]}, Mutation()))
    return out


def judged_by(rules: list[Rule]) -> tuple[Beside, tuple[Pair, ...]]:
    made: list[Any] = []

    def judging(shapes: Shapes, first: int) -> Judged:
        made.append(outcome_code(shapes, first, rules))
        return made[0].judged(shapes)

    return Beside.of(chunks((), judging), lambda: made[0]), made[0].pairs


def expected(pair: Pair, fields: dict[str, Any]) -> int:
    """The two bits of a tree, run one by one."""
    if not compiled(pair.rule.applies)(fields):
        return 0
    found = compiled(pair.rule.alternatives()[pair.alternative])(fields)
    return 3 if found is None else 1 if found else 2


def test_made_up_trees_are_judged_the_same() -> None:
    beside, pairs = judged_by(made_up(20, 30))
    chance = random.Random(3)
    packets = [*of_rules(), *(changed(chance.choice(of_rules()), chance) for _ in range(300))]
    seen: set[tuple[str, str, int]] = set()
    for first in range(0, len(packets), beside.rows):
        part = packets[first : first + beside.rows]
        for data, words in zip(part, beside.outcomes(part), strict=True):
            if isinstance(words, Slow):
                continue
            fields = facts(dissect(data, transport="buffer"), "buffer")
            for pair in pairs:
                got = words[pair.word] >> pair.shift & 3
                assert got == expected(pair, fields), (pair.rule, pair.alternative, data.hex())
                seen.add((pair.rule.id, pair.alternative, got))
    assert np.bincount([one for *_, one in seen], minlength=4).min() > 5, "each of the four answers was given"


@pytest.mark.parametrize(
    "wrong",
    [
        Has("No.Such"),
        Compare("lt", Field("UserHeader.SourceQueueManager"), Const(NULL)),
        Compare("eq", Field("MessagePropertiesHeader.Label"), Const(5)),
        Compare("eq", Field("MessagePropertiesHeader.Label"), Const("ß")),
        Compare("eq", Field("Packet.SessionHeaderPlacement"), Const("beside")),
        Compare("eq", Field("TransactionHeader.TxSequenceID"), Const(5)),
        Compare("eq", Field("BaseHeader.PacketSize"), Const("5")),
        In(Field("MessagePropertiesHeader.MessageBody"), (1,)),
        ByteAt("MessagePropertiesHeader.Label", 1),
        Begins("MessagePropertiesHeader.MessageBody", "a"),
    ],
    ids=lambda wrong: type(wrong).__name__,
)
def test_a_tree_there_is_no_code_for_is_an_error(wrong: Expr) -> None:
    with pytest.raises(UnknownShapeError):
        groups_of([Rule("MADE-0.up", wrong, Const(True), Mutation())], SHAPES)


EVERY, START = 127, 7
_odd = compiled(ODD)


@pytest.fixture(scope="module")
def sieve() -> Sieve:
    return Sieve(column_judge(()))


@pytest.fixture(scope="module")
def strange() -> list[Packet]:
    """Changed packets that cannot be decoded, or only oddly: some of every group."""
    found = [dissect(one.data, transport="buffer") for at, one in enumerate(changes()) if at % EVERY == START]
    return [one for one in found if (one.trouble or _odd(one.fields)) and "UserHeader.Flags" in one.fields]


def test_what_is_known_of_a_hypothesis(sieve: Sieve, strange: Sequence[Packet]) -> None:
    """One that is sorted out cannot be decoded; of one that is judged, the other path says the same."""
    known: Counter[str] = Counter()
    for packet in strange:
        some = [one.data for one in hypotheses(packet)][:AT_ONCE]
        for data, sifted in zip(some, sieve(some) if some else (), strict=True):
            right = dissect(data, transport="buffer")
            if isinstance(sifted, bool):
                known["unreadable" if sifted else "open"] += 1
                assert right.trouble or not sifted, data.hex()
                continue
            known["judged"] += 1
            assert right.whole, data.hex()
            assert not _odd(right.fields), data.hex()
            for readings, level in (("permissive", "must"), ("strict", "must"), ("permissive", "should")):
                assert sifted(readings, level) == _Failing("buffer")(right, readings, level), data.hex()
    assert known["unreadable"] > known["open"] > 0
    assert known["judged"] > len(strange) / 4


def test_causes_are_the_same(sieve: Sieve, strange: Sequence[Packet]) -> None:
    """The verdicts, in their order, and what the search has cost."""
    readings = assignment("windows")
    blamed = searched = 0
    for packet in strange:
        with_, without = Search(sieve=sieve), Search()
        one, other = (
            list(
                judge_dissected(packet, profile="msmq-4.0", readings=readings, transport="buffer", frame=7, search=how)
            )
            for how in (with_, without)
        )
        assert one == other, packet.data.hex()
        assert [verdict.rule for verdict in one] == [verdict.rule for verdict in other]
        assert with_.left == without.left
        searched += with_.left < Search().left
        blamed += any("consequence" in (verdict.reason or "") for verdict in one)
    assert blamed > len(strange) / 4
    assert searched > len(strange) / 2


def test_few_hypotheses_are_decoded(sieve: Sieve, strange: Sequence[Packet], monkeypatch: pytest.MonkeyPatch) -> None:
    """A sieve that leaves all open would give the same verdicts and save nothing."""
    decoded: Counter[str] = Counter()
    told = ""

    def counting(data: bytes, *, transport: str | None = None) -> Packet:
        decoded[told] += 1
        return dissect(data, transport=transport)

    def open_(packets: Sequence[bytes]) -> Sequence[Sifted]:
        return [False] * len(packets)

    monkeypatch.setattr("conformance.judge.packets.diagnosis.dissect", counting)
    for told, how in (("some", sieve), ("all", open_)):  # noqa: B007
        for packet in strange:
            judge_dissected(packet, profile="msmq-4.0", transport="buffer", search=Search(sieve=how))
    assert decoded["some"] < decoded["all"] / 2
