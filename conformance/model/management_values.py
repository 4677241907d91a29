"""The values that management properties of the machine and of local queues must have.

MS-MQMQ 2.3.11 and 2.3.12, MS-MQDMPR 3.1.1.1 and 3.1.1.2, MS-MQMR 3.1.4.1.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from conformance.model.journals import SYSTEM_QUEUES, is_kept, is_public, journal_of
from conformance.model.management_outgoing import (
    LOCAL_LACKS,
    NOTHING,
    OUTGOING_VALUES,
    Judging,
    Shown,
    Told,
    bytes_in_queue,
    content_of,
    count,
    messages,
    stateless,
    weighed,
)
from conformance.model.management_rows import MACHINE, QUEUE, columns, value_of
from conformance.model.message_properties import shape_of
from conformance.model.property_refusals import by_reading
from conformance.model.rules import FORMAT_NAME, JOURNAL_BYTES
from conformance.model.state import Handle, Management, Queue, State
from conformance.model.tables import PositionState
from conformance.model.values import replace
from conformance.verdict import Json, Outcome, Verdict

__all__ = ["MACHINE_VALUES", "OUTGOING_VALUES", "QUEUE_VALUES", "Shown", "may_lack"]

_MAY_LACK: Final = frozenset({f"{MACHINE}DSSERVER", f"{QUEUE}EOD_SOURCE_INFO"})
_OF_A_SESSION: Final = tuple(f"{QUEUE}{word}" for word in ("NEXTHOPS", "EOD_", "CONNECTION_HISTORY"))
_DIRECTORY_SERVER: Final = "MQMQ-2.3.11.3.ds-rule"
_NAME_CHARACTERS: Final = "MQMQ-2.3.11.3.name-char-rule"
_FORMAT_NAMES: Final = "MQMQ-2.3.11.1.format-names"
_ACTIVE, _NOT_ACTIVE = "MQDMPR-3.1.1.2.active", "MQDMPR-3.1.1.2.inactive"
_NEW_INACTIVE, _ACTIVE_OUTGOING = "MQDMPR-3.1.7.1.3.inactive", "MQDMPR-3.1.1.2.active-outgoing"
_CONNECTION_ACTIVE: Final = "MQDMPR-3.1.1.1.connection-active"
_SUBQUEUES, _NO_SUBQUEUES = "MQDMPR-3.1.1.2.subqueue-collection", "MQDMPR-3.1.7.1.3.no-subqueues"
_NO_TRANSFERS: Final = "MQDMPR-3.1.7.1.3.no-incoming-transfers"
_FOREIGN_SYSTEM: Final = "MQDMPR-3.1.1.1.foreign-system"
_DELETED: Final = PositionState.DELETED


def may_lack(shown: Shown) -> bool:
    """Tell whether the text lets a property be without a value: of a session, that a local queue has not."""
    outgoing = shown.queue is not None and shown.queue.outgoing is not None
    nowhere = outgoing and shown.row.name == f"{QUEUE}PATHNAME"  # MS-MQDMPR 3.1.7.1.5 gives it none
    return shown.row.name in _MAY_LACK or shown.row.name.startswith(_OF_A_SESSION) or nowhere


def _designates(shown: Shown) -> dict[str, str]:
    """Return the names that the answer holds, each with the queue that it designates, as far as the harness knows."""
    raw = shown.answer.values.get("designates")
    return {str(text): str(queue) for text, queue in raw.items()} if isinstance(raw, dict) else {}


def _no_format_names(shown: Shown) -> frozenset[str]:
    """Return the texts of the answer that the grammar of format names (MS-MQMQ 2.1) does not derive."""
    raw = shown.answer.values.get("no_format_names")
    return frozenset(map(str, raw)) if isinstance(raw, list) else frozenset()


# The machine


def _active(shown: Shown) -> Iterator[Verdict]:
    listed = [str(one) for one in shown.value] if isinstance(shown.value, list) else []
    wrong: list[Json] = [text for text in listed if text in _no_format_names(shown)]
    yield shown.equal(_FORMAT_NAMES, not wrong, {"no": wrong} if wrong else "format names")
    known = _designates(shown)
    yield shown.equal(shown.row.shown, len(set(listed)) == len(listed), "each queue once")
    told = {known[text] for text in listed if text in known}
    strangers = [text for text in listed if text not in known]
    for queue in shown.state.queues.values():
        active = _is_active(shown.state, queue)
        if active is None:
            continue
        demand = _demand(shown.state, queue, active=active)
        if active and queue.name not in told and strangers:
            continue  # one of these names may be its name
        yield shown.equal(demand, active == (queue.name in told), {"active": active, "queue": queue.name})


def _is_active(state: State, queue: Queue) -> bool | None:
    """Tell whether a queue is active; None where that is not sure, and for a queue that is no queue of its own.

    A handle on several queues is one on each of them (MS-MQDMPR 3.1.7.1.5).
    """
    plain = queue.parent is None and not is_kept(queue.name) and "," not in queue.name
    its = [handle for handle in state.handles.values() if handle.is_open and _reaches(handle, queue.name)]
    if not plain or (queue.exists and any(handle.lost for handle in its)):
        return None
    if not queue.exists:
        return False
    if its:
        return True
    if any(handle.is_open and handle.queue.startswith(f"{queue.name};") for handle in state.handles.values()):
        return None
    if queue.outgoing is None:
        return False
    if any(position.available and not position.doubtful for position in queue.positions):
        return True
    return False if all(position.state is _DELETED for position in queue.positions) else None


def _reaches(handle: Handle, queue: str) -> bool:
    return queue in handle.queue.split(",") and queue not in handle.gone


def _demand(state: State, queue: Queue, *, active: bool) -> str:
    if active:
        open_ = any(_reaches(handle, queue.name) and handle.is_open for handle in state.handles.values())
        return _ACTIVE if open_ else _ACTIVE_OUTGOING
    ever = any(_reaches(handle, queue.name) for handle in state.handles.values())
    return _NOT_ACTIVE if ever or state.restarts else _NEW_INACTIVE


def _private(shown: Shown) -> Iterator[Verdict]:
    listed = [str(one) for one in shown.value] if isinstance(shown.value, list) else []
    known = _designates(shown)
    formats: list[Json] = [text for text in listed if "=" in text.partition("\\")[0]]
    yield shown.equal(shown.row.shown, not formats, {"no path names": formats} if formats else "path names")
    yield shown.equal(shown.row.shown, len(set(listed)) == len(listed), "each queue once")
    told = {known[text] for text in listed if text in known}
    for queue in shown.state.queues.values():
        if queue.parent is None and not is_kept(queue.name) and "," not in queue.name and queue.outgoing is None:
            private = queue.exists and not is_public(queue.name)
            expected: Json = {"there": queue.exists, "private": not is_public(queue.name), "queue": queue.name}
            yield shown.equal(shown.row.shown, private == (queue.name in told), expected)


def _directory_server(shown: Shown) -> Iterator[Verdict]:
    if shown.value is None:
        return  # no directory, or the driver does not know it
    text = str(shown.value)
    named = text.removeprefix("\\\\")
    yield shown.equal(_DIRECTORY_SERVER, text.startswith("\\\\") and bool(named), "\\\\ and a name")
    yield shown.equal(_NAME_CHARACTERS, not re.search(r"[,\0]", named), "no comma, no null")


def _connected(shown: Shown) -> Iterator[Verdict]:
    management = shown.state.management or Management()
    if management.connected is None:
        return
    expected = "CONNECTED" if management.connected else "DISCONNECTED"
    demand = "MQDMPR-3.1.4.13.connected" if management.connected else "MQDMPR-3.1.4.12.disconnected"
    if shown.value in shown.row.values:
        yield shown.equal(demand, shown.value == expected, expected)
        yield shown.equal(_CONNECTION_ACTIVE, shown.value == expected, expected)
    yield from shown.texts(expected)


def _bytes_of_all(shown: Shown) -> Told:
    """Judge the bytes in all queues by those that each queue told while it had the same messages.

    Queues of the system belong to the manager as all others do (MS-MQDMPR 3.1.1.2). Journals of queues are reached by
    reference alone, so they may count or not.
    """
    state, management, value = shown.state, shown.state.management or Management(), int(str(shown.value))
    told = {place: (there, taken) for place, there, taken in management.weights}
    least = total = journals = 0
    known = True
    for queue in state.queues.values():
        there, taken = told.get(queue.name, (None, 0))
        if all(position.state is _DELETED for position in queue.positions):
            continue
        known = known and there == content_of(queue)
        total += taken
        journals += taken if is_kept(queue.name) and queue.name not in SYSTEM_QUEUES else 0
        least += sum(
            shape_of(position)[0]
            for position in queue.positions
            if position.available and not position.doubtful and not is_kept(queue.name)
        )
    if total == least == 0 and known and management.floor is None:
        return replace(state, management=replace(management, floor=value)), []
    if management.floor is not None and known:
        sums: list[Json] = [str(management.floor + total), str(management.floor + total - journals)]
        return state, [shown.equal(shown.row.shown, str(value) in sums, {"one of": sums})]
    return state, [shown.equal(shown.row.shown, value >= least, f"at least {least}")]


# Local queues


def _path(shown: Shown) -> Iterator[Verdict]:
    path = shown.answer.values.get("path_name")
    if isinstance(path, str) and not is_kept(shown.name) and shown.queue is not None and shown.queue.parent is None:
        yield shown.equal(shown.row.shown, str(shown.value).casefold() == path.casefold(), path)


def _format_name(shown: Shown) -> Iterator[Verdict]:
    path, text = shown.answer.values.get("path_name"), str(shown.value)
    if not isinstance(path, str) or is_kept(shown.name) or (shown.queue is not None and shown.queue.parent is not None):
        return
    known = _designates(shown)
    tail = path.partition("\\")[2].casefold()
    qualified = "=" not in text and text.casefold().partition("\\")[2] == tail
    other = known.get(text, shown.name) != shown.name or _direct_to_another(text, tail)
    named = not other and text not in _no_format_names(shown)
    fits = {"format-name": named, "qualified-pathname": qualified}
    wanted: dict[str, Json] = {"format-name": f"a format name of {path}", "qualified-pathname": path}
    yield by_reading(shown.rules, shown.row.shown, FORMAT_NAME, fits, shown.subject, wanted, shown.value)


def _direct_to_another(text: str, tail: str) -> bool:
    """Tell whether a direct format name leads to another queue than the one with this path behind its computer."""
    direct = text.casefold().startswith(("direct=os:", "direct=tcp:"))
    return direct and text.casefold().partition("\\")[2] != tail


def _type(shown: Shown) -> Iterator[Verdict]:
    if shown.name.startswith("SYSTEM;"):
        yield from shown.texts("MACHINE")
    elif not is_kept(shown.name) and shown.queue is not None and shown.queue.parent is None:
        yield from shown.texts("PUBLIC" if is_public(shown.name) else "PRIVATE")


def _transactional(shown: Shown) -> Iterator[Verdict]:
    if shown.queue is not None and not is_kept(shown.name) and shown.queue.parent is None:
        yield from shown.texts("YES" if shown.queue.transactional else "NO")


def _foreign(shown: Shown) -> Iterator[Verdict]:
    if not is_kept(shown.name):
        yield shown.equal(_FOREIGN_SYSTEM, shown.value != "YES", "not YES")
        yield from shown.texts("NO")


def _journal(shown: Shown) -> Queue | None:
    return shown.state.queues.get(journal_of(shown.name))


def _journal_count(shown: Shown) -> Iterator[Verdict]:
    if is_kept(shown.name) or (shown.queue is not None and shown.queue.parent is not None):
        return
    journal = _journal(shown)
    if journal is None:
        yield shown.equal(shown.row.shown, shown.value == 0, 0)
    else:
        yield from messages(shown, journal)


def _journal_bytes(shown: Shown) -> Told:
    if is_kept(shown.name) or shown.queue is None or shown.queue.parent is not None:
        return shown.state, []
    journal, attributes = _journal(shown), shown.queue.attributes
    there = journal is not None and any(one.available and not one.doubtful for one in journal.positions)
    if there and (attributes is None or not attributes.journaling):
        _, found = weighed(shown, journal_of(shown.name))
        right = not any(verdict.outcome is Outcome.FAIL for verdict in found)
        fits = {"journal": right and shown.value != 0, "zero": shown.value == 0}
        wanted: dict[str, Json] = {"journal": "the bytes in the journal", "zero": 0}
        read = by_reading(shown.rules, shown.row.shown, JOURNAL_BYTES, fits, shown.subject, wanted, shown.value)
        return shown.state, [read]
    return weighed(shown, journal_of(shown.name))


def _state(shown: Shown) -> Iterator[Verdict]:
    yield from shown.texts("LOCAL CONNECTION")


def _location(shown: Shown) -> Iterator[Verdict]:
    yield from shown.texts("LOCAL")


def _subqueues(shown: Shown) -> tuple[set[str], set[str]]:
    """Return the names of the subqueues that must be there, and of those that may be."""
    its = [queue for queue in shown.state.queues.values() if queue.parent == shown.name and queue.exists]
    opened = {one.queue for one in shown.state.handles.values() if one.is_open and not one.lost}
    must = {
        queue.name.partition(";")[2].casefold()
        for queue in its
        if queue.name in opened or any(one.available and not one.doubtful for one in queue.positions)
    }
    return must, {queue.name.partition(";")[2].casefold() for queue in its}


def _subqueue_count(shown: Shown) -> Iterator[Verdict]:
    must, may = _subqueues(shown)
    holds = isinstance(shown.value, int) and len(must) <= shown.value <= len(may)
    yield shown.equal(shown.row.shown, holds, {"at least": len(must), "at most": len(may)})
    yield shown.equal(_SUBQUEUES if may else _NO_SUBQUEUES, holds, {"at least": len(must), "at most": len(may)})


def _subqueue_names(shown: Shown) -> Iterator[Verdict]:
    must, may = _subqueues(shown)
    listed = [str(one).rpartition(";")[2].casefold() for one in shown.value] if isinstance(shown.value, list) else []
    holds = must <= set(listed) <= may and len(set(listed)) == len(listed)
    yield shown.equal(shown.row.shown, holds, {"at least": sorted(must), "at most": sorted(may)})
    yield shown.equal(_SUBQUEUES if may else _NO_SUBQUEUES, holds, {"at least": sorted(must), "at most": sorted(may)})


def _source_info(shown: Shown) -> Iterator[Verdict]:
    """Judge that nothing came from other computers: no history of the model has a packet delivered."""
    entries = columns(shown.given)
    yield shown.equal(_NO_TRANSFERS, not any(value_of(each) for each in entries), "no entry")


MACHINE_VALUES: Final[Mapping[str, Judging]] = {
    f"{MACHINE}ACTIVEQUEUES": stateless(_active),
    f"{MACHINE}PRIVATEQ": stateless(_private),
    f"{MACHINE}DSSERVER": stateless(_directory_server),
    f"{MACHINE}CONNECTED": stateless(_connected),
    f"{MACHINE}BYTES_IN_ALL_QUEUES": _bytes_of_all,
}
QUEUE_VALUES: Final[Mapping[str, Judging]] = {
    f"{QUEUE}PATHNAME": stateless(_path),
    f"{QUEUE}FORMATNAME": stateless(_format_name),
    f"{QUEUE}TYPE": stateless(_type),
    f"{QUEUE}LOCATION": stateless(_location),
    f"{QUEUE}XACT": stateless(_transactional),
    f"{QUEUE}FOREIGN": stateless(_foreign),
    f"{QUEUE}MESSAGE_COUNT": stateless(count),
    f"{QUEUE}BYTES_IN_QUEUE": bytes_in_queue,
    f"{QUEUE}JOURNAL_MESSAGE_COUNT": stateless(_journal_count),
    f"{QUEUE}BYTES_IN_JOURNAL": _journal_bytes,
    f"{QUEUE}STATE": stateless(_state),
    f"{QUEUE}EOD_SOURCE_INFO": stateless(_source_info),
    f"{QUEUE}SUBQUEUE_COUNT": stateless(_subqueue_count),
    f"{QUEUE}SUBQUEUE_NAMES": stateless(_subqueue_names),
    **dict.fromkeys(LOCAL_LACKS, NOTHING),
}
