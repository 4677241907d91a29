"""Requests of programs to a queue manager, as calls of the model: names for their handles, queues and messages.

A program chooses bodies, labels and times as it likes, while the model knows a message by a name alone. So each message
that is sent gets a name. One that comes is told by its identifier, or else by its body and label, and its properties
are compared with what was sent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final, TypeAlias

from conformance.adapter.session import Result
from conformance.grammar.bulk import NameError_, Names
from conformance.grammar.sources import narrowest
from conformance.histories.driver_side import answer_of
from conformance.model import Answer, BadCall, Call, Model, Observation, Pending, Scan, SeenMessage, State, States
from conformance.model.expected import message_name
from conformance.model.journals import REPORTS, plain_name
from conformance.model.message_properties import ATTRIBUTES
from conformance.model.tables import CursorState, PositionState
from conformance.model.values import replace
from conformance.verdict import Json, Outcome, Verdict, held

Params: TypeAlias = Mapping[str, Any]

_KINDS: Final = {"queue": "h", "cursor": "c", "transaction": "t", "read": "b", "destination": "h"}
"""The member of a request or a result that holds a handle, and the first letter of the names of its kind."""
_GIVES: Final = {
    "queues.open": "queue", "cursors.open": "cursor", "transactions.begin": "transaction",
    "messages.receive_begin": "read",
}  # fmt: skip
_SYSTEM: Final = ("journal", "deadletter", "deadxact")
_KEPT = 64  # Things that are over, of each kind, that the state still knows.
_PRUNED_EVERY: Final = 64
_LABEL: Final = 249  # Of a longer one, readings differ (R-MQMQ-long-label).
_MOST = 4_096  # Messages in a queue: each call costs as much time as there are.
_COMPARED: Final = tuple(
    (one.member, one.unchanged, one.default[0])
    for one in ATTRIBUTES
    if one.unchanged is not None
    and one.default is not None
    and one.member not in ("priority", "delivery", "response_queue", "administration_queue")
)
"""Members that are received as they were sent, with the requirement and the default; the model judges the others."""
_JUDGED_MEMBERS: Final = frozenset({
    *(one.member for one in ATTRIBUTES), "class", "connector_type",
})  # fmt: skip
_SHAPING: Final = frozenset({
    "PROPID_Q_TRANSACTION", "PROPID_Q_JOURNAL", "PROPID_Q_QUOTA", "PROPID_Q_JOURNAL_QUOTA", "PROPID_Q_AUTHENTICATE",
    "PROPID_Q_PRIV_LEVEL", "PROPID_Q_BASEPRIORITY", "PROPID_Q_MULTICAST_ADDRESS",
})  # fmt: skip
"""Properties of a queue that decide what becomes of messages."""
_FOLLOWED: Final[Mapping[str, range]] = {
    "PROPID_Q_TRANSACTION": range(2),
    "PROPID_Q_JOURNAL": range(2),
    "PROPID_Q_QUOTA": range(1, 1 << 32),
    "PROPID_Q_JOURNAL_QUOTA": range(1, 1 << 32),
}
"""Those of them that are followed, with the values that are."""
_SETTABLE: Final = frozenset({"PROPID_Q_JOURNAL", "PROPID_Q_QUOTA", "PROPID_Q_JOURNAL_QUOTA"})
"""Those that are followed when they are set."""
_HARMLESS: Final = frozenset(
    {"queues.get", "names.parse", "clock.now", "management.get", "security.get", "outgoing.counts"}
)
"""Methods that change nothing, and that are not judged here."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A request that the model follows. waits: the name of the read, if it may wait."""

    call: Call
    params: Params
    pending: Pending


@dataclass(slots=True)
class Sent:
    """A message that a program sent, as the protocol has it, and its length in bytes."""

    message: Params
    size: int


@dataclass(slots=True)
class Programs:
    """The calls of all programs, in their order. Feed `begin` and `end` with each, and `passes` with the time.

    over: why nothing is judged any more; None while it is. computer: its name in queue names. look: returns what is in
    the queue of a format name, without changing it, so that the right requirement is blamed.
    """

    computer: str
    model: Model
    look: Callable[[str], Sequence[Result]] = lambda format_name: ()
    states: States = field(default_factory=States)
    over: str | None = None
    calls: int = 0
    _names: dict[tuple[str, Any], str] = field(default_factory=dict)
    _queues: dict[str, str] = field(default_factory=dict)
    _texts: dict[str, str] = field(default_factory=dict)
    _sent: dict[str, Sent] = field(default_factory=dict)
    _identifiers: dict[str, str] = field(default_factory=dict)
    _contents: dict[int, list[str]] = field(default_factory=dict)
    _count: int = 0
    _left_out: tuple[str, str] = ("", "")

    @property
    def state(self) -> State:
        """The state under the default readings."""
        return self.states.likely

    def begin(self, method: str, params: Params) -> Asked | None:
        """Take a request that is about to be made; None if it is not judged."""
        if self.over is not None or method in _HARMLESS:
            return None
        if method == "queues.set" and not _SHAPING & set(params.get("properties", {})):
            return None
        lift = _LIFTED.get(method)
        try:
            if lift is None:
                raise BadCall(f"{method} is not followed")
            call = lift(self, method, params)
            asked = Asked(call, params, self.model.due(self.states, call))
        except (BadCall, _Unknown) as why:
            self._left_out = method, str(why)
            return None
        return asked

    def begun_as(self, request: Any, asked: Asked) -> None:
        """Keep the number by which a read that may wait can be cancelled."""
        if asked.call.name is not None:
            self._names["w", request] = asked.call.name

    def left_out(self, succeeded: bool) -> None:
        """Take the end of a request that `begin` did not judge. After one that changed something, nothing is known."""
        method, why = self._left_out
        if method and succeeded and self.over is None:
            self.over = f"{method} changed what is not followed ({why})"
        self._left_out = "", ""

    def unfollowed(self, why: str) -> None:
        """Judge nothing from here on."""
        self.over = self.over or why

    def end(self, asked: Asked, result: Result | None, ended: Mapping[str, Result]) -> tuple[Verdict, ...]:
        """Judge an answer. result: None for a read that waits. ended: results of waiting reads, by their names."""
        call, verdicts = asked.call, list[Verdict]()
        if result is not None and not result.ok and _doubtful(asked.params):
            return ()
        answer = None if result is None else self._answer(call, result, verdicts)
        keep = _MEMORY.get(call.method)
        if keep is not None and result is not None and result.ok:
            keep(self, asked, result)
        completed = {name: self._answer(call, one, verdicts, waited=name) for name, one in ended.items()}
        try:
            observation = Observation(answer, completed)
            judged = self.model.step(self.states, call, observation, None, asked.pending)
            if judged.ask is not None and (scan := self._scan(judged.ask, call)) is not None:
                judged = self.model.step(self.states, call, observation, scan, asked.pending)
        except BadCall as why:
            self.over = f"{call.method} led where nothing is described ({why})"
            return ()
        self.calls += 1
        self.states = judged.states
        if result is not None and result.ok:
            self._bind(call, result)
        every = (*judged.verdicts, *verdicts)
        if any(one.outcome is Outcome.FAIL for one in every):
            self.over = f"{call.method} deviates, and the state of the manager is not known any more"
        elif judged.states.capped:
            self.over = "too many states are possible"
        elif self.calls % _PRUNED_EVERY == 0:
            self._prune()
        return every

    def passes(self, ms: int) -> Asked | None:
        """Take the time that is about to pass on a virtual clock."""
        return self.begin("clock.advance", {"by_ms": ms})

    def timed(self) -> bool:
        """Tell whether a moment matters: a read waits for a time, or a message has a limited time."""
        state = self.state
        return any(waiter.deadline is not None for waiter in state.waiters) or any(
            position.wishes is not None and position.wishes.live_ms is not None and position.available
            for queue in state.queues.values()
            for position in queue.positions
        )

    # --- Names

    def known(self, member: str, raw: Any) -> str:
        """Return the name of a handle in a request. Raises an error for one that no answer gave."""
        name = self._names.get((_KINDS.get(member, member), raw))
        if name is None:
            raise _Unknown(f"{member} {str(raw)[:40]!r} is unknown")
        return name

    def fresh(self, letter: str) -> str:
        """Return a new name."""
        self._count += 1
        return f"{letter}{self._count}"

    def queue(self, text: str) -> str:
        """Return the name of the queue that a format name or a path name designates."""
        head, _, suffix = text.strip().casefold().partition(";")
        name = self._queues.get(head) or self._place(head)
        self._queues[head] = name
        if suffix:
            name = f"{name};{suffix.upper() if suffix in _SYSTEM else suffix}"
        if "=" in head:
            self._texts[name] = text
        return name

    def _place(self, head: str) -> str:
        host, _, rest = head.removeprefix("direct=").partition("\\")
        direct = head.startswith(("direct=os:", "direct=tcp:")) or "=" not in head
        if not (direct and rest) or "," in head:
            raise _Unknown(f"{head[:60]!r} is not followed")
        plain = host.removeprefix("os:").removeprefix("tcp:")
        local = plain in (".", "localhost", "127.0.0.1", self.computer.casefold())
        if rest == "system$":
            return "SYSTEM"
        key = rest if local else f"{plain}\\{rest}"
        same = self._queues.get(key)
        if same is None:
            same = self._queues[key] = self.fresh("q") if local else self.fresh("remote")
        return same

    # --- What is sent, and what comes

    def keep_message(self, asked: Asked, result: Result) -> None:
        """Keep what was sent, by its content and its identifier."""
        name, message = asked.call.message or "", asked.params.get("message", {})
        self._sent[name] = Sent(message, asked.call.size)
        self._contents.setdefault(_content(message), []).append(name)
        identifier = answer_of(result).values.get("identifier")
        if isinstance(identifier, str):
            self._identifiers[identifier] = name

    def keep_queue(self, asked: Asked, result: Result) -> None:
        """Keep the format name that a creation has given."""
        if "format_name" in result.values:
            self._texts[asked.call.queue or ""] = text = str(result.values["format_name"])
            self._queues[text.casefold()] = asked.call.queue or ""

    def _answer(self, call: Call, result: Result, verdicts: list[Verdict], waited: str | None = None) -> Answer:
        answer = answer_of(result)
        weighed = {name: one for name, one in answer.values.items() if not name.endswith("bytes")}
        answer = replace(answer, values=weighed)  # Bodies have any length here, and the model weighs by names.
        seen = answer.message
        if seen is None:
            return answer
        raw = result.values["message"]
        reports = raw.get("administration_queue", "")
        admin = self._admin(reports) if reports else ""
        if seen.klass in REPORTS:
            return replace(answer, message=replace(seen, admin=admin))
        name = self._name_of(seen, raw, self._reading(call, waited))
        sent = self._sent.get(name or "")
        if name is None or sent is None:
            return answer
        verdicts.extend(_compared(waited or call.method, sent.message, raw))
        shown = SeenMessage(
            body=name.encode().ljust(sent.size), label=name, priority=seen.priority, delivery=seen.delivery,
            lookup_identifier=seen.lookup_identifier, identifier=seen.identifier, klass=seen.klass,
            correlation=seen.correlation, first_in_transaction=seen.first_in_transaction,
            last_in_transaction=seen.last_in_transaction, admin=admin,
        )  # fmt: skip
        return replace(answer, message=shown)

    def _scan(self, queue: str, call: Call) -> Scan | None:
        """Return what is in a queue now; None where nobody has named it."""
        text = self._texts.get(queue)
        if text is None:
            return None
        answers = [self._answer(call, one, []) for one in self.look(text)]
        found = tuple(one.message for one in answers if one.message is not None)
        return Scan(tuple(map(message_name, found)), queue, found)

    def _admin(self, text: str) -> str:
        try:
            return self.queue(text)
        except _Unknown:
            return text

    def _reading(self, call: Call, waited: str | None) -> str:
        if waited is not None:
            return next((one.queue for one in self.state.waiters if one.name == waited), "")
        handle = self.state.handles.get(call.handle or "")
        return handle.queue if handle is not None else ""

    def _name_of(self, seen: SeenMessage, raw: Params, queue: str) -> str | None:
        """Return the name of the sent message that has come: by its identifier, else the first that is there."""
        if seen.identifier is not None and seen.identifier in self._identifiers:
            return self._identifiers[seen.identifier]
        alike = self._contents.get(_content(raw), [])
        there = self.state.queues.get(queue)
        positions = there.positions if there is not None else ()
        able = {plain_name(one.message) for one in positions if one.available}
        return next((name for name in alike if name in able), alike[0] if alike else None)

    def _bind(self, call: Call, result: Result) -> None:
        member = _GIVES.get(call.method)
        if member is not None and member in result.values and call.name is not None:
            self._names[_KINDS[member], result.values[member]] = call.name

    def bind_ended(self, method: str, name: str, result: Result) -> None:
        """Keep the handle that a waiting read has given at its end."""
        member = _GIVES.get(method)
        if member is not None and result.ok and member in result.values:
            self._names[_KINDS[member], result.values[member]] = name

    def _prune(self) -> None:
        """Forget what is over, so that a call costs the same after an hour."""
        states = tuple(map(_pruned, self.states.states))
        if any(len(queue.positions) > _MOST for queue in states[0].queues.values()):
            self.over = f"more than {_MOST:,} messages are in a queue"
        self.states = replace(self.states, states=states)
        left = {
            plain_name(one.message) for state in states for queue in state.queues.values() for one in queue.positions
        }
        gone = [name for name in self._sent if name not in left]
        for name in gone[:-_KEPT]:
            alike = self._contents[_content(self._sent.pop(name).message)]
            alike.remove(name)
        if len(self._identifiers) > len(self._sent) + 2 * _PRUNED_EVERY:
            self._identifiers = {text: name for text, name in self._identifiers.items() if name in self._sent}
        self._contents = {key: names for key, names in self._contents.items() if names}
        alive = {
            name for state in states for name in (*state.handles, *state.cursors, *state.transactions, *state.begun)
        }
        alive |= {waiter.name for waiter in states[0].waiters}
        self._names = {key: name for key, name in self._names.items() if name in alive}


class _Unknown(Exception):
    """A request names something that no answer gave, or that is not followed."""


def _content(message: Params) -> int:
    return hash((message.get("body", ""), message.get("label", "")))


def _compared(subject: str, sent: Params, seen: Params) -> Iterable[Verdict]:
    """Yield the verdicts on members that must be received as they were sent."""
    for member, requirement, default in _COMPARED:
        if member in seen:
            wanted = sent.get(member, default)
            if seen[member] == wanted:
                yield held(requirement, subject)
            elif member in sent:
                yield Verdict(requirement, Outcome.FAIL, subject, _short(wanted), _short(seen[member]))


def _short(value: Json) -> Json:
    return value[:200] if isinstance(value, str) else value


def _left(state: State) -> set[str]:
    """Return the names of the messages that the state has a place for."""
    return {plain_name(one.message) for queue in state.queues.values() for one in queue.positions}


def _pruned(state: State) -> State:
    """Return the state without what is over; where a cursor stands, all places of its queue stay."""
    held_by = {
        state.handles[one.handle].queue for one in state.cursors.values() if one.state is not CursorState.CLOSED
        and one.handle in state.handles
    }  # fmt: skip
    queues = {}
    for name, queue in state.queues.items():
        gone = [one for one in queue.positions if one.state is PositionState.DELETED]
        if len(gone) > _KEPT and name not in held_by:
            drop = {id(one) for one in sorted(gone, key=lambda one: one.since)[:-_KEPT]}
            queue = replace(queue, positions=tuple(one for one in queue.positions if id(one) not in drop))
        queues[name] = queue
    left = _left(replace(state, queues=queues))

    def about(found: Mapping[str, Any]) -> dict[str, Any]:
        return {name: one for name, one in found.items() if plain_name(name) in left}

    def recent(found: Mapping[str, Any], over: Callable[[Any], bool]) -> dict[str, Any]:
        ended = [name for name, one in found.items() if over(one)]
        drop = set(ended[:-_KEPT])
        return {name: one for name, one in found.items() if name not in drop}

    keeping = state.keeping
    if keeping is not None:
        keeping = replace(
            keeping, weights=(), shapes=(),
            identifiers=tuple(one for one in keeping.identifiers if plain_name(one[1]) in left),
        )  # fmt: skip
    cursors = recent(state.cursors, lambda one: one.state is CursorState.CLOSED)
    used = {one.handle for one in cursors.values()}
    return replace(
        state, queues=queues, keeping=keeping, cursors=cursors,
        handles=recent(state.handles, lambda one: not one.is_open and one.name not in used),
        transactions=recent(state.transactions, lambda one: one.ended is not None),
        begun=recent(state.begun, lambda one: one.ended), waited=state.waited[-_KEPT:],
        lookups=about(state.lookups), identifiers=about(state.identifiers), shown=about(state.shown),
    )  # fmt: skip


# --- Requests as calls

_Lift: TypeAlias = Callable[[Programs, str, Params], Call]


def _on(*members: str) -> _Lift:
    """Return what makes a call of these members of a request, each a handle."""
    named = {"queue": "handle"} | {member: member for member in members if member != "queue"}

    def lift(programs: Programs, method: str, params: Params) -> Call:
        given: dict[str, Any] = {
            named[member]: programs.known(member, params[member])
            for member in members
            if params.get(member) is not None
        }
        name = programs.fresh(_KINDS[_GIVES[method]]) if method in _GIVES else None
        return Call(method, name=name, **given)

    return lift


@cache
def _names() -> Names:
    return Names(narrowest())


def _doubtful(params: Params) -> bool:
    """Tell whether a call may be refused for its queue name: not every reading has it, or no queue can have it."""
    path, text = params.get("path_name"), params.get("format_name")
    try:
        if path is not None:
            _names().path(path)
        if text is not None:
            _names().format_name(text)
    except NameError_:
        return True
    return path is not None and ";" in path


def _create(programs: Programs, method: str, params: Params) -> Call:
    properties = params.get("properties", {})
    for name, given in properties.items():
        usual = given in _FOLLOWED[name] if name in _FOLLOWED else name not in _SHAPING or not given
        if not usual:
            raise _Unknown(f"{name} with this value is not followed")
    return Call(
        method,
        queue=programs.queue(params["path_name"]),
        transactional=bool(properties.get("PROPID_Q_TRANSACTION")),
        journaling=bool(properties.get("PROPID_Q_JOURNAL")),
        quota_kb=properties.get("PROPID_Q_QUOTA"),
        journal_quota_kb=properties.get("PROPID_Q_JOURNAL_QUOTA"),
    )


def _open(programs: Programs, method: str, params: Params) -> Call:
    share = params.get("share")
    return Call(
        method, name=programs.fresh("h"), queue=programs.queue(params["format_name"]), access=params["access"],
        share=None if share == "deny_none" else share,
    )  # fmt: skip


def _by_name(programs: Programs, method: str, params: Params) -> Call:
    return Call(method, queue=programs.queue(params["format_name"]))


def _set(programs: Programs, method: str, params: Params) -> Call:
    properties = {name: given for name, given in params.get("properties", {}).items() if name in _SHAPING}
    for name, given in properties.items():
        if name not in _SETTABLE or given not in _FOLLOWED[name]:
            raise _Unknown(f"{name} of a queue is set")
    return Call(method, queue=programs.queue(params["format_name"]), values=tuple(properties.items()))


def _send(programs: Programs, method: str, params: Params) -> Call:
    message = params["message"]
    other = sorted(set(message) - _JUDGED_MEMBERS)
    if other or len(message.get("label", "")) > _LABEL:
        raise _Unknown(f"a message with {other[0] if other else 'a long label'}")
    body = message.get("body", "")
    acks = message.get("acknowledgements")
    within = params.get("transaction")
    admin = message.get("administration_queue")
    return Call(
        method,
        handle=programs.known("queue", params["queue"]),
        message=programs.fresh("m"),
        size=len(body) * 3 // 4 - body.count("=", -2),
        priority=message.get("priority"),
        delivery=message.get("delivery"),
        journal=bool(message.get("positive_journaling")),
        dead_letter=bool(message.get("negative_journaling")),
        acks="+".join(acks) if acks else None,
        admin=programs.queue(admin) if admin else None,
        live_s=message.get("time_to_be_received"),
        reach_s=message.get("time_to_reach_queue"),
        transaction=None if within is None else programs.known("transaction", within),
    )


def _read(programs: Programs, method: str, params: Params) -> Call:
    given: dict[str, Any] = {
        name: programs.known(name, params[name]) for name in ("cursor", "transaction") if params.get(name) is not None
    }
    waits = params.get("timeout_ms", 0)
    letter = "b" if method == "messages.receive_begin" else "w"
    return Call(
        method,
        name=programs.fresh(letter) if waits or letter == "b" else None,
        handle=programs.known("queue", params["queue"]),
        timeout_ms=waits,
        **given,
    )


def _lookup(programs: Programs, method: str, params: Params) -> Call:
    action, within = params.get("action", "current"), params.get("transaction")
    message = None
    if action in ("current", "next", "previous") or "action" not in params:
        number = int(params.get("lookup_identifier", 0))
        message = next((name for name, one in programs.state.lookups.items() if one == number), None)
        if message is None:
            raise _Unknown("a lookup identifier that no read has shown")
    return Call(
        method, handle=programs.known("queue", params["queue"]), message=message,
        action=None if method == "messages.move" else action,
        destination=programs.known("destination", params["destination"]) if "destination" in params else None,
        transaction=None if within is None else programs.known("transaction", within),
    )  # fmt: skip


def _end_read(programs: Programs, method: str, params: Params) -> Call:
    return Call(method, read=programs.known("read", params["read"]), acknowledge=bool(params["acknowledge"]))


def _cancel(programs: Programs, method: str, params: Params) -> Call:
    return Call(method, request=programs.known("w", params["request"]))


def _advance(programs: Programs, method: str, params: Params) -> Call:
    return Call(method, by_ms=params["by_ms"])


_MEMORY: Final[Mapping[str, Callable[[Programs, Asked, Result], None]]] = {
    "messages.send": Programs.keep_message,
    "queues.create": Programs.keep_queue,
}
"""How a success is remembered, beside the handle that it gives."""
_LIFTED: Final[Mapping[str, _Lift]] = {
    "queues.create": _create,
    "queues.open": _open,
    "queues.delete": _by_name,
    "queues.counts": _by_name,
    "queues.set": _set,
    "queues.close": _on("queue"),
    "queues.purge": _on("queue"),
    "messages.send": _send,
    "messages.receive": _read,
    "messages.peek": _read,
    "messages.peek_next": _read,
    "messages.receive_begin": _read,
    "messages.receive_end": _end_read,
    "messages.receive_by_lookup_id": _lookup,
    "messages.peek_by_lookup_id": _lookup,
    "messages.move": _lookup,
    "messages.cancel": _cancel,
    "cursors.open": _on("queue"),
    "cursors.close": _on("cursor"),
    "transactions.begin": _on(),
    "transactions.prepare": _on("transaction"),
    "transactions.commit": _on("transaction"),
    "transactions.abort": _on("transaction"),
    "clock.advance": _advance,
}
