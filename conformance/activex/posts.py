"""Messages that a plan has sent: what is in the queues, and what their properties are (MC-MQAC 3.17.4.1.48)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from conformance.activex.message_queues import Kept
from conformance.activex.queue_store import Names
from conformance.activex.values import Variant

CONNECTED: Final = frozenset({"Class", "SenderIdentifier", "SymmetricKey", "Signature", "AuthenticationProviderName"})
"""Attributes that a client may only put together with a connector type."""


@dataclass(frozen=True, slots=True)
class Post:
    """A message as it was sent. sender: the client's message object. values: what was put, by attribute. queues: the
    queues it names. attached: the security context was attached before. transaction: of the send, until it ends.
    alone: no other message can be part of that. shows: requirements that its arrival shows. report: the class of an
    acknowledgment, about: the number of the message that it acknowledges.
    """

    sender: str
    number: int
    values: Mapping[str, Variant]
    queues: Mapping[str, Kept]
    transactional: bool = False
    attached: bool = False
    transaction: str | None = None
    alone: bool = True
    shows: Names = ()
    report: int | None = None
    about: int | None = None


@dataclass(frozen=True, slots=True)
class Posts:
    """The messages of a plan. boxes: queue to its messages. opened: queue object to its queue and access. put: message
    object to the attributes that were put. sent, received: message object to the message that it is. absent: queue to
    the requirements that it shows when no message is found. seen: what was shown of a message, by number and attribute.
    right: getters that have shown rightly what a client had put. begun: message objects of which a Send has come to the
    steps that set properties, with whether one of these Sends has succeeded.
    """

    boxes: Mapping[str, tuple[Post, ...]] = field(default_factory=dict)
    opened: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    put: Mapping[str, frozenset[str]] = field(default_factory=dict)
    attached: frozenset[str] = frozenset()
    sent: Mapping[str, Post] = field(default_factory=dict)
    received: Mapping[str, Post] = field(default_factory=dict)
    absent: Mapping[str, Names] = field(default_factory=dict)
    seen: Mapping[tuple[int, str], Variant] = field(default_factory=dict)
    count: int = 0
    right: frozenset[str] = frozenset()
    begun: Mapping[str, bool] = field(default_factory=dict)

    def first(self, key: str) -> Post | None:
        """Return the message that a receive from a queue finds."""
        return next((post for post in self.boxes.get(key, ()) if post.transaction is None), None)

    def with_put(self, name: str, attribute: str) -> Posts:
        """Return this after a put."""
        return replace(self, put={**self.put, name: self.put.get(name, frozenset()) | {attribute}})

    def with_sent(self, key: str, post: Post) -> Posts:
        """Return this after a message was sent to a queue."""
        boxes = {**self.boxes, key: (*self.boxes.get(key, ()), post)}
        absent = {**self.absent, key: post.shows} if post.transaction is not None else self.absent
        return replace(self, boxes=boxes, sent={**self.sent, post.sender: post}, count=self.count + 1, absent=absent)

    def with_received(self, key: str, name: str | None, *, stays: bool = False) -> Posts:
        """Return this after the first message of a queue was received as this object, or peeked at: it stays."""
        post = self.first(key)
        if post is None:
            return self
        left = tuple(one for one in self.boxes[key] if stays or one is not post)
        boxes = {**self.boxes, key: left}
        received = self.received if name is None else {**self.received, name: post}
        return replace(self, boxes=boxes, received=received)

    def forgotten(self, key: str) -> Posts:
        """Return this without a queue that lost messages of which nobody tells which: nothing is judged of it then."""
        boxes = {name: posts for name, posts in self.boxes.items() if name != key}
        return replace(self, boxes=boxes, opened={name: one for name, one in self.opened.items() if one[0] != key})

    def with_report(self, key: str, post: Post, report: int, shows: Names) -> Posts:
        """Return this with an acknowledgment of a message in its administration queue."""
        acknowledgment = Post("", self.count, {}, {}, shows=shows, report=report, about=post.number)
        boxes = {**self.boxes, key: (*self.boxes.get(key, ()), acknowledgment)}
        return replace(self, boxes=boxes, count=self.count + 1)

    def without_report(self, key: str, shows: Names) -> Posts:
        """Return this after an administration queue got nothing."""
        return replace(self, absent={**self.absent, key: shows})

    def ended(self, transaction: str, *, commits: bool, shows: Names) -> Posts:
        """Return this after a transaction ended: its messages are there, or gone. shows: requirements of that."""
        boxes: dict[str, tuple[Post, ...]] = {}
        absent = dict(self.absent)
        for key, posts in self.boxes.items():
            kept = []
            for post in posts:
                if post.transaction != transaction:
                    kept.append(post)
                elif commits:
                    kept.append(replace(post, transaction=None, shows=(*shows, *post.shows)))
                else:
                    absent[key] = (*shows, *post.shows)
            boxes[key] = tuple(kept)
        return replace(self, boxes=boxes, absent=absent)
