"""The search for causes says the same whether compiled code judges its hypotheses or every one of them is decoded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pytest
from packet_mutations import changes

from conformance.judge.columns import column_judge
from conformance.judge.columns.judge import Sieve
from conformance.judge.expr import compiled
from conformance.judge.packets.diagnosis import AT_ONCE, Search, Sifted, hypotheses
from conformance.judge.packets.judge import _Failing, judge_dissected
from conformance.judge.packets.message_facts import ODD
from conformance.spec.catalogue import assignment
from conformance.wire import Packet, dissect

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
