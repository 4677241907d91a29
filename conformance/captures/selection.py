"""`--filter`: select packets of a capture.

`queue=*orders* kind=UserMessage source!=192.0.2.31`: terms `KEY=PATTERN` and `KEY!=PATTERN`, separated by blanks (quote
a pattern that contains blanks). A pattern ignores letter case; `*` matches any text and `?` any character. A packet is
selected if for each key one of its `=` patterns matches and none of its `!=` patterns does.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import translate
from typing import Any

from conformance.capture import Frame
from conformance.capture.inputs import LeftOut
from conformance.spec.catalogue import did_you_mean
from conformance.suggest import nearest
from conformance.wire.headers import ACK_BODIES, INTERNAL_PACKETS, MALFORMED, PING_KIND, USER_MESSAGE

MAX_TEXT = 4096
_KINDS = (USER_MESSAGE, *ACK_BODIES, *(kind for kind, _ in INTERNAL_PACKETS.values()), PING_KIND, MALFORMED)


class SelectionError(ValueError):
    """The filter cannot be understood; the message is one sentence."""


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
    "address": ("source or destination", lambda facts: sum(_ends(facts.frame), ())),
    "connection": ("number of the TCP connection in its capture", lambda facts: _number(facts.frame.connection)),
}
"""The keys of a filter: a description for the help, and the texts of a packet of which one must match."""


def _number(connection: int | None) -> tuple[str, ...]:
    return () if connection is None else (str(connection),)


@dataclass(frozen=True, slots=True)
class Selection:
    """A parsed filter. wanted, unwanted: patterns by key."""

    text: str
    wanted: Mapping[str, tuple[re.Pattern[str], ...]]
    unwanted: Mapping[str, tuple[re.Pattern[str], ...]]

    def means(self, frame: Frame, kind: str, queue: str | None) -> bool:
        """Tell whether a packet of this kind, for this queue, is selected."""
        facts = _Facts(frame, kind, queue)

        def fits(key: str, patterns: tuple[re.Pattern[str], ...]) -> bool:
            return any(pattern.match(text) for text in KEYS[key][1](facts) for pattern in patterns)

        return all(fits(*term) for term in self.wanted.items()) and not any(
            fits(*term) for term in self.unwanted.items()
        )


def parse(text: str) -> Selection:
    """Parse a filter. Raises SelectionError; for an unknown key it names the nearest one."""
    if len(text) > MAX_TEXT:
        raise SelectionError(f"The filter has {len(text):,} characters; at most {MAX_TEXT:,} are allowed.")
    lexer = shlex.shlex(text, posix=True, punctuation_chars="")
    lexer.whitespace_split, lexer.escape, lexer.commenters = True, "", ""  # A backslash stands for itself.
    try:
        terms = list(lexer)
    except ValueError:
        raise SelectionError(f"The filter {text!r} has an unclosed quotation mark.") from None
    if not terms:
        raise SelectionError("The filter is empty; give one, for example 'queue=*orders*'.")
    wanted: dict[str, tuple[re.Pattern[str], ...]] = {}
    unwanted: dict[str, tuple[re.Pattern[str], ...]] = {}
    for term in terms:
        key, sign, pattern = term.partition("=")
        negated = key.endswith("!")
        key = key.removesuffix("!").strip().lower()
        if not sign or not pattern:
            raise SelectionError(f"Invalid filter term {term!r}; write KEY=PATTERN, for example queue=*orders*.")
        if key not in KEYS:
            close = nearest(key, KEYS)
            hint = f"did you mean {close}?" if close else f"one of {', '.join(KEYS)}."
            raise SelectionError(f"A filter has no key {key!r}; {hint}")
        target = unwanted if negated else wanted
        # `[` and `]` are literal: IPv6 addresses have them.
        literal = re.sub(r"\[", "[[]", pattern)
        target[key] = (*target.get(key, ()), re.compile(translate(literal), re.IGNORECASE))
        if key == "kind" and not any(map(target[key][-1].match, _KINDS)):
            raise SelectionError(f"There is no kind {pattern!r}{did_you_mean(pattern, _KINDS) or '.'}")
    return Selection(text, wanted, unwanted)


@dataclass(frozen=True, slots=True)
class NotJudged:
    """Packets and rules left out. packets: those no filter selects, and all. option: what leaves out rules."""

    files: LeftOut = field(default_factory=LeftOut)
    packets: tuple[int, int] | None = None
    option: str | None = None

    def lines(self) -> Iterator[str]:
        """Yield a sentence for each."""
        if self.files.sentence is not None:
            yield self.files.sentence
        if self.packets is not None:
            yield f"The filter leaves out {self.packets[0]:,} of {self.packets[1]:,} packets."
        if rules := self._rules():
            alone = [one for one, checked in rules.items() if checked == "packet"]
            told = f"{self.option} leaves out {len(rules)} requirements that the rules of connections judge"
            yield f"{told}, {len(alone)} of them on single packets: {', '.join(alone)}."

    def to_json(self) -> dict[str, Any]:
        """Return it as `--json` prints it."""
        files = {"count": self.files.count, "names": self.files.names}
        return {"files": files, "packets": self.packets and self.packets[0], "rules": list(self._rules())}

    def _rules(self) -> dict[str, str]:
        """Return the requirements that no rule on single packets judges, each with how it is checked."""
        if self.option is None:
            return {}
        from conformance.judge.packets.judge import RULES
        from conformance.judge.sessions.mutations import MUTATIONS
        from conformance.spec.catalogue import catalogue

        ids = {name.partition("/")[0] for name in MUTATIONS} - {rule.id.partition("/")[0] for rule in RULES}
        return {one: catalogue().requirements[one].checked for one in sorted(ids)}
