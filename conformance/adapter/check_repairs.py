"""The part of `adapter check` that looks for drivers that repair: docs/drivers-do-not-repair.md.

A repair makes a deviation look like conformance, so no suite can find it. Each probe makes calls whose answers differ
when a usual repair is there. Such an answer may also be the implementation's own, which is why it is a doubt and no
error: its author can tell.
"""

from __future__ import annotations

from collections.abc import Callable

from conformance.adapter.check import DriverCheck, GiveUp, told
from conformance.adapter.check_calls import Handle, fresh_queue, never_created, opened, patient_ms, settle
from conformance.adapter.client import Result
from conformance.adapter.errors import NotAccepted
from conformance.verdict import Json

_SENT: tuple[tuple[str, Json, Json], ...] = (
    ("priority", 0, 3),
    ("priority", 7, 3),
    ("label", "check", ""),
    ("delivery", "recoverable", "express"),
    ("application_tag", 5, 0),
    ("correlation_identifier", "AQIDBAUGBwgJCgsMDQ4PEBESExQ=", "AAAAAAAAAAAAAAAAAAAAAAAAAAA="),
    ("extension", "AQI=", ""),
    ("time_to_be_received", 600, 0xFFFFFFFF),
    ("time_to_reach_queue", 600, 0xFFFFFFFF),
)
"""Members with a value to send and their default (MS-MQDMPR 3.1.1.12)."""


def opening(walk: DriverCheck) -> None:
    """Open what was never created, and look whether the driver answers for its API."""
    fresh_queue(walk, "opening")
    result = walk.client.call("queues.open", format_name=never_created(walk), access="receive")
    what = "opening what is not there"
    if result.ok:
        walk.say(what, "doubt", "succeeds: does the driver make the queue, or take every name for one that exists?")
    elif _own_words(walk, result):
        walk.say(
            what, "doubt", f"{told(result)}, without an HRESULT that other failures have: does the driver ask first?"
        )
    else:
        walk.say(what, "ok", f"refused with {told(result)}")


def defaults(walk: DriverCheck) -> None:
    """Send members with other values than their defaults, and look whether the defaults are shown."""
    format_name = fresh_queue(walk, "defaults")
    sender, reader = opened(walk, format_name, "send"), opened(walk, format_name)
    filled = []
    for name, value, default in _SENT:
        if not walk.client.hello.takes("message", name):
            continue
        try:
            sent = walk.client.call("messages.send", queue=sender, message={"body": "YQ==", name: value})
        except NotAccepted:
            continue
        shown = _received(walk, reader) if sent.ok else None
        if shown is not None and name in shown and shown[name] == default:
            filled.append(f"{name} {value!r} as {default!r}")
    if filled:
        walk.say("defaults", "doubt", f"shown as the default: {', '.join(filled)}; does the driver fill them in?")
    else:
        walk.say("defaults", "ok", "no value that was sent is shown as a default")


def cursor_after_removal(walk: DriverCheck) -> None:
    """Receive at a cursor: it stays where the message was (MS-MQDMPR 3.2.7.4), unless the driver moves it.

    A peek then shows the message behind it, and a peek at the next is refused. A cursor that was moved on shows the
    third.
    """
    what = "removal at a cursor"
    for method in ("messages.peek", "messages.peek_next"):
        if not walk.client.offers(method):
            continue
        format_name = fresh_queue(walk, "removal")
        sender, reader = opened(walk, format_name, "send"), opened(walk, format_name)
        for body in ("YQ==", "Yg==", "Yw=="):
            walk.call("messages.send", queue=sender, message={"body": body})
        settle(walk)
        cursor = walk.call("cursors.open", queue=reader).values["cursor"]
        at: dict[str, Json] = {"queue": reader, "cursor": cursor}
        walk.call("messages.peek", **at, timeout_ms=patient_ms(walk))
        settle(walk)
        walk.call("messages.receive", **at, timeout_ms=patient_ms(walk))
        settle(walk)
        result = walk.client.call(method, **at, timeout_ms=patient_ms(walk))
        if result.ok and result.values["message"].get("body") == "Yw==":
            text = "passes over the message behind the one that was removed: does the driver move the cursor itself?"
            walk.say(what, "doubt", f"{method} {text}")
            return
    walk.say(what, "ok", "the cursor is not moved on")


def end_of_a_transaction(walk: DriverCheck) -> None:
    """End a transaction twice, and close a queue while one is open."""
    what = "end of a transaction"
    format_name = fresh_queue(walk, "end", transactional=True)
    sender = opened(walk, format_name, "send")
    transaction = walk.call("transactions.begin").values["transaction"]
    walk.call("messages.send", queue=sender, message={"body": "YQ=="}, transaction=transaction)
    walk.call("transactions.commit", transaction=transaction)
    again = walk.client.call("transactions.commit", transaction=transaction)
    never = walk.client.call("transactions.commit", transaction="mqconform-no-such-transaction")
    doubts = []
    if again.failure is not None and (_alike(again, never) or _own_words(walk, again)):
        doubts.append(f"a second commit is refused in words of the driver ({told(again)}): is the API asked?")
    open_one = walk.call("transactions.begin").values["transaction"]
    walk.call("messages.send", queue=sender, message={"body": "Yg=="}, transaction=open_one)
    if walk.client.offers("queues.close"):
        walk.call("queues.close", queue=sender)
        if not walk.client.call("transactions.commit", transaction=open_one).ok:
            doubts.append("closing a queue ends the transactions that sent to it: does the driver do that?")
    for doubt in doubts:
        walk.say(what, "doubt", doubt)
    if not doubts:
        walk.say(what, "ok", "an ended transaction is the API's to refuse, and nothing else ends one")


def kill_that_is_none(walk: DriverCheck) -> None:
    """Kill with an express message in a queue. It is in memory only: a manager that was killed has lost it."""
    what = "kill"
    if not walk.client.keeps_state:
        raise GiveUp
    format_name = fresh_queue(walk, "kill")
    sender = opened(walk, format_name, "send")
    message: dict[str, Json] = {"body": "YQ=="}
    if walk.client.hello.takes("message", "delivery"):
        message["delivery"] = "express"
    walk.call("messages.send", queue=sender, message=message)
    settle(walk)
    walk.client.restart(kill=True)
    again = walk.client.call("queues.open", format_name=format_name, access="receive")
    if again.ok and _received(walk, again.values["queue"]) is not None:
        text = "an express message is still there after it: does it reach the queue manager, or the driver alone?"
        walk.say(what, "doubt", text)
    else:
        walk.say(what, "ok", "an express message is gone after it")


def _received(walk: DriverCheck, reader: Handle) -> dict[str, Json] | None:
    settle(walk)
    got = walk.client.call("messages.receive", queue=reader, timeout_ms=patient_ms(walk))
    message: dict[str, Json] | None = got.values["message"] if got.ok else None
    return message


def _own_words(walk: DriverCheck, refusal: Result) -> bool:
    """Tell whether a refusal has no HRESULT though the API has them: a receive that finds nothing shows one."""
    if refusal.status is not None:
        return False
    reader = opened(walk, fresh_queue(walk, "empty"))
    return walk.client.call("messages.receive", queue=reader, timeout_ms=0).status is not None


def _alike(one: Result, other: Result) -> bool:
    return one.failure is not None and other.failure is not None and one.failure.kind == other.failure.kind


def careful(probe: Callable[[DriverCheck], None]) -> Callable[[DriverCheck], None]:
    """Return a probe that ends without a word where the driver does not offer what it needs, or its API lacks it."""

    def group(walk: DriverCheck) -> None:
        needs = {"messages.send", "messages.receive", "queues.create", "queues.open", *_NEEDS.get(probe, ())}
        if all(map(walk.client.offers, needs)):
            before = len(walk.steps)
            try:
                probe(walk)
            except (GiveUp, NotAccepted):
                walk.steps[before:] = [step for step in walk.steps[before:] if step.state != "wrong"]

    group.__name__ = probe.__name__
    return group


_NEEDS: dict[Callable[[DriverCheck], None], tuple[str, ...]] = {
    cursor_after_removal: ("cursors.open", "messages.peek"),
    end_of_a_transaction: ("transactions.begin", "transactions.commit"),
}
REPAIRS = tuple(map(careful, (opening, defaults, cursor_after_removal, end_of_a_transaction, kill_that_is_none)))
