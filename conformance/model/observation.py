"""Observations: the answer to a call, and the waiting reads that ended with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from conformance.model.values import value
from conformance.verdict import Json

FAILED = 0x80000000  # MS-MQMQ 2.4: an HRESULT with the top bit set is a failure


def _fill(seen: Any, name: str, written: int) -> None:
    seen.name, seen.written = name, written


@value
class SeenMessage:
    """A message as a read showed it. A property that the implementation cannot show is None and is not judged.

    identifier: as `GUID\\number`. klass: MS-MQMQ 2.2.18.1.6. correlation: the identifier of the message that this one
    acknowledges. destination: of a transferred message, the name of the queue it is addressed to, or an unknown
    format name. shown: the message as the protocol has it. name: its name in the model; a body is the name, padded with
    spaces. written: bytes of the body before the padding.
    """

    body: bytes
    label: str | None = None
    priority: int | None = None
    delivery: str | None = None
    lookup_identifier: int | None = None
    identifier: str | None = None
    klass: int | None = None
    correlation: str | None = None
    first_in_transaction: bool | None = None
    last_in_transaction: bool | None = None
    destination: str | None = None
    shown: Mapping[str, Any] | None = field(default=None, repr=False, compare=False)
    name: str = field(init=False, default="", repr=False, compare=False)
    written: int = field(init=False, default=0, repr=False, compare=False)

    def __post_init__(self) -> None:
        plain = self.body.rstrip(b" ")  # only once: a body may be long, and its name is used often
        _fill(self, plain.decode("ascii", "replace"), len(plain))


@value
class Answer:
    """The end of a call. status: an HRESULT as unsigned number, None for an API without HRESULTs.

    failed: the call failed. text: the implementation's own words, for the story. values: all other results.
    messages: the messages of a transfer, in the order in which they came.
    """

    status: int | None = 0
    failed: bool = False
    message: SeenMessage | None = None
    text: str = ""
    values: Mapping[str, Json] = field(default_factory=dict)
    messages: tuple[SeenMessage, ...] | None = None

    @classmethod
    def of_status(cls, status: int, message: SeenMessage | None = None) -> Answer:
        """Return an answer with an HRESULT."""
        return cls(status, status >= FAILED, message if status < FAILED else None)

    def to_json(self) -> dict[str, Json]:
        """Return the answer as evidence."""
        out: dict[str, Json] = {"status": None if self.status is None else f"0x{self.status:08X}"}
        if self.failed and self.text:
            out["failure"] = self.text
        if self.message is not None:
            out["message"] = self.message.label or self.message.name
        if "properties" in self.values:
            out["properties"] = self.values["properties"]
        if self.messages is not None:
            out["messages"] = [seen.label or seen.name for seen in self.messages]
        return out


@value
class Observation:
    """Observed effects of one call.

    answer: None when the call waits. completed: the answers of waiting reads, by name, that ended during this call.
    """

    answer: Answer | None = None
    completed: Mapping[str, Answer] = field(default_factory=dict)


@value
class Scan:
    """Content of a queue, emptied after a wrong answer. messages: by name, in the order they came.

    queue: the name of the queue. seen: the messages as they came, where their names depend on them.
    """

    messages: tuple[str, ...]
    queue: str | None = None
    seen: tuple[SeenMessage, ...] = ()
