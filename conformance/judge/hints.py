"""Recognises publicly documented malformations of packets by their shape, as hints for those who look at captures.

A hint is never a verdict: it does not enter a count, an outcome or an exit code. The list is data (`hints.toml`).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from conformance.judge.packets.judge import facts
from conformance.judge.packets.packet_verdicts import deviating
from conformance.judge.rules import And, Compare, Const, Expr, Field, Or, Run, compiled
from conformance.spec.catalogue import requirement_id
from conformance.verdict import Outcome, Verdict
from conformance.wire import Packet

_CONDITION = re.compile(r"(?P<key>[A-Z][\w.]+) (?P<op>=|!=|<=|>=|<|>) (?:'(?P<text>[^']*)'|(?P<number>\d+))")
_OPERATIONS = {"=": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
_BROKEN = frozenset({Outcome.FAIL, Outcome.WARN})


@dataclass(frozen=True, slots=True)
class Hint:
    """A documented malformation.

    id: a word. names: those of public advisories. says: the shape. when: a condition on the decoded fields of a packet
    and its facts, None without one. verdicts: requirements, one of which the packet has broken. unless: hints that say
    it better. sources: where the shape is documented. cvss: the base score of the advisory, 0 where none was published.
    """

    id: str
    names: tuple[str, ...]
    says: str
    when: Expr | None
    verdicts: frozenset[str]
    unless: frozenset[str]
    sources: tuple[str, ...]
    cvss: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """Return the hint as `--json` prints it."""
        about: dict[str, Any] = {"id": self.id, "names": list(self.names), "says": self.says}
        return {**about, "cvss": self.cvss or None, "sources": list(self.sources)}


@cache
def known_hints() -> Mapping[str, Hint]:
    """Return all hints by id, in the order in which they are looked for."""
    read = tomllib.loads(files(__package__).joinpath("hints.toml").read_text(encoding="utf-8"))
    return {one["id"]: _hint(one) for one in read["hint"]}


def hints(packet: Packet, verdicts: Sequence[Verdict], *, complete: bool) -> tuple[str, ...]:
    """Return the ids of the hints that fit a packet.

    verdicts: those on the packet. complete: the bytes are all that was sent, and not cut by a recorder.
    """
    broken = {verdict.requirement for verdict in deviating(verdicts) if verdict.outcome in _BROKEN}
    fields = facts(packet, "buffer" if complete else "tcp", explain=False)
    found: list[str] = []
    for hint, fits in _ready():
        if not hint.unless.isdisjoint(found):
            continue
        if not hint.verdicts.isdisjoint(broken) or (fits is not None and fits(fields)):
            found.append(hint.id)
    return tuple(found)


def condition(text: str) -> Expr:
    """Parse the text of a condition. Raises ValueError."""
    parts: list[Expr] = []
    for part in text.split(" and "):
        found = _CONDITION.fullmatch(part)
        if found is None:
            raise ValueError(f"no condition of a hint: {part}")
        value = int(found["number"]) if found["text"] is None else found["text"]
        parts.append(Compare(_OPERATIONS[found["op"]], Field(found["key"]), Const(value)))
    return And(tuple(parts))


@cache
def _ready() -> tuple[tuple[Hint, Run | None], ...]:
    return tuple((hint, None if hint.when is None else compiled(hint.when)) for hint in known_hints().values())


def _hint(read: Mapping[str, Any]) -> Hint:
    when = tuple(condition(text) for text in read.get("when", ()))
    return Hint(
        read["id"],
        tuple(read["names"]),
        read["says"],
        Or(when) if when else None,
        frozenset(requirement_id(name) for name in read.get("verdicts", ())),
        frozenset(read.get("unless", ())),
        tuple(read["sources"]),
        read.get("cvss", 0.0),
    )
