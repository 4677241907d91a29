"""What a packet rule is: when it applies, what then holds, and a declared way of breaking it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from conformance.judge.expr import Expr
from conformance.wire import dissect, encode, patch

Value: TypeAlias = int | str | bytes | bool
Values: TypeAlias = Mapping[str, Value]

# A message every rule below holds for: what a mutation starts from unless it says otherwise.
PLAIN: dict[str, Value] = {
    "UserHeader.SourceQueueManager": "11ea26c6-b6e6-4997-9595-9150557358d1",
    "UserHeader.DestinationQueue.DirectFormatName": "OS:host\\q",
    "UserHeader.MessageID": 7,
    "MessagePropertiesHeader.Label": "label",
    "MessagePropertiesHeader.MessageBody": b"body of it",
}


@dataclass(frozen=True, slots=True)
class Mutation:
    """A packet the rule holds for, and one change that breaks it.

    also: values of the valid packet beside PLAIN. patch: fields overwritten in the bytes, nothing recomputed. given:
    values the packet is encoded with instead, everything computed again. sections, placement: as `encode` takes them,
    for the broken packet. cut: how many bytes earlier it ends, by PacketSize too. kind: the packet's kind; only a
    `UserMessage` starts from PLAIN. valid_placement: where the valid packet has its SessionHeader. also_breaks: the
    other requirements this packet breaks because of what they say, at most two; declared from the text, not from a run.
    """

    also: Values = field(default_factory=dict)
    patch: Values = field(default_factory=dict)
    given: Values = field(default_factory=dict)
    sections: tuple[str, ...] | None = None
    placement: str = "after"
    valid_placement: str = "after"
    cut: int = 0
    kind: str = "UserMessage"
    also_breaks: tuple[str, ...] = ()

    def valid(self) -> bytes:
        """The packet the rule holds for."""
        return encode(self.kind, self._start(), placement=self.valid_placement)

    def broken(self) -> bytes:
        """The packet that breaks it."""
        if self.patch:
            data = patch(dissect(self.valid()), self.patch)
        else:
            values = {**self._start(), **self.given}
            data = encode(self.kind, values, sections=self.sections, placement=self.placement)
        if self.cut:
            size = int(dissect(data).fields["BaseHeader.PacketSize"]) - self.cut
            data = patch(dissect(data), {"BaseHeader.PacketSize": size})[: len(data) - self.cut]
        return data

    def _start(self) -> dict[str, Value]:
        return {**(PLAIN if self.kind == "UserMessage" else {}), **self.also}


@dataclass(frozen=True, slots=True)
class Rule:
    """One check of one packet.

    id: the requirement's, with `/word` behind it where several rules serve one requirement. holds: the tree that must
    be true, or, where a reading decides, a tree for each of its alternatives.
    """

    id: str
    applies: Expr
    holds: Expr | Mapping[str, Expr]
    breaks: Mutation
    reading: str | None = None

    @property
    def requirement(self) -> str:
        """The requirement this rule judges."""
        return self.id.partition("/")[0]

    def alternatives(self) -> Mapping[str, Expr]:
        """Every tree that can decide, by alternative; one nameless tree when no reading does."""
        return self.holds if isinstance(self.holds, Mapping) else {"": self.holds}
