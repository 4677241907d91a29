"""`--filter`: which packets of a capture are meant.

`queue=*orders* kind=UserMessage source!=192.0.2.31`: terms `KEY=PATTERN` and `KEY!=PATTERN`, blanks between them
(quote a pattern that has some). A pattern fits letter case apart, `*` any text and `?` any character. A packet is meant
when for each key one of its `=` patterns fits and none of its `!=` patterns does.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import translate

from conformance.capture import Frame

MAX_TEXT = 4096


class SelectionError(ValueError):
    """The filter cannot be understood; one sentence."""


@dataclass(frozen=True, slots=True)
class _Facts:
    frame: Frame
    kind: str
    queue: str | None


def _ends(frame: Frame) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return (str(frame.source), frame.source.address), (str(frame.destination), frame.destination.address)


KEYS: Mapping[str, tuple[str, Callable[[_Facts], tuple[str, ...]]]] = {
    "queue": ("format name of the destination queue", lambda facts: (facts.queue,) if facts.queue else ()),
    "kind": ("UserMessage, OrderAck, FinalAck, SessionAck, ..., Ping, Malformed", lambda facts: (facts.kind,)),
    "source": ("sender, ADDRESS or ADDRESS:PORT", lambda facts: _ends(facts.frame)[0]),
    "destination": ("receiver, ADDRESS or ADDRESS:PORT", lambda facts: _ends(facts.frame)[1]),
    "address": ("either of the two", lambda facts: sum(_ends(facts.frame), ())),
    "connection": ("number of the TCP connection in its capture", lambda facts: _number(facts.frame.connection)),
}
"""What can be asked for: words for the help, and the texts of a packet of which one must fit."""


def _number(connection: int | None) -> tuple[str, ...]:
    return () if connection is None else (str(connection),)


@dataclass(frozen=True, slots=True)
class Selection:
    """A filter that was understood. wanted, unwanted: patterns by key."""

    text: str
    wanted: Mapping[str, tuple[re.Pattern[str], ...]]
    unwanted: Mapping[str, tuple[re.Pattern[str], ...]]

    def means(self, frame: Frame, kind: str, queue: str | None) -> bool:
        """Whether a packet of this kind, for this queue, is meant."""
        facts = _Facts(frame, kind, queue)

        def fits(key: str, patterns: tuple[re.Pattern[str], ...]) -> bool:
            return any(pattern.match(text) for text in KEYS[key][1](facts) for pattern in patterns)

        return all(fits(*term) for term in self.wanted.items()) and not any(
            fits(*term) for term in self.unwanted.items()
        )


def parse(text: str) -> Selection:
    """The filter a text means. Raises SelectionError for an unknown key, with the nearest one."""
    if len(text) > MAX_TEXT:
        raise SelectionError(f"The filter has {len(text):,} characters; {MAX_TEXT:,} are allowed.")
    lexer = shlex.shlex(text, posix=True, punctuation_chars="")
    lexer.whitespace_split, lexer.escape, lexer.commenters = True, "", ""  # A backslash stands for itself.
    try:
        terms = list(lexer)
    except ValueError:
        raise SelectionError(f"The filter {text!r} has a quotation mark without its second one.") from None
    if not terms:
        raise SelectionError("The filter is empty; say for example 'queue=*orders*'.")
    wanted: dict[str, tuple[re.Pattern[str], ...]] = {}
    unwanted: dict[str, tuple[re.Pattern[str], ...]] = {}
    for term in terms:
        key, sign, pattern = term.partition("=")
        negated = key.endswith("!")
        key = key.removesuffix("!").strip().lower()
        if not sign or not pattern:
            raise SelectionError(f"{term!r} is no term of a filter; write KEY=PATTERN, for example queue=*orders*.")
        if key not in KEYS:
            close = get_close_matches(key, KEYS, n=1, cutoff=0.5)
            hint = f"did you mean {close[0]}?" if close else f"one of {', '.join(KEYS)}."
            raise SelectionError(f"A filter has no key {key!r}; {hint}")
        target = unwanted if negated else wanted
        # `[` and `]` stand for themselves: addresses of IPv6 have them.
        literal = re.sub(r"\[", "[[]", pattern)
        target[key] = (*target.get(key, ()), re.compile(translate(literal), re.IGNORECASE))
    return Selection(text, wanted, unwanted)
