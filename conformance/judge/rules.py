"""Packet rules: when a rule applies, what must hold then, and a declared mutation that breaks it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from conformance.judge.expr import Expr
from conformance.spec.catalogue import requirement
from conformance.spec.versions import applies
from conformance.wire import dissect, encode, patch

Value: TypeAlias = int | str | bytes | bool
Values: TypeAlias = Mapping[str, Value]

# A message for which every rule below holds; mutations start from it unless they say otherwise.
PLAIN: dict[str, Value] = {
    "UserHeader.SourceQueueManager": "11ea26c6-b6e6-4997-9595-9150557358d1",
    "UserHeader.DestinationQueue.DirectFormatName": "OS:host\\q",
    "UserHeader.MessageID": 7,
    "MessagePropertiesHeader.Label": "label",
    "MessagePropertiesHeader.MessageBody": b"body of it",
}


@dataclass(frozen=True, slots=True)
class Mutation:
    """A packet for which the rule holds, and one change that breaks the rule.

    also: values of the valid packet beside PLAIN. without: prefix of values of PLAIN that are left out. body: bytes
    of the body of the broken packet, where they are too many to be given. patch: fields overwritten in the bytes, after
    `given`; nothing is recomputed. given: values that replace those of the packet before encoding; everything is
    computed again. sections, placement: arguments of `encode` for the broken packet. cut: bytes removed from the end,
    and from PacketSize. kind: the packet's kind; only a `UserMessage` starts from PLAIN. valid_placement: placement of
    the SessionHeader in the valid packet. also_breaks: at most two other requirements that this packet breaks; declared
    from the text, not from a run.
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
    without: str = ""
    body: int = 0

    def valid(self) -> bytes:
        """Encode the packet for which the rule holds."""
        return encode(self.kind, self._start(), placement=self.valid_placement)

    def broken(self) -> bytes:
        """Encode the packet that breaks the rule."""
        if self.patch:
            start = encode(self.kind, {**self._start(), **self.given}, placement=self.valid_placement)
            data = patch(dissect(start), self.patch)
        else:
            body = {"MessagePropertiesHeader.MessageBody": bytes(self.body)} if self.body else {}
            values = {**self._start(), **self.given, **body}
            data = encode(self.kind, values, sections=self.sections, placement=self.placement)
        if self.cut:
            size = int(dissect(data).fields["BaseHeader.PacketSize"]) - self.cut
            data = patch(dissect(data), {"BaseHeader.PacketSize": size})[: len(data) - self.cut]
        return data

    def _start(self) -> dict[str, Value]:
        plain = PLAIN if self.kind == "UserMessage" else {}
        kept = {key: value for key, value in plain.items() if not self.without or not key.startswith(self.without)}
        return {**kept, **self.also}


@dataclass(frozen=True, slots=True)
class Rule:
    """One check of one packet.

    id: the requirement's id, followed by `/word` where several rules serve one requirement. holds: the tree that must
    be true, or one tree per alternative where a reading decides. since: the first MSMQ version that the rule is about,
    where that is a later one than its requirement's.
    """

    id: str
    applies: Expr
    holds: Expr | Mapping[str, Expr]
    breaks: Mutation
    reading: str | None = None
    since: str | None = None

    def binds(self, profile: str) -> bool:
        """Return True when the rule judges packets of this MSMQ version."""
        return requirement(self.requirement).binds(profile) and applies(profile, self.since, None)

    @property
    def requirement(self) -> str:
        """The id of the requirement that this rule judges."""
        return self.id.partition("/")[0]

    def alternatives(self) -> Mapping[str, Expr]:
        """Return every tree that can decide, by alternative; a single tree under "" when no reading decides."""
        return self.holds if isinstance(self.holds, Mapping) else {"": self.holds}
