"""Situations of objects that do not count: those that no call can meet, each with its reason."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Final

from conformance.histories.features.constraint import Constraint, no
from conformance.histories.features.objects import FEATURES, MEMBERS

_READS: Final = tuple(name for name in MEMBERS if name.startswith(("MSMQQueue.Receive", "MSMQQueue.Peek")))
_AT_CURSOR: Final = tuple(name for name in _READS if any(one.name == "cursor" for one in FEATURES[name]))
_SEEKING: Final = tuple(name for name in _READS if "ByLookupId" in name)
_SAME: Final = tuple(name for name in _SEEKING if name.startswith(("MSMQQueue.ReceiveBy", "MSMQQueue.PeekBy")))
_OTHERS: Final = tuple(dict.fromkeys(one.name for name in _SAME for one in FEATURES[name] if one.name != "found"))
_ALL: Final = tuple(MEMBERS)
_PATH, _FORMAT = "MSMQQueueInfo.PathName", "MSMQQueueInfo.FormatName"
_NO_QUEUE: Final = "an object that was never opened has no queue"
_REFUSED: Final = "its own argument refuses the call, so that it becomes no call of the queue manager's user"
_RESET: Final = "a name that is put takes the place of the other one"

CONSTRAINTS: Final[tuple[Constraint, ...]] = (
    no(_ALL, "only a put has a value", form="get putref", value="*"),
    *(no(_READS, _NO_QUEUE, object="blank", **{name: "*"}) for name in ("kind", "choice", "cursor", "named", "found")),
    *(no(_READS, _REFUSED, lookup_id="zero", **{name: "*"}) for name in ("kind", "named", "found")),
    *(
        no(_READS, _REFUSED, transaction="empty wrong_type", **{name: "*"})
        for name in ("kind", "choice", "cursor", "named", "found")
    ),
    no(
        _READS,
        "no section says what a read does with an object that stands for no transaction",
        object="receive",
        transaction="empty",
    ),
    no(_AT_CURSOR, "a queue that is open for sending has no cursor", object="send", cursor="*"),
    no(_AT_CURSOR, "a cursor ends with its handle", object="closed", cursor="*"),
    no(_AT_CURSOR, "only messages of a transactional queue are held by a transaction", kind="plain", cursor="locked"),
    no(_SEEKING, "only messages of a transactional queue are held by a transaction", kind="plain", named="received"),
    no(_READS, "messages of transactions have one priority", kind="transactional", choice="lower overtaking"),
    no(
        tuple(name for name in _AT_CURSOR if "PeekNext" not in name),
        "the cursor stands at a message that can be read",
        choice="nothing",
        cursor="available",
    ),
    no(_AT_CURSOR, "messages of transactions have one priority", cursor="locked", choice="lower overtaking"),
    *(no(_SAME, "it seeks the message that is named, and no other", found="beyond", **{name: "*"}) for name in _OTHERS),
    no(_SAME, "it seeks the message that is named, and no other", named="available", found="nothing"),
    no(_SAME, "it seeks the message that is named, and no other", named="removed received", found="near"),
    no(("MSMQMessage.Send",), _NO_QUEUE, destination_queue="blank", kind="*"),
    no(("MSMQQueue.Reset",), "no section says what Reset does without a cursor", object="send"),
    no(
        ("MSMQQueueInfo.BasePriority",),
        "a queue that is not known to be a public one has no priority",
        object="unnamed named_by_path_name named_by_format_name refreshed",
        before="put",
    ),
    no((_PATH, _FORMAT), "an object that has a name is another state", object="unnamed", before="put"),
    no((_PATH,), _RESET, object="named_by_format_name", before="put"),
    no((_FORMAT,), _RESET, object="named_by_path_name created", before="put"),
    no((_PATH,), "the object is named by it", object="named_by_path_name created", before="initial"),
    no((_FORMAT,), "the object is named by it", object="named_by_format_name", before="initial"),
)


@cache
def _of(method: str) -> tuple[Constraint, ...]:
    return tuple(one for one in CONSTRAINTS if method in one.methods)


def excluded(method: str, values: Iterable[tuple[str, str]]) -> str | None:
    """Return why a situation of a member does not count; None for one that counts."""
    given = dict(values)
    return next((one.reason for one in _of(method) if one.excludes(given)), None)
