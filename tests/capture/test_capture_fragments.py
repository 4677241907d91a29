"""Datagrams in pieces: put together in any order, given up when pieces stay away, never more memory than allowed."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from conformance.capture.network import MAX_DATAGRAMS, MAX_LENGTH, WAIT_NS, Fragment, Fragments


def pieces(data: bytes, size: int = 8, identifier: int = 1) -> list[Fragment]:
    return [
        Fragment("a", "b", 6, identifier, at, at + size >= len(data), data[at : at + size])
        for at in range(0, len(data), size)
    ]


@given(st.binary(min_size=9, max_size=80), st.data())
def test_any_order_and_any_repetition_give_the_datagram_once(data, draws):
    made = pieces(data)
    order = draws.draw(st.permutations(made + draws.draw(st.lists(st.sampled_from(made), max_size=3))))
    fragments = Fragments()
    whole = [found for one in order if (found := fragments.add(0, one)) is not None]
    assert whole[0] == data and set(whole) == {data}


def test_a_missing_piece_is_waited_for_and_given_up():
    first, second, third = pieces(bytes(24))
    fragments = Fragments()
    assert fragments.add(0, first) is None and fragments.add(0, third) is None
    assert fragments.add(WAIT_NS + 1, second) is None
    assert fragments.given_up == 2
    fragments.end()
    assert fragments.given_up == 3


def test_datagrams_do_not_mix():
    fragments = Fragments()
    (one, two), (three, four) = pieces(b"a" * 16, identifier=1), pieces(b"b" * 16, identifier=2)
    assert [fragments.add(0, each) for each in (one, three, two, four)] == [None, None, b"a" * 16, b"b" * 16]


def test_a_hostile_number_of_datagrams_is_bounded():
    fragments = Fragments()
    for identifier in range(MAX_DATAGRAMS * 2):
        fragments.add(0, Fragment("a", "b", 6, identifier, 0, False, bytes(8)))
    assert fragments.given_up == MAX_DATAGRAMS


def test_overlapping_pieces_never_hold_more_than_a_datagram_can():
    fragments = Fragments()
    for at in range(0, MAX_LENGTH, 8):
        fragments.add(0, Fragment("a", "b", 6, 1, at, False, bytes(min(4000, MAX_LENGTH - at))))
        held = sum(waiting.held for waiting in fragments._waiting.values())
        assert held <= MAX_LENGTH + 4000


def test_a_piece_beyond_the_largest_datagram_ends_it():
    fragments = Fragments()
    assert fragments.add(0, Fragment("a", "b", 6, 1, 65_528, True, bytes(8))) is None
    assert fragments.given_up == 1
