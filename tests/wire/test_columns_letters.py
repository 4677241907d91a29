"""Emitted code that compares names, run as the Python it is: like `lower` and `upper`, for every letter there is."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from conformance.wire.columns.walkers import FOLDED, UNKNOWN, direct_name, ends_with, starts_with

LETTERS = [chr(code) for code in range(1, 0x10000) if not 0xD800 <= code < 0xE000]
FOLDING = [chr(code) for first, last in FOLDED for code in range(first, last + 1)]


def run(source: str, name: str) -> Callable[[str], int]:
    """The function of this name, of a text."""
    here = bytearray()

    def word(size: int) -> Callable[[int], int]:
        return lambda at: int.from_bytes(here[at : at + size], "little", signed=size == 8)

    found = {"u16": word(2), "u64": word(8), "select": lambda so, one, other: one if so else other}
    exec(source, found)

    def of(text: str) -> int:
        raw = text.encode("utf-16-le")
        here[:] = bytes(8) + raw + bytes(16)
        return found[name](8, len(raw) // 2)  # type: ignore[operator]

    return of


def test_the_letters_that_become_an_ascii_one_are_these() -> None:
    beyond = [letter for letter in LETTERS if ord(letter) > 127]
    folded = {letter for letter in beyond if any(one.isascii() for one in letter.lower() + letter.upper())}
    assert folded == set(FOLDING)
    wide = map(chr, range(0x10000, 0x110000, 7))
    assert not any(one.isascii() for letter in wide for one in letter.lower() + letter.upper())


@pytest.mark.parametrize(("emit", "at"), [(starts_with, 0), (starts_with, 5), (ends_with, 0), (ends_with, 6)])
def test_each_letter_at_a_place_decides_as_in_python(emit: Callable[[str, str], str], at: int) -> None:
    compare = run(emit("compared", "SYSTEM$"), "compared")
    unknown = 0
    for letter in {*LETTERS[:0x250], *LETTERS[0x250::17], *FOLDING}:
        text = "abc" * (emit is ends_with) + "sYsTeM$"[:at] + letter + "sYsTeM$"[at + 1 :]
        ways = {(text.upper(), "SYSTEM$"), (text.lower(), "system$")}
        said = {getattr(one, "startswith" if emit is starts_with else "endswith")(other) for one, other in ways}
        found = compare(text)
        unknown += found == UNKNOWN
        assert found == UNKNOWN or said == {bool(found)}, letter
    assert 0 < unknown < 50


def test_a_queue_whose_name_begins_with_an_umlaut_has_a_usual_name() -> None:
    usual = run(direct_name("usual"), "usual")
    assert usual("OS:host\\private$\\äpfel") == usual("TCP:192.0.2.1\\€") == usual("OS:host\\private$\\orders") == 1
    assert usual("OS:host\\ſystem$") == usual("OS:host\\private$\\ßystem$") == usual("OS:hößt\\q") == UNKNOWN
