"""Texts of a rule in pieces, each named after the rule it was made from, so that an edit shows which rule it broke."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass

from hypothesis import assume
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from conformance.grammar.strategies import ALIENS, LOOKALIKES, WORDS, cased, texts
from conformance.grammar.tree import Alt, Grammar, Lit, Node, Ref, Rep, Seq

__all__ = ["Miss", "Piece", "in_pieces", "lookalikes", "misses"]

_TRIES = 8  # edits of one text: a long field accepts most of them
_LONGER = (1, 2, 9, 33, 125, 257)
_INSERTS = (*'\\;,=:@.$- /"+0aZ', *(char for char in ALIENS if not "\ud800" <= char <= "\udfff"))


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a text. rule: the case-folded name of the rule, or the literal in double quotes as in a grammar."""

    rule: str
    text: str


@dataclass(frozen=True, slots=True)
class Miss:
    """A text one edit away from a text of the rule. rule, piece: the edited piece and its new text.

    origin: the original text; edit: the kind of edit.
    """

    text: str
    rule: str
    piece: str
    origin: str
    edit: str


Pieces = tuple[Piece, ...]


def in_pieces(
    grammar: Grammar, rule: str, whole: Collection[str], *, words: Mapping[str, tuple[str, ...]] = WORDS
) -> SearchStrategy[Pieces]:
    """Generate texts of a rule in pieces. whole: case-folded names of the rules that are one piece each.

    Every other rule reached must be made of literals, of rules in `whole`, and of sequences, alternatives and
    repetitions of these; ValueError otherwise.
    """
    found: dict[str, SearchStrategy[str]] = {}

    def made(node: Node) -> SearchStrategy[Pieces]:
        match node:
            case Lit(text):
                return cased(text).map(lambda spelled: (Piece(f'"{text.casefold()}"', spelled),))
            case Seq(items):
                return st.tuples(*map(made, items)).map(_joined)
            case Alt(items):
                return st.one_of([made(each) for each in items])
            case Rep(least, most):
                some = least + 3 if most is None else min(most, least + 3)
                return st.lists(made(node.node), min_size=least, max_size=some).map(_joined)
            case Ref(name):
                key = name.casefold()
                if key not in whole:
                    return made(grammar.rule(name).node)
                if key not in found:
                    found[key] = texts(grammar, name, words=words)
                return found[key].map(lambda spelled: (Piece(key, spelled),))
        raise ValueError(f"{rule} has characters outside the rules that are one piece")

    return made(grammar.rule(rule).node)


def _joined(parts: Collection[Pieces]) -> Pieces:
    return tuple(piece for part in parts for piece in part)


def misses(valid: SearchStrategy[Pieces], wanted: Callable[[Miss], bool]) -> SearchStrategy[Miss]:
    """Generate texts with one piece edited. wanted: accepts a miss that is a useful one."""

    @st.composite
    def build(draw: st.DrawFn) -> Miss:
        pieces = draw(valid)
        for _ in range(_TRIES):
            miss = _edited(draw, pieces)
            if miss.text != miss.origin and wanted(miss):
                return miss
        assume(False)
        raise AssertionError("assume returned")  # pragma: no cover

    return build()


def _edited(draw: st.DrawFn, pieces: Pieces) -> Miss:
    at = draw(st.integers(0, len(pieces) - 1))
    text = pieces[at].text
    edit = draw(st.sampled_from(("insert", "insert", "replace", "delete", "double", "lookalike", "empty", "longer")))
    place = draw(st.integers(*_places(pieces, at)))
    here, after = text[place : place + 1], text[place + 1 :]
    if edit == "insert" or not text:
        changed = text[:place] + draw(st.sampled_from(_INSERTS)) + text[place:]
    elif edit == "replace":
        changed = text[:place] + draw(st.sampled_from(_INSERTS)) + after
    elif edit == "delete":
        changed = text[:place] + after
    elif edit == "double":
        changed = text[:place] + here + text[place:]
    elif edit == "lookalike":
        changed = text[:place] + LOOKALIKES.get(here.lower(), here) + after
    elif edit == "empty":
        changed = ""
    else:
        changed = text + text[-1] * draw(st.sampled_from(_LONGER))
    return _miss(pieces, at, changed, edit)


def _places(pieces: Pieces, at: int) -> tuple[int, int]:
    """Return where a piece may be edited: text between a literal and another piece belongs to the latter."""
    literal = pieces[at].rule.startswith('"')
    last = at == len(pieces) - 1
    behind = last or (not literal and pieces[at + 1].rule.startswith('"'))
    least = 1 if literal and at else 0
    most = len(pieces[at].text) - (0 if behind else 1)
    return min(least, max(most, 0)), max(most, 0)


def _miss(pieces: Pieces, at: int, changed: str, edit: str) -> Miss:
    before, after = "".join(piece.text for piece in pieces[:at]), "".join(piece.text for piece in pieces[at + 1 :])
    return Miss(before + changed + after, pieces[at].rule, changed, before + pieces[at].text + after, edit)


def lookalikes(grammar: Grammar, rule: str, words: Mapping[str, str], spoiled: Collection[str]) -> Iterator[Miss]:
    """Yield, for each way through a rule, each letter or mark replaced by its look-alike, in both cases.

    Nothing is random: all replacements are yielded. words: a text for each case-folded rule that is one piece. spoiled:
    those of them that are edited beside the literals, because the rule restricts their characters.
    """
    for pieces in _examples(grammar, Ref(rule), words):
        for at, piece in enumerate(pieces):
            if not piece.rule.startswith('"') and piece.rule not in spoiled:
                continue
            for spelled in dict.fromkeys((piece.text, piece.text.lower())):
                for place, char in enumerate(spelled):
                    like = LOOKALIKES.get(char.lower())
                    if like:
                        yield _miss(pieces, at, spelled[:place] + like + spelled[place + 1 :], "lookalike")


def _examples(grammar: Grammar, node: Node, words: Mapping[str, str]) -> Iterator[Pieces]:
    """Yield a text for each way through the alternatives; optional parts are present once."""
    match node:
        case Lit(text):
            yield (Piece(f'"{text.casefold()}"', text),)
        case Seq(items):
            ways: list[Pieces] = [()]
            for item in items:
                ways = [before + after for before in ways for after in _examples(grammar, item, words)]
            yield from ways
        case Alt(items):
            for item in items:
                yield from _examples(grammar, item, words)
        case Rep():
            yield from _examples(grammar, node.node, words)
        case Ref(name) if name.casefold() in words:
            yield (Piece(name.casefold(), words[name.casefold()]),)
        case Ref(name):
            yield from _examples(grammar, grammar.rule(name).node, words)
        case _:
            raise ValueError("a character that belongs to no rule with a word")
