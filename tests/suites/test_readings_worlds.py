"""Unions of boxes: what belongs together stays together, and too many boxes never rule out what was possible."""

from __future__ import annotations

from itertools import product

import pytest

from conformance.histories.inference import probing
from conformance.histories.inference.probing import Worlds

AB = ("a", "b")


def box(**named: str) -> dict[str, frozenset[str]]:
    return {reading: frozenset(alternatives) for reading, alternatives in named.items()}


def test_an_answer_about_one_decides_the_other() -> None:
    either = Worlds.of([box(R="a"), box(S="b")])
    assert (either.possible("R", AB), either.possible("S", AB)) == (AB, AB)
    told = either.meet(Worlds.of([box(R="b")]))
    assert (told.possible("R", AB), told.possible("S", AB)) == (("b",), ("b",))


def test_what_nothing_explains_is_empty() -> None:
    assert Worlds.of([box(R="a")]).meet(Worlds.of([box(R="b")])).empty
    assert not Worlds().empty


def test_a_box_inside_another_is_dropped() -> None:
    assert Worlds.of([box(R="a", S="a"), box(R="a"), box(R="ab", S="a")]).boxes == (box(R="a"), box(R="ab", S="a"))


def test_an_alternative_is_ruled_out() -> None:
    assert Worlds().without("R", "a", AB).possible("R", AB) == ("b",)
    assert Worlds.of([box(R="a")]).without("R", "a", AB).empty


def test_too_many_boxes_keep_all_that_was_possible(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probing, "MAX_BOXES", 4)
    names = ("R", "S", "T")
    each = [box(**dict(zip(names, chosen, strict=True))) for chosen in product("ab", repeat=3) if len(set(chosen)) > 1]
    joined = Worlds.of(each)
    assert len(joined.boxes) <= 4
    for one in each:
        assert not joined.meet(Worlds.of([one])).empty
    assert Worlds.of(each[:4]).meet(Worlds.of([box(R="a", S="a", T="a")])).empty
