"""Makes stable words for requirement ids from the identifiers of an item, unique within its section.

Two items whose words would be equal both get longer ones, from text that only one of them has, so that neither depends
on the order of the two.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence

Group = tuple[str, ...]

_PIECES = re.compile(r"0[xX][0-9A-Fa-f]+|[A-Z]+(?![a-z])\d*|[A-Z]?[a-z]+\d*|\d+")
_TOKEN = re.compile(r"0[xX][0-9A-Fa-f]+|[A-Za-z_][\w$.]*[\w$]|[A-Za-z]|\d[\d,]*")
_CITED = re.compile(r"\(?\[M[SC]-\w+\]\)?|\(?sections? ?\d[\d.]*\)?")
_IDENTIFIER = re.compile(r"[a-z][A-Z]|_|^0[xX]|^[A-Z]{2,}|\w\.\w")
_SMALL = (
    "a an the of to in on at by for from with as and or is are be been being was were it its this that "
    "these those which whose who will can could has have had do does done if then else must should may "
    "not any all each other such than when where there following value values field set specified section "
    "above below between into one only same using used described defined element instance adm attribute "
    "argument reference referenced referred perform actions action process event i e g no further take "
)
_STOP = frozenset(_SMALL.split())
_FIRST = 4
_MANY = 8


def spelled(identifier: str) -> Group:
    """Split `LookupIdentifier` into (`lookup`, `identifier`), without the prefixes i and r of arguments and results."""
    bare = re.sub(r"\b[ir](?=[A-Z][a-z])", "", identifier)
    return tuple(piece.lower() for piece in _PIECES.findall(bare.replace("_", " ")))


def groups(text: str, marked: Sequence[str] = ()) -> list[Group]:
    """Return the topic words of `text`: first word, identifiers in order, then the other words that carry meaning."""
    bare = _CITED.sub(" ", text)
    known = {word for mark in marked for word in _TOKEN.findall(mark)}
    first: list[Group] = []
    names: list[Group] = []
    rest: list[Group] = []
    for token in _TOKEN.findall(bare):
        named = token in known or _IDENTIFIER.search(token)
        meaning = token.lower() not in _STOP
        if named and (meaning or token in known) and token not in ("MUST", "NOT", "SHOULD", "MAY"):
            names.append(spelled(token))
        elif meaning and token.lower() not in ("must", "not", "should", "may"):
            (rest if first else first).append(spelled(token))
    found = [group for group in dict.fromkeys(first + names + rest) if group]
    if len(found) > 1:
        return found
    # A sentence of only common words leaves nothing; then the small words are used.
    small = [spelled(token) for token in _TOKEN.findall(bare) if token.lower() not in ("the", "a", "an", "must")]
    return [group for group in dict.fromkeys(small) if group]


def identifiers(text: str, marked: Sequence[str] = ()) -> list[str]:
    """Return the identifiers in `text` as the document writes them, each once, in order."""
    known = {word for mark in marked for word in _TOKEN.findall(mark)}
    bare = _CITED.sub(" ", text)
    found = [token for token in _TOKEN.findall(bare) if _IDENTIFIER.search(token) or token in known]
    return [token for token in dict.fromkeys(found) if token.lower() not in _STOP | {"must", "not", "should", "may"}]


def assign(prefixes: Sequence[Group], own: Sequence[Sequence[Group]], spare: Sequence[Sequence[Group]]) -> list[str]:
    """Return a word for each of several different texts; the words differ too, unless nothing distinguishes them.

    prefixes: always part of the word. own: groups to start from, best first. spare: groups to distinguish equal words.
    """
    chosen = [list(_short(body, bool(prefix))) for prefix, body in zip(prefixes, own, strict=True)]
    bodies = [[*body, *more] for body, more in zip(own, spare, strict=True)]
    for _ in range(_MANY):
        words = [_join(prefix, groups_) for prefix, groups_ in zip(prefixes, chosen, strict=True)]
        clashing = clashes(words)
        if not clashing:
            break
        for members in clashing:
            _lengthen(members, chosen, bodies)
    return [_join(prefix, groups_) for prefix, groups_ in zip(prefixes, chosen, strict=True)]


def letters(digest: str) -> str:
    """Return the start of a digest in letters: the last resort for texts that nothing else distinguishes."""
    return "".join(chr(ord("a") + int(digit, 16)) for digit in digest[:4])


def _short(body: Sequence[Group], prefixed: bool) -> list[Group]:
    room = 6
    taken: list[Group] = []
    for group in body[: _FIRST - prefixed]:
        if taken and len(group) > room:
            break
        taken.append(group)
        room -= len(group)
    return taken


def clashes(words: Sequence[str]) -> list[list[int]]:
    """Return the places of each word that occurs more than once."""
    places: dict[str, list[int]] = defaultdict(list)
    for at, word in enumerate(words):
        places[word].append(at)
    return [members for members in places.values() if len(members) > 1]


def _lengthen(members: Sequence[int], chosen: list[list[Group]], bodies: Sequence[Sequence[Group]]) -> None:
    common = Counter(group for at in members for group in set(bodies[at]))
    for at in members:
        telling = [group for group in bodies[at] if group not in chosen[at] and common[group] < len(members)]
        chosen[at].extend(telling[:1])


def _join(prefix: Group, body: Sequence[Group]) -> str:
    pieces = list(prefix)
    for group in body:
        # A word is not repeated directly, as in `queue-format-queue-format-type`.
        pieces.extend(group if pieces[-len(group) :] != list(group) else ())
    word = "-".join(pieces) or "text"
    return f"value-{word}" if word.replace("-", "").isdigit() else word
