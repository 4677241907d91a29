"""The story of a history, in words for someone who knows queues and nothing of this harness."""

from __future__ import annotations

from conformance.model import Answer, Call, Observation, Scan, State
from conformance.model.calls import INFINITE
from conformance.model.matching import message_name
from conformance.spec.constants import hresults

_VERBS = {
    "messages.receive": "receive",
    "messages.receive_begin": "begin to receive",
    "messages.peek": "peek",
    "messages.peek_next": "peek-next",
    "messages.receive_by_lookup_id": "receive by lookup identifier",
    "messages.peek_by_lookup_id": "peek by lookup identifier",
}
_SHOWN = ("messages", "bytes", "journal_messages", "journal_bytes", "time_ms")


def tell(call: Call, state: State, observation: Observation | None) -> str:
    """One line: what was asked and what came of it. observation: None when nothing came, because the driver died."""
    asked = _ask(call, state)
    if observation is None:
        return f"{asked} -> no answer"
    told = f"{asked} -> {_answer(observation.answer)}" if call.method != "clock.advance" else asked
    for name, answer in observation.completed.items():
        told += f"; the waiting {name} ends: {_answer(answer)}"
    return told


def tell_scan(queue: str, scan: Scan | None) -> str:
    """One line: what was found in a queue that was emptied to see what is in it."""
    if scan is None:
        return f"a look into {queue} was not possible"
    found = ", ".join(f"'{name}'" for name in scan.messages)
    return f"a look into {queue}, by receiving all there is -> {found or 'it is empty'}"


def _ask(call: Call, state: State) -> str:
    method = call.method
    if method == "queues.create":
        how = kept_attributes(call)
        return f"create {'transactional ' if call.transactional else ''}queue {call.queue}{_in_brackets(how)}"
    if method == "queues.counts":
        return f"count what is in {call.queue}"
    if method == "limits":
        return f"set the limits of the queue manager{_in_brackets(kept_attributes(call))}"
    if method == "clock.now":
        return "read the clock"
    if method == "queues.delete":
        return f"delete queue {call.queue}"
    if method == "queues.open":
        alone = ", denying receive to others," if call.share == "deny_receive" else ""
        return f"open {call.queue} for {call.access}{alone} as {call.name}"
    if method == "queues.close":
        return f"close {call.handle} ({_queue(call, state)})"
    if method == "queues.purge":
        return f"purge {_queue(call, state)}"
    if method == "cursors.open":
        return f"open cursor {call.name} on {_queue(call, state)}"
    if method == "cursors.close":
        return f"close cursor {call.cursor}"
    if method == "transactions.begin":
        return f"begin transaction {call.name}"
    if method.startswith("transactions."):
        return f"{method.split('.')[1]} transaction {call.transaction}"
    if method == "messages.cancel":
        return f"cancel the waiting {call.request}"
    if method == "clock.advance":
        return f"{call.by_ms} ms pass"
    if method == "restart":
        return "kill the queue manager and start it again" if call.kill else "stop the queue manager and start it again"
    if method == "messages.receive_end":
        return f"end the receive {call.read}, {'deleting' if call.acknowledge else 'keeping'} its message"
    if method == "messages.move":
        to = state.handles[call.destination or ""].queue if call.destination in state.handles else call.destination
        within = f" (transaction {call.transaction})" if call.transaction else ""
        return f"move '{call.message}' from {_queue(call, state)} to {to}{within}"
    if method == "outgoing.take":
        return f"let {call.queue} transfer what it has"
    if method.startswith("outgoing."):
        return f"{method.partition('.')[2]} {call.queue}"
    if method == "messages.send":
        return _send(call, state)
    return _read(call, state)


def _send(call: Call, state: State) -> str:
    how = [] if call.priority is None else [f"priority {call.priority}"]
    how += [call.delivery] if call.delivery else []
    how += [f"transaction {call.transaction}"] if call.transaction else []
    how += wishes(call)
    return f"send '{call.message}' to {_queue(call, state)}{_in_brackets(how)}"


def kept_attributes(call: Call) -> list[str]:
    """The quotas and the journaling a queue or the manager is given."""
    how = ["with journaling"] if call.journaling else []
    how += [f"quota {call.quota_kb} KB"] if call.quota_kb is not None else []
    return how + ([f"journal quota {call.journal_quota_kb} KB"] if call.journal_quota_kb is not None else [])


def wishes(call: Call) -> list[str]:
    """What a send asks for beside delivery."""
    how = [f"{call.size} bytes"] if call.size else []
    how += ["to be kept in the journal"] if call.journal else []
    how += ["to be kept if it is lost"] if call.dead_letter else []
    how += [f"time to be received {call.live_s} s"] if call.live_s is not None else []
    how += [f"time to reach its queue {call.reach_s} s"] if call.reach_s is not None else []
    if call.acks:
        how.append(f"acknowledgments {call.acks.replace('+', ', ').replace('_', ' ')} to {call.admin}")
    return how


def _read(call: Call, state: State) -> str:
    verb = _VERBS[call.method]
    if call.action is not None:
        verb += f", {call.action}" + (f" from '{call.message}'" if call.message else "") + ","
    how = [f"cursor {call.cursor}"] if call.cursor else []
    how += [f"transaction {call.transaction}"] if call.transaction else []
    if call.timeout_ms == INFINITE:
        how.append("waiting without end")
    elif call.timeout_ms:
        how.append(f"waiting up to {call.timeout_ms} ms")
    named = call.name and (call.timeout_ms or call.method == "messages.receive_begin")
    name = f"{call.name}: " if named else ""
    return f"{name}{verb} from {_queue(call, state)}{_in_brackets(how)}"


def _queue(call: Call, state: State) -> str:
    handle = state.handles.get(call.handle or "")
    if handle is None:
        return call.handle or "?"
    return f"{handle.queue}" if handle.is_open else f"{handle.queue} by the closed {handle.name}"


def _in_brackets(parts: list[str]) -> str:
    return f" ({', '.join(parts)})" if parts else ""


def _answer(answer: Answer | None) -> str:
    if answer is None:
        return "waits"
    if answer.failed:
        if answer.status is None:
            return f"fails ({answer.text})"
        return f"fails with {hresults.name_of(answer.status) or f'0x{answer.status:08X}'}"
    if answer.messages is not None:
        return ", ".join(f"'{seen.label or message_name(seen)}'" for seen in answer.messages) or "nothing comes"
    if answer.message is None:
        told = [f"{name.replace('_', ' ')} {value}" for name, value in answer.values.items() if name in _SHOWN]
        return ", ".join(told) or "ok"
    seen = answer.message
    if seen.klass is not None and seen.klass > 1:
        return f"an acknowledgment of class 0x{seen.klass:04X} for {seen.correlation}"
    shown = seen.label or message_name(seen)
    return f"message '{shown}'" + (f" (priority {seen.priority})" if seen.priority is not None else "")
