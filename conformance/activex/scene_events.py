"""The scene of plans about events: sinks, what an answer shows them to be told, and verdicts on it (MC-MQAC 3.16)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from conformance.activex import step
from conformance.activex.expected import Invoke, Readings, Seen
from conformance.activex.library import interfaces
from conformance.activex.plans import Act
from conformance.activex.scenes import Place
from conformance.activex.services import EVENT, RECEIVE, SEND, Names, cell
from conformance.activex.step import ANY_FAILURE, ANY_STATUS, Choice, Option, Shape, one
from conformance.activex.values import (
    E_INVALIDARG,
    E_NOTIMPL,
    E_POINTER,
    MISSING,
    OLE_E_BLANK,
    S_OK,
    Variant,
    failed,
    hollow,
    long,
    numbers,
    same,
)
from conformance.spec.catalogue import requirement_id
from conformance.spec.constants import hresults
from conformance.verdict import Outcome, Verdict


def named(member: str, *columns: str) -> Names:
    """Return the requirements of some columns of a member of MSMQEvent, or of what leads to its events."""
    return cell(EVENT, f"{member}.method", *columns)


@dataclass(frozen=True, slots=True)
class Told:
    """An event: of which object, with its name and its arguments. names: what it shows."""

    source: str
    name: str
    arguments: tuple[Variant, ...]
    names: Names = ()

    def is_like(self, other: Told) -> bool:
        """Tell whether two events are the same to a client."""
        alike = (self.source, self.name, len(self.arguments)) == (other.source, other.name, len(other.arguments))
        return alike and all(same(mine, its) for mine, its in zip(self.arguments, other.arguments, strict=False))


def shown_as(told: list[Told]) -> Mapping[str, Seen]:
    """Return events as an answer shows them."""
    return {
        f"{at} {one.source} {one.name}": Seen(S_OK, Variant("ARRAY", one.arguments, "VARIANT"))
        for at, one in enumerate(told)
    }


def events_of(seen: Seen) -> list[Told]:
    """Return the events that came with an answer."""
    found = []
    for key, event in seen.shown.items():
        _, source, name = key.split(" ")
        found.append(Told(source, name, tuple(event.value.value) if event.value is not None else ()))
    return found


def judged(
    expected: list[Told], optional: list[Told], came: list[Told], silent: Names, endless: frozenset[str]
) -> Iterator[Verdict]:
    """Yield the verdicts on events: each that has to come, and each that came without anybody asking for it.

    silent: what an event shows that nobody asked for. endless: objects whose registration has no time-out of its own.
    """
    left = list(came)
    missing: list[Told] = []
    for told in expected:
        found = next((one for one in left if told.is_like(one)), None)
        if found is None:
            missing.append(told)
            continue
        left.remove(found)
        yield from (Verdict(name, Outcome.PASS, f"event {told.name}") for name in told.names)
    for told in missing:
        instead = next((one for one in left if (one.source, one.name) == (told.source, told.name)), None)
        if instead is not None:
            left.remove(instead)
        actual = None if instead is None else _said(instead)
        names = told.names
        if instead is not None:  # with other values, or not even with the arguments that the event is declared with
            declared = [one.vt for one in told.arguments] == [one.vt for one in instead.arguments]
            names = (*names, _DECLARED[told.name]) if declared else (_DECLARED[told.name], *names)
        yield from (Verdict(name, Outcome.FAIL, f"event {told.name}", _said(told), actual) for name in names)
    for stray in left:
        if any((it.source, it.name) == (stray.source, stray.name) for it in optional):
            continue
        alike = next((told.names for told in expected if told.name == stray.name), ())
        default = named("EnableNotification", "default:timeout", "later:infinite")
        early = default if stray.name == "ArrivedError" and stray.source in endless else ()
        names = alike or (*early, *_ONCE.get(stray.name, ()), *silent)
        yield from (Verdict(name, Outcome.FAIL, f"event {stray.name}", None, _said(stray)) for name in names)


_DECLARED: Final = {
    "Arrived": requirement_id("MQAC-3.16.4.4.1.arrived-method"),
    "ArrivedError": requirement_id("MQAC-3.16.4.4.2.arrived-error-method"),
}
"""The deviations of an event that comes with other arguments."""
_ONCE: Final[Mapping[str, Names]] = {
    "Arrived": named("EnableNotification", "there", "later"),
    "ArrivedError": named("EnableNotification", "over", "zero"),
}
"""The deviations of an event that nobody asked for."""


def _said(told: Told) -> dict[str, object]:
    return {"event": told.name, "of": told.source, "arguments": [one.to_json() for one in told.arguments]}


SINK: Final = interfaces()["_DMSMQEventEvents"].iid
FIRST, CURRENT, NEXT = 0, 1, 2
INFINITE: Final = -1
ACCESS: Final = "R-MQAC-notification-access"
CANNOT_CONNECT, NO_CONNECTION = 0x80040202, 0x80040200
_INFO, _QUEUE = "MSMQQueueInfo", "MSMQQueue"
_OBJECT: Final = Shape(Variant("DISPATCH", "x"), lambda shown: bool(shown.value), "an object")
TIMED_OUT: Final = long(hresults.MQ_ERROR_IO_TIMEOUT)
NOT_FOUND: Final = long(hresults.MQ_ERROR_MESSAGE_NOT_FOUND)


@dataclass(frozen=True, slots=True)
class Opened:
    """An MSMQQueue. access: None for a blank one.

    at: the message at its cursor, None before the first and behind the last; behind: the latter. because: what a look
    at the cursor shows, since a registration has moved it.
    """

    access: int | None = None
    closed: bool = False
    at: int | None = None
    behind: bool = False
    because: Names = ()


@dataclass(frozen=True, slots=True)
class Waiting:
    """A registration. deadline_ms: None if it waits without end; given: the client gave the time-out.

    at: it looks at the object's cursor. after: the last message that was there when it began. loose: the text does not
    tell any more whether it ends in an event.
    """

    event: str
    queue: str
    cursor: int
    deadline_ms: int | None
    given: bool
    at: bool = False
    after: int = 0
    loose: bool = False


@dataclass(slots=True)
class EventObjects:
    """Objects of a plan by name, and one queue. messages: those in it, in order; locked: held by a transaction.

    calls: object to the last call that may have changed it.
    """

    readings: Readings
    classes: dict[str, str] = field(default_factory=dict)
    queues: dict[str, Opened] = field(default_factory=dict)
    sinks: dict[str, tuple[int, ...]] = field(default_factory=dict)
    words: dict[str, int] = field(default_factory=dict)
    waiting: tuple[Waiting, ...] = ()
    messages: tuple[int, ...] = ()
    locked: frozenset[int] = frozenset()
    counted: int = 0
    now_ms: int = 0
    silent: frozenset[str] = frozenset()
    calls: Mapping[str, str] = field(default_factory=dict)

    def copy(self) -> EventObjects:
        """Return a scene that goes on from here by itself."""
        return replace(
            self,
            classes=dict(self.classes),
            queues=dict(self.queues),
            sinks=dict(self.sinks),
            words=dict(self.words),
        )

    def knows(self, name: str) -> bool:
        """Tell whether the plan has an object of this name by now."""
        return not name or name in self.classes

    def do(self, act: Act, seen: Seen | None) -> tuple[Verdict, ...]:
        """Judge the answer to an act with the events that came, and keep what it leads to."""
        if act.call is None and not act.passes_ms:
            self._made(act.object, act.coclass or "")
            return ()
        if seen is None:
            return ()
        found: list[Verdict] = []
        call = act.call
        if call is not None:
            told = [step.allowed(choice, self.readings) for choice in self._wanted(act.object, call)]
            found += step.choice_verdicts(self.classes[act.object], call, told, seen)
        expected, optional = self._after(act, call, seen)
        if call is not None:
            self.calls = step.called(self.calls, act.object, call, seen)
        came = events_of(seen)
        if call is not None and call.member.startswith("Fire") and not self.sinks.get(act.object, ()) and not came:
            found += (Verdict(name, Outcome.PASS, f"no sink of {act.object}") for name in self._silent())
        found += judged(expected, optional, came, self._silent(), self._endless())
        return tuple(found)

    def ideal(self, act: Act) -> Seen:
        """Return an answer that the text allows, with the events it leads to."""
        seen = Seen(S_OK)
        if act.call is not None:
            seen = step.reference_answer(
                step.allowed(choice, self.readings) for choice in self._wanted(act.object, act.call)
            )
            if act.call.member == "Advise" and not failed(seen.status):
                seen = replace(seen, value=Variant("UI4", 1 + self.counted + sum(map(len, self.sinks.values()))))
        expected, _ = self.copy()._after(act, act.call, seen)
        return replace(seen, shown=shown_as(expected))

    def _silent(self) -> Names:
        """Return what an event shows wrong that comes to an object without a sink."""
        return (*cell(EVENT, "Initialization.new", "sinks"), *(named("Unadvise", "silent") if self.silent else ()))

    def _endless(self) -> frozenset[str]:
        """Return the event objects of registrations that wait without end because no time was given."""
        return frozenset(one.event for one in self.waiting if not one.given and not one.loose)

    def _made(self, name: str, coclass: str) -> None:
        self.classes[name] = coclass
        if coclass == EVENT:
            self.sinks[name] = ()
        elif coclass == _QUEUE:
            self.queues[name] = Opened()

    # What an answer has to be

    def _wanted(self, name: str, call: Invoke) -> Iterator[Choice]:
        coclass = self.classes[name]
        if call.member == "Advise":
            yield from self._advise(name, call)
        elif call.member == "Unadvise":
            if self._cookie(call) in self.sinks.get(name, ()) and call.arguments[1].value == SINK:
                yield one(named("Unadvise", "success"))
            else:
                yield one(named("Unadvise", "check:cookie"), ANY_FAILURE)
                yield one(named("Unadvise", "code:cookie"), NO_CONNECTION)
        elif call.member == "EnableNotification":
            yield from self._notification(name, call)
        elif call.member == "Properties":
            yield one(cell(EVENT, "Properties.get", "unimplemented"), E_NOTIMPL)
        elif call.member == "Hwnd":
            shape = Shape(long(0), lambda shown: shown.vt == "I4", "a long")
            yield one(cell(EVENT, "Hwnd.get", "success"), S_OK, shape)
        elif call.member in ("FireArrivedEvent", "FireArrivedErrorEvent"):
            yield one(named(call.member, "success"))
        elif call.member in ("Open", "BeginTransaction"):
            yield one((), S_OK, _OBJECT)
        elif coclass == _QUEUE and call.member in ("Receive", "PeekCurrent", "PeekNext", "ReceiveCurrent", "Peek"):
            gives = self._read(name, call) is not None
            empty = Shape(Variant("DISPATCH"), hollow, "no object")
            names = self.queues[name].because if call.member == "PeekCurrent" else ()
            yield (Option(names, S_OK, _OBJECT),) if gives else (Option((), S_OK, empty), Option((), ANY_FAILURE))
        else:
            yield one((), ANY_STATUS)

    def _advise(self, name: str, call: Invoke) -> Iterator[Choice]:
        sink, iid = (str(value.value) for value in call.arguments)
        if name not in self.sinks:
            yield one((), ANY_FAILURE)
        elif iid.lower() != SINK:
            yield one(named("Advise", "check:iid"), ANY_FAILURE)
            yield one(named("Advise", "code:iid"), NO_CONNECTION)
        elif sink == "null":
            yield one(named("Advise", "check:null"), ANY_FAILURE)
            code = named("Advise", "code:null")
            yield tuple(Option(code, status, readings=follows) for status, follows in numbers(code, E_POINTER))
        elif sink == "other":
            yield one(named("Advise", "code:other"), CANNOT_CONNECT)
            zero = Shape(Variant("UI4", 0), lambda shown: shown.value in (None, 0), "the cookie 0, if any")
            yield (Option(named("Advise", "zero"), ANY_STATUS, zero),)
        else:
            fresh = Shape(
                Variant("UI4", 1),
                lambda shown: shown.vt == "UI4" and shown.value not in self.sinks[name],
                "a cookie that no other sink of the object has",
            )
            yield one(named("Advise", "success", "found"))
            yield one(named("Advise", "cookie"), S_OK, fresh)

    def _cookie(self, call: Invoke) -> int:
        value = call.arguments[0].value
        return self.words.get(value, -1) if isinstance(value, str) else int(value)

    def _notification(self, name: str, call: Invoke) -> Iterator[Choice]:
        event, cursor, _ = (*call.arguments, MISSING, MISSING)[:3]
        its = self.queues[name]
        checks: tuple[tuple[str, bool, int], ...] = (
            ("cursor", cursor != MISSING and cursor.value not in (FIRST, CURRENT, NEXT), E_INVALIDARG),
            ("blank", its.access is None, OLE_E_BLANK),
            ("closed", its.closed, hresults.MQ_ERROR_INVALID_HANDLE),
            ("event", event.value is None, E_INVALIDARG),
            ("access", its.access == SEND, hresults.MQ_ERROR_ACCESS_DENIED),
        )
        for check, broken, status in checks:
            if broken:
                yield one(named("EnableNotification", f"check:{check}"), ANY_FAILURE)
                yield one(named("EnableNotification", f"code:{check}"), status)
                return
        names = named("EnableNotification", "success")
        if its.access == RECEIVE:
            denied = hresults.MQ_ERROR_ACCESS_DENIED
            yield (
                Option(names, S_OK, readings=((ACCESS, "receive-or-peek"),)),
                Option(names, denied, readings=((ACCESS, "peek-only"),)),
            )
        else:
            yield one(names)

    # What a call leads to

    def _after(self, act: Act, call: Invoke | None, seen: Seen) -> tuple[list[Told], list[Told]]:
        """Keep what an act leads to. Returns the events it has to bring, and those it may bring."""
        if call is None:
            self.now_ms += act.passes_ms
            return self._ended(), self._loose()
        if failed(seen.status):
            return [], self._loose()
        name = act.object
        if call.member == "Advise" and seen.value is not None and name in self.sinks:
            cookie = int(seen.value.value or 0)
            self.sinks[name] = (*self.sinks[name], cookie)
            self.counted += 1
            if act.gives is not None:
                self.words[act.gives] = cookie
        elif call.member == "Unadvise":
            self.sinks[name] = tuple(one for one in self.sinks[name] if one != self._cookie(call))
            self.silent |= {name}
        elif call.member == "EnableNotification":
            return self._registered(name, call), self._loose()
        elif call.member in ("FireArrivedEvent", "FireArrivedErrorEvent"):
            return self._fired(name, call), self._loose()
        elif call.member == "Release":
            self._loosen(lambda one: name in (one.event, one.queue))
            self.sinks.pop(name, None)
        else:
            self._queue_changed(act, call)
        return self._ended(), self._loose()

    def _queue_changed(self, act: Act, call: Invoke) -> None:
        name = act.object
        if call.member == "Open" and act.gives is not None:
            self.classes[act.gives] = _QUEUE
            self.queues[act.gives] = Opened(int(call.arguments[0].value))
        elif call.member == "BeginTransaction" and act.gives is not None:
            self.classes[act.gives] = "MSMQTransaction"
        elif call.member == "Send":
            self.counted += 1
            self.messages = (*self.messages, self.counted)
        elif call.member == "Abort":
            self.locked = frozenset()
        elif call.member == "Commit":
            self.messages = tuple(one for one in self.messages if one not in self.locked)
            self.locked = frozenset()
        elif self.classes[name] == _QUEUE and call.member in ("Close", "Purge", "Reset"):
            if call.member == "Purge":
                self.messages = ()
            if call.member == "Close":
                self.queues[name] = replace(self.queues[name], closed=True)
            self._loosen(lambda one: one.queue == name and (call.member == "Close" or one.at))
            if call.member == "Reset":
                self.queues[name] = replace(self.queues[name], at=None, behind=False)
        elif call.member == "Delete":
            self._loosen(lambda one: True)
        elif self.classes[name] == _QUEUE and call.member.startswith(("Receive", "Peek")):
            self._has_read(name, call)

    def _read(self, name: str, call: Invoke) -> int | None:
        """Return the message that a read gives."""
        there = [one for one in self.messages if one not in self.locked]
        its = self.queues[name]
        if call.member in ("Receive", "Peek"):
            return there[0] if there else None
        if call.member == "PeekNext":
            return next((one for one in there if its.at is not None and one > its.at), None)
        if its.behind:
            return None
        return (there[0] if there else None) if its.at is None else (its.at if its.at in there else None)

    def _has_read(self, name: str, call: Invoke) -> None:
        found = self._read(name, call)
        its = self.queues[name]
        if found is None:
            if call.member == "PeekNext" and its.at is not None:  # it is illegal elsewhere, and moves no cursor
                self.queues[name] = replace(its, at=None, behind=True)
            return
        if call.member not in ("Receive", "Peek"):
            self.queues[name] = replace(its, at=found)
        if call.member.startswith("Receive"):
            if call.arguments and call.arguments[0].vt == "DISPATCH":
                self.locked |= {found}
            else:
                self.messages = tuple(one for one in self.messages if one != found)

    def _loosen(self, which: Callable[[Waiting], bool]) -> None:
        self.waiting = tuple(replace(one, loose=True) if which(one) else one for one in self.waiting)

    # Registrations

    def _registered(self, name: str, call: Invoke) -> list[Told]:
        event, cursor, timeout = (*call.arguments, MISSING, MISSING)[:3]
        where = FIRST if cursor == MISSING else int(cursor.value)
        wait = INFINITE if timeout == MISSING else int(timeout.value)
        deadline = None if wait == INFINITE else self.now_ms + wait
        its, illegal, loose = self.queues[name], self._refuses(name, where), not self.tells(name, where, wait)
        if where == NEXT and not illegal:
            following = next((one for one in self.messages if its.at is not None and one > its.at), None)
            self.queues[name] = replace(its, at=following, behind=following is None)
        entry = Waiting(
            str(event.value), name, where, deadline, timeout != MISSING, where != FIRST, self.counted, loose
        )
        if loose:
            self._loosen(lambda one: one.queue == name and one.at)
            self.waiting = (*self.waiting, entry)
            return []
        found = None if illegal else self._suitable(entry)
        if found is not None:
            column = "there" if where == FIRST else "at:next" if where == NEXT else "at:there"
            return self._arrived(
                entry, *named("EnableNotification", column, *(("default:cursor",) if cursor == MISSING else ()))
            )
        if wait == 0:
            at_none = ("at:zero",) if illegal or its.at is None else ()
            names = named("EnableNotification", *(("zero",) if where == FIRST else at_none))
            return self._told(entry.event, "ArrivedError", (Variant("DISPATCH", name), NOT_FOUND, long(where)), names)
        self.waiting = (*self.waiting, entry)
        return []

    def tells(self, name: str, where: int, wait_ms: int) -> bool:
        """Tell whether the text says what a notification ends in.

        An illegal peek with a time-out other than 0 has no event (MC-MQAC 3.11.4.1.9), and no section says whether a
        message that has left is still the one at the cursor.
        """
        its = self.queues[name]
        gone = where == CURRENT and its.at is not None and its.at not in self.messages
        return not gone and (wait_ms == 0 or not self._refuses(name, where))

    def _refuses(self, name: str, where: int) -> bool:
        """Tell whether a peek at the cursor is illegal: behind the last message, beside another wait, next to none."""
        its = self.queues[name]
        if where == FIRST:
            return False
        waits = any(one.at and one.queue == name for one in self.waiting)
        return its.behind or waits or (where == NEXT and its.at is None)

    def _suitable(self, entry: Waiting) -> int | None:
        there = [one for one in self.messages if one not in self.locked]
        if not entry.at:
            return there[0] if there else None
        its = self.queues[entry.queue]
        if its.behind:
            return None
        if its.at is None:
            return there[0] if there else None
        return its.at if its.at in there else None

    def _ended(self) -> list[Told]:
        """Return the events of the registrations that are over by now."""
        told: list[Told] = []
        left: list[Waiting] = []
        for entry in self.waiting:
            found = None if entry.loose else self._later(entry)
            if entry.loose:
                left.append(entry)
            elif found is not None:
                column = "at:later" if entry.at else "later:infinite" if entry.deadline_ms is None else "later"
                names = named("EnableNotification", column, *(() if entry.given else ("default:timeout",)))
                told += self._arrived(entry, *names)
                if entry.at:
                    moved = named("EnableNotification", "at:cursor")
                    self.queues[entry.queue] = replace(self.queues[entry.queue], at=found, behind=False, because=moved)
            elif entry.deadline_ms is not None and entry.deadline_ms <= self.now_ms:
                names = named("EnableNotification", "at:over" if entry.at else "over")
                arguments = (Variant("DISPATCH", entry.queue), TIMED_OUT, long(entry.cursor))
                told += self._told(entry.event, "ArrivedError", arguments, names)
                if entry.at:
                    self.queues[entry.queue] = replace(self.queues[entry.queue], at=None, behind=True)
            else:
                left.append(entry)
        self.waiting = tuple(left)
        return told

    def _later(self, entry: Waiting) -> int | None:
        """Return the message that a registration was waiting for."""
        found = self._suitable(entry)
        if found is not None or not entry.at:
            return found
        its = self.queues[entry.queue]
        return next((one for one in self.messages if its.behind and one > entry.after), None)

    def _arrived(self, entry: Waiting, *names: str) -> list[Told]:
        return self._told(entry.event, "Arrived", (Variant("DISPATCH", entry.queue), long(entry.cursor)), names)

    def _fired(self, name: str, call: Invoke) -> list[Told]:
        told = "Arrived" if call.member == "FireArrivedEvent" else "ArrivedError"
        arguments = tuple(long(int(one.value)) if one.vt == "ERROR" else one for one in call.arguments)
        return self._told(name, told, arguments, named(call.member, "tells"))

    def _told(self, event: str, name: str, arguments: tuple[Variant, ...], names: Names) -> list[Told]:
        names = (*names, *named("Advise", "tells"))
        return [Told(event, name, arguments, names) for _ in self.sinks.get(event, ())]

    def _loose(self) -> list[Told]:
        """Return the events that registrations may still end in of which the text tells nothing."""
        found: list[Told] = []
        for entry in self.waiting:
            if not entry.loose:
                continue
            queue, where = Variant("DISPATCH", entry.queue), long(entry.cursor)
            found.append(Told(entry.event, "Arrived", (queue, where)))
            found.append(Told(entry.event, "ArrivedError", (queue, long(0), where)))
        return found


def event_objects(readings: Readings, place: Place) -> EventObjects:
    """Return the scene before the first act of a plan."""
    return EventObjects(readings)
