"""Hypothesis strategies for texts of a grammar's rules and for near misses, and texts in pieces."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from hypothesis import assume
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from conformance.grammar.abnf import Alt, Chars, Grammar, Lit, Node, Prose, Ranges, Ref, Rep, Seq, single
from conformance.grammar.automaton import dfa

BOUNDARIES = (1, 2, 31, 32, 33, 124, 125, 255, 256, 257)
"""Lengths at which the rules of MS-MQMQ 2.1 change, and their neighbours."""

_COMPUTERS = ("HOST", "h", "host.example.com", "WIN-7Q2A", "10.0.0.1", ".")
_QUEUES = (
    "orders",
    "q",
    "Orders-2024.Inbound",
    "private",
    "my_queue",
    "$",
    "system",
    "JOURNAL",
    "private$",
    "system$x",
)
WORDS: Mapping[str, tuple[str, ...]] = {
    "computer": _COMPUTERS,
    "oscomputer": _COMPUTERS,
    "webhost": ("host", "host.example.com", "10.0.0.1", "[::1]"),
    "ipv4address": ("10.0.0.1", "127.0.0.1", "255.255.255.255"),
    "ipv6address": ("::1", "2001:db8::7", "fe80::1:2:3:4", "::ffff:10.0.0.1"),
    "queuename": _QUEUES,
    "directqueuename": _QUEUES,
    "webqueuename": _QUEUES,
    "subqueue": ("late", "s", "a.b-c"),
    "domainname": ("example.com", "corp.example.com", "x"),
    "guid": ("0123ABCD-4567-89ab-CDEF-0123456789ab", "00000000-0000-0000-0000-000000000000"),
    "port": ("0", "80", "1801", "65535"),
}
"""Realistic texts, by case-folded rule name; those that a grammar does not derive are left out."""

LOOKALIKES: Mapping[str, str] = {
    "s": "\u017f",  # folds to s
    "k": "\u212a",  # the Kelvin sign, lower-cases to k
    "i": "\u0131",  # upper-cases to I
    "o": "\u043e",  # Cyrillic
    "a": "\uff41",  # full width
    "0": "\u0660",  # a digit to str.isdigit
    "1": "\uff11",
    "\\": "\uff3c",
    "=": "\uff1d",
    ":": "\uff1a",
    ";": "\u037e",  # normalises to a semicolon
    ",": "\uff0c",
    ".": "\u3002",
    "-": "\u2010",
    "$": "\uff04",
    "@": "\uff20",
}
ALIENS = (
    *("\x00", "\x01", "\t", "\n", "\r", "\x1b", "\x7f", "\x85", "\xa0", "\xad", "\u200b", "\u202e", "\u2028", "\ufeff"),
    *("\ud800", "\udc00", "\ufffe", "\uffff", "\u0301", "\U0001f4ec", "\U0010ffff", "é", "注", "\u017f", "\u212a"),
)
"""Characters that parsers often get wrong: control, invisible, line ends, surrogates, those changed by case folding."""

_MANY = 4  # the usual most repetitions, beyond the least, of more than one character
_SMALL_BOUND = 16  # bounds up to this are tried even for repetitions of more than one character


class _Maker:
    """Makes the strategies of the nodes of one grammar, once per rule."""

    def __init__(self, grammar: Grammar, words: Mapping[str, tuple[str, ...]]) -> None:
        self.grammar, self.words = grammar, words
        self.rules: dict[str, SearchStrategy[str]] = {}

    def rule(self, name: str) -> SearchStrategy[str]:
        key = name.casefold()
        if key not in self.rules:
            node = self.grammar.rule(name).node
            made: list[SearchStrategy[str]] = []
            self.rules[key] = st.deferred(lambda: made[0])
            made.append(self.with_words(key, self.node(node)))
        return self.rules[key]

    def with_words(self, key: str, others: SearchStrategy[str]) -> SearchStrategy[str]:
        words = self.words.get(key, ())
        if not words:
            return others
        known = dfa(self.grammar, key)
        usable = [word for word in words if known.accepts(word)]
        return st.sampled_from(usable) | others if usable else others

    def node(self, node: Node) -> SearchStrategy[str]:
        one = single(self.grammar, node)
        if one:
            return characters(one)
        match node:
            case Lit(text, sensitive):
                return st.just(text) if sensitive else cased(text)
            case Chars(ranges):
                return characters(ranges)
            case Seq(items):
                return st.tuples(*map(self.node, items)).map("".join)
            case Alt(items):
                return st.one_of([self.node(each) for each in items])
            case Rep():
                return self.repeated(node)
            case Ref(name):
                return self.rule(name)
            case Prose(text):
                raise ValueError(f"<{text}> is prose: no text can be generated from it")

    def repeated(self, node: Rep) -> SearchStrategy[str]:
        inner = self.node(node.node)
        most = node.most
        if single(self.grammar, node.node):
            piece = st.lists(inner, min_size=1, max_size=8).map("".join)
            return st.builds(_stretched, piece, lengths(node.least, most))
        usual = node.least + _MANY if most is None else min(most, node.least + _MANY)
        usually = st.lists(inner, min_size=node.least, max_size=usual).map("".join)
        if most is not None and usual < most <= _SMALL_BOUND:
            return usually | st.lists(inner, min_size=most, max_size=most).map("".join)
        return usually


def texts(grammar: Grammar, rule: str, *, words: Mapping[str, tuple[str, ...]] = WORDS) -> SearchStrategy[str]:
    """Generate texts that a rule derives: realistic words, all alternatives, both cases, and lengths at the bounds."""
    return _Maker(grammar, words).rule(rule)


def characters(ranges: Ranges) -> SearchStrategy[str]:
    """Generate one character of the ranges: readable ones, the ends of the ranges, and any."""
    plain = [chr(code) for code in b"a0AzZ9q5.-_" if any(low <= code <= high for low, high in ranges)]
    ends = [chr(code) for low, high in ranges for code in (low, high)]
    anything = [st.integers(low, high).map(chr) for low, high in ranges]
    return st.one_of([*([st.sampled_from(plain)] if plain else []), st.sampled_from(ends), *anything])


def cased(text: str) -> SearchStrategy[str]:
    """Generate a literal unchanged, in one case, or in mixed case (ASCII letters only)."""
    if not any(char.isascii() and char.isalpha() for char in text):
        return st.just(text)
    mixed = st.lists(st.booleans(), min_size=len(text), max_size=len(text)).map(lambda flips: _flipped(text, flips))
    return st.sampled_from([text, _flipped(text, [True] * len(text))]) | mixed


def lengths(least: int, most: int | None) -> SearchStrategy[int]:
    """Generate a length within the bounds: short, at a bound, or where another rule changes."""
    top = 300 if most is None else most
    turning = sorted({n for n in (*BOUNDARIES, least, least + 1, top - 1, top) if least <= n <= top})
    short = st.integers(least, min(top, least + 12))
    return short | st.sampled_from(turning) if turning else short


def _stretched(piece: str, length: int) -> str:
    return (piece * (length // len(piece) + 1))[:length]


def _flipped(text: str, flips: Sequence[bool]) -> str:
    return "".join(char.swapcase() if flip and char.isascii() else char for char, flip in zip(text, flips, strict=True))


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


__all__ = ["Miss", "Piece", "in_pieces", "lookalikes", "misses"]
