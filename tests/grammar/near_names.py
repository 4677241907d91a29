"""Texts that are nearly names: one edit away from one, or with a character that parsers often get wrong."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hypothesis import assume
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from conformance.grammar.strategies import ALIENS, LOOKALIKES


@dataclass(frozen=True, slots=True)
class Edited:
    """A text that is one edit away from a text of a rule. origin: that text; edit: the kind of edit."""

    text: str
    origin: str
    edit: str


def near_misses(
    valid: SearchStrategy[str], outside: Callable[[str], bool], *, inserts: Sequence[str] = ()
) -> SearchStrategy[Edited]:
    """Generate texts one edit away from a valid one that `outside` proves invalid.

    outside: the proof, preferably by another parser than the one that is judged. inserts: characters to insert beside
    those of the text itself, the separators of names, look-alikes and aliens.
    """
    pool = st.sampled_from([*'\\;,=:@.$- /"+0aZ', *inserts]) | st.sampled_from(ALIENS)

    @st.composite
    def build(draw: st.DrawFn) -> Edited:
        origin = draw(valid)
        # Several edits are tried on one text: a text of one long field accepts most edits.
        for _ in range(8):
            edited = _edit(draw, origin, pool)
            if edited.text != origin and outside(edited.text):
                return edited
        assume(False)
        raise AssertionError("assume returned")  # pragma: no cover

    return build()


def with_aliens(valid: SearchStrategy[str]) -> SearchStrategy[str]:
    """Generate valid texts with one alien or look-alike inserted; the grammar decides their validity."""

    @st.composite
    def build(draw: st.DrawFn) -> str:
        text = draw(valid)
        likes = [at for at, char in enumerate(text) if char.lower() in LOOKALIKES]
        if draw(st.booleans()) and likes:
            at = draw(st.sampled_from(likes))
            return text[:at] + LOOKALIKES[text[at].lower()] + text[at + 1 :]
        at = draw(st.integers(0, len(text)))
        return text[:at] + draw(st.sampled_from(ALIENS)) + text[at + draw(st.integers(0, 1)) :]

    return build()


def _edit(draw: st.DrawFn, text: str, pool: SearchStrategy[str]) -> Edited:
    kinds = ["insert", "double"] if not text else ["insert", "delete", "replace", "double", "lookalike"]
    kind = draw(st.sampled_from(kinds))
    if kind == "insert" or not text:
        at = draw(st.integers(0, len(text)))
        return Edited(text[:at] + draw(pool) + text[at:], text, "insert")
    marks = [at for at, char in enumerate(text) if not char.isalnum()]
    at = draw(st.sampled_from(marks)) if draw(st.booleans()) and marks else draw(st.integers(0, len(text) - 1))
    if kind == "delete":
        return Edited(text[:at] + text[at + 1 :], text, kind)
    if kind == "double":
        return Edited(text[: at + 1] + text[at:], text, kind)
    if kind == "lookalike":
        at = draw(st.sampled_from([i for i, char in enumerate(text) if char.lower() in LOOKALIKES] or [at]))
        return Edited(text[:at] + LOOKALIKES.get(text[at].lower(), "\x00") + text[at + 1 :], text, kind)
    return Edited(text[:at] + draw(pool) + text[at + 1 :], text, kind)
