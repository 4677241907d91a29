"""Describe a history as a story, for readers who know queues but not this harness."""

from __future__ import annotations

from conformance.histories.operations.operation import Manner
from conformance.histories.operations.properties import few
from conformance.histories.operations.table import OPERATIONS
from conformance.model import Answer, Call, Observation, Scan, State
from conformance.model.journals import REPORTS
from conformance.model.matching import message_name
from conformance.runlog.events import Told
from conformance.spec.constants.codes import status_text

_SHOWN = ("messages", "bytes", "journal_messages", "journal_bytes", "time_ms")


def tell(call: Call, state: State, observation: Observation | None) -> Told:
    """Return one line with the call and its result. observation: None when the driver died before an answer."""
    operation = OPERATIONS[call.method]
    asked = operation.story(call, state)
    if observation is None:
        return Told(asked, "no answer")
    came = None if operation.manner is Manner.TIME else _answer(observation.answer)
    ended = (f"the waiting {name} ends: {_answer(answer)}" for name, answer in observation.completed.items())
    return Told(asked, came, tuple(ended))


def tell_scan(queue: str, scan: Scan | None) -> Told:
    """Return one line with the messages found by emptying a queue."""
    if scan is None:
        return Told(f"a look into {queue} was not possible")
    found = ", ".join(f"'{name}'" for name in scan.messages)
    return Told(f"a look into {queue}, by receiving all there is", found or "it is empty")


def _answer(answer: Answer | None) -> str:
    if answer is None:
        return "waits"
    if answer.failed:
        if answer.status is None:
            return f"fails ({answer.text})"
        return f"fails with {status_text(answer.status)}"
    if answer.messages is not None:
        return ", ".join(f"'{seen.label or message_name(seen)}'" for seen in answer.messages) or "nothing comes"
    if answer.message is None:
        told = [f"{name.replace('_', ' ')} {value}" for name, value in answer.values.items() if name in _SHOWN]
        return ", ".join((*told, *few(answer.values))) or "ok"
    seen = answer.message
    if seen.klass in REPORTS:
        return f"an acknowledgment of class 0x{seen.klass:04X} for {seen.correlation}"
    shown = seen.label or message_name(seen)
    return f"message '{shown}'" + (f" (priority {seen.priority})" if seen.priority is not None else "")
