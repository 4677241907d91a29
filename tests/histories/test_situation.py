"""The numbering of situations, and the file of the book."""

from __future__ import annotations

import zlib
from pathlib import Path

import pytest

from conformance.histories.features.feature import Feature
from conformance.histories.situations import book as books
from conformance.histories.situations.book import Book, BookError, Planned, packed, unpacked
from conformance.histories.situations.situation import Space, UnknownSituation
from conformance.model import Call, State


def _feature(name: str, *values: str) -> Feature:
    return Feature(name, values, lambda state, call: getattr(call, name), ())


TABLE = {
    "messages.receive": (
        _feature("name", "w", "v"),
        _feature("queue", "q"),
        _feature("handle", "r", "s", "t"),
        _feature("cursor", "c"),
    ),
    "queues.close": (_feature("handle", "r", "s"),),
    "clock.now": (),
}
SPACE = Space(TABLE, frozenset({"messages.receive"}))
STATE = State()


def test_every_situation_has_one_number() -> None:
    pairs, triples = 2 + 6 + 2 + 3 + 1 + 3, 6 + 2 + 6 + 3
    assert SPACE.count == pairs + triples + 2
    every = [each for method in TABLE for each in SPACE.all_of(method)]
    assert [each.number for each in every] == list(range(SPACE.count))
    assert every == [SPACE.situation(number) for number in range(SPACE.count)]
    assert every == [SPACE.named(str(each)) for each in every]
    assert len(SPACE.pairs("messages.receive")) == pairs
    assert [len(SPACE.of_method(method)) for method in TABLE] == [pairs + triples, 2, 0]


def test_a_call_meets_each_combination_of_its_values() -> None:
    met = SPACE.met(STATE, Call("messages.receive", name="v", queue="q", handle="t"))
    assert [str(SPACE.situation(number)) for number in met] == [
        "messages.receive: name=v, queue=q",
        "messages.receive: name=v, handle=t",
        "messages.receive: queue=q, handle=t",
        "messages.receive: name=v, queue=q, handle=t",
    ]
    assert dict(SPACE.parts("messages.receive"))[met[-1]] == met[:-1]
    assert SPACE.met(STATE, Call("clock.now")) == SPACE.met(STATE, Call("restart")) == ()
    assert [str(SPACE.situation(at)) for at in SPACE.met(STATE, Call("queues.close", handle="s"))] == [
        "queues.close: handle=s"
    ]


@pytest.mark.parametrize(
    "name",
    [
        "",
        "-1",
        "9999999999999999999999999",
        "messages.receive",
        "messages.receive: name=v",
        "messages.receive: name=v, name=w",
        "messages.receive: name=v, handle=x",
        "messages.receive: name=v, other=x",
        "queues.open: name=v, handle=x",
        "\u0663",
    ],
)
def test_an_unknown_name_is_told(name: str) -> None:
    with pytest.raises(UnknownSituation):
        SPACE.named(name)


def test_a_value_outside_the_table_meets_nothing_and_is_noted() -> None:
    space = Space(TABLE, frozenset())
    met = space.met(STATE, Call("messages.receive", handle="x", name="v", queue="q"))
    assert [str(space.situation(number)) for number in met] == ["messages.receive: name=v, queue=q"]
    assert space.strays == {("messages.receive", "handle", "x")}


BOOK = Book(
    SPACE.digest,
    (
        Planned(
            0,
            (Call("queues.create", queue="q"), Call("messages.receive", handle="r", values=(("a", 1),))),
            ((), (3, 5, 9)),
            True,
            frozenset({"queues.create", "messages.receive"}),
            0,
        ),
        Planned(1, (Call("queues.create", queue="q"),), ((7,),), False, frozenset({"queues.create"}), 40),
    ),
    {1: "scope a", 2: "scope b", 8: "scope a"},
)


def test_a_book_is_read_as_it_was_written() -> None:
    assert unpacked(packed(BOOK), "book") == BOOK


def test_a_damaged_book_is_told_in_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(books, "space", lambda: SPACE)
    raw = packed(BOOK)
    plain = zlib.decompress(raw)
    path = tmp_path / "book.zlib"
    path.write_bytes(raw)
    assert books.read(path) == BOOK
    bad = [raw[:at] for at in range(0, len(raw), 7)] + [
        zlib.compress(plain[:-4]),
        zlib.compress(b"[]\n"),
        zlib.compress(b"{}"),
        zlib.compress(b"\xff\n"),
    ]
    for content in bad:
        path.write_bytes(content)
        with pytest.raises(BookError, match=r"book\.zlib is damaged"):
            books.read(path)
    path.write_bytes(zlib.compress(plain.replace(SPACE.digest.encode(), b"0" * 16)))
    with pytest.raises(BookError, match="other feature tables"):
        books.read(path)
    path.write_bytes(zlib.compress(plain.replace(b'"format":1', b'"format":2')))
    with pytest.raises(BookError, match="another format"):
        books.read(path)
    path.unlink()
    with pytest.raises(BookError, match="cannot be read"):
        books.read(path)
