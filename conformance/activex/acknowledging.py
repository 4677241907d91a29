"""Acknowledgments that a message asks for, in the administration queue that it names (MC-MQAC 2.2.2.9, 2.2.2.11)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from conformance.activex.cells import requirements
from conformance.activex.choices import Choice, Shape, one
from conformance.activex.members import Member
from conformance.activex.posts import Post, Posts
from conformance.activex.queue_store import Names, Store
from conformance.activex.statuses import S_OK
from conformance.activex.tables import CLASSES
from conformance.activex.values import Variant, long, octets

ARRIVAL, RECEIVE = 1, 2
REPORTS: Final = {ARRIVAL: 0x0002, RECEIVE: 0x4000}
"""Flag of MQMSGACKNOWLEDGEMENT to the class of the message that it asks for."""


def reported(posts: Posts, post: Post, store: Store, flag: int) -> Posts:
    """Return the messages after one has arrived, or was received. flag: of the acknowledgment that this causes."""
    asked = post.values.get("AcknowledgementsRequested", long(0)).value
    kept = post.queues.get("AdministrationQueueFormatName")
    if kept is None or post.transactional or post.report is not None:
        return posts
    target = store.target(kept.info)
    if store.queue(target) is None:
        return posts
    names = _asks(asked)
    if asked & flag:
        return posts.with_report(target.key, post, REPORTS[flag], names)
    return posts if posts.first(target.key) is not None else posts.without_report(target.key, names)


def _asks(value: int) -> Names:
    return requirements(CLASSES["MSMQMessage"]["Ack"], "put", f"asks:{value}")


def shown(member: Member, post: Post, posts: Posts) -> Iterator[Choice]:
    """Yield what a getter shows of an acknowledgment."""
    names = requirements(member, "get", "gives", f"gives:{post.report}")
    if member.kept_as == "Class":
        yield one(names, S_OK, long(post.report or 0))
    elif member.kept_as == "CorrelationIdentifier":
        known = posts.seen.get((post.about or 0, "Identifier"))
        said = "the identifier of the message"
        sample = known or octets(bytes(19) + b"x")
        yield one(names, S_OK, Shape(sample, lambda seen: _is_identifier(seen) and known in (None, seen), said))


def _is_identifier(value: Variant) -> bool:
    return isinstance(value.value, bytes) and len(value.value) == 20 and any(value.value)
