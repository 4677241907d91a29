"""Random texts of a regular rule: walks through its automaton. Deterministic for a seed."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from conformance.grammar.automaton import Dfa

__all__ = ["generate", "mutations"]

# These are likelier than their share where many characters fit: edges of the alphabets and of keywords.
_ALIEN = ("\x00", "\t", " ", '"', "+", ",", ";", "\\", "/", ":", "\x7f", "é", "\ud800", "\U0001f600")


def generate(rule: Dfa, *, count: int, seed: int = 0, length: int = 300) -> Iterator[str]:
    """Yield texts of the rule, of at most about `length` characters, with varied lengths and characters."""
    random = Random(seed)
    distance = _distances(rule)
    for _ in range(count):
        yield _walk(rule, random, distance, random.choice((8, 24, 60, 150, length)))


def _walk(rule: Dfa, random: Random, distance: list[int], length: int) -> str:
    spans, within, ranges = rule.classes.spans, rule.classes.within, rule.positions.ranges
    candidates, ends = rule.positions.first, rule.positions.empty
    text: list[str] = []
    while candidates:
        if ends and (len(text) >= length or random.random() < 0.05):
            break
        if len(text) >= length:
            nearest = min(distance[at] for at in candidates)
            candidates = tuple(at for at in candidates if distance[at] == nearest)
        at = random.choice(candidates)
        kind = random.choice(within[ranges[at]])
        text.append(_char(random, spans[kind]))
        candidates, ends = rule.positions.follow[at], rule.positions.last[at]
    return "".join(text)


def _char(random: Random, spans: tuple[tuple[int, int], ...]) -> str:
    low, high = random.choice(spans)
    return chr(random.choice((low, high, random.randint(low, min(high, low + 90)), random.randint(low, high))))


def _distances(rule: Dfa) -> list[int]:
    """Return, for each position, the number of characters from it to the nearest end."""
    follow, last = rule.positions.follow, rule.positions.last
    before: list[list[int]] = [[] for _ in follow]
    for at, nexts in enumerate(follow):
        for to in nexts:
            before[to].append(at)
    distance = [0 if ends else -1 for ends in last]
    ring = [at for at, ends in enumerate(last) if ends]
    step = 0
    while ring:
        step += 1
        ring = list(dict.fromkeys(at for to in ring for at in before[to] if distance[at] < 0))
        for at in ring:
            distance[at] = step
    return distance


def mutations(text: str, *, count: int, seed: int = 0) -> Iterator[str]:
    """Yield texts one edit away: a character added, left out, changed, doubled, in the other case, or two exchanged."""
    random = Random(seed)
    for _ in range(count):
        at = random.randrange(len(text) + 1)
        alien = random.choice((*_ALIEN, *text[:1], chr(random.randint(0x20, 0x7E))))
        head, here, tail = text[:at], text[at : at + 1], text[at + 1 :]
        yield random.choice(
            (
                head + alien + here + tail,
                head + tail,
                head + alien + tail,
                head + here * 2 + tail,
                head + here.swapcase() + tail,
                head[:-1] + here + head[-1:] + tail,
            )
        )
