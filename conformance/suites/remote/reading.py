"""Stories of queues, reads and cursors that MS-MQRR and MS-MQQP share, and those of one of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final
from uuid import UUID

from conformance.net.rpc.remote_read import Action
from conformance.spec.constants import hresults
from conformance.suites.remote.steps import (
    Step,
    Story,
    answer,
    begin,
    do,
    end,
    open_,
    peek,
    peek_open,
    read,
    receive,
    story,
)  # fmt: skip

PARAMETER: Final = hresults.MQ_ERROR_INVALID_PARAMETER
HANDLE: Final = hresults.MQ_ERROR_INVALID_HANDLE
TIMEOUT: Final = hresults.MQ_ERROR_IO_TIMEOUT
NOT_FOUND: Final = hresults.MQ_ERROR_MESSAGE_NOT_FOUND
USAGE: Final = hresults.MQ_ERROR_TRANSACTION_USAGE
STATUS_ACCESS_DENIED, STATUS_INVALID_HANDLE, STATUS_INVALID_PARAMETER = 0xC0000022, 0xC0000008, 0xC000000D
"""Codes of MS-ERREF, as MS-MQRR and MS-MQQP name them."""
_CANCELLED_BY_CLIENT: Final = 0x400E03E9
"""MQ_INFORMATION_REMOTE_CANCELED_BY_CLIENT (MS-MQQP 3.1.4.6)."""
RR, QQ, SECOND = "MQRR MQRR-13", "MQQP MQQP-9", "MQQP-9"
ONE = "MQRR"
_WAIT_MS, _SHORT_MS, _LONG_MS = 5000, 300, 1500
_LAST: Final = (1 << 64) - 1
_NOTHING: Final = (1 << 56) - 2
"""A lookup identifier that no message has."""
_NEXT = Action.PEEK_NEXT
UNKNOWN: Final = bytes(range(16))
"""The identifier of a transaction that nobody knows."""

_BASIC: tuple[Story, ...] = (
    story("receive", "ab", receive().gives("a").shows("handle"), end().ok(),
          receive(2).gives("b", "end:acknowledged"), end(2).ok()),
    story("acknowledged", "ab", receive().gives("a"), end().ok(), peek().gives("b", "end:acknowledged")),
    story(
        "not-acknowledged", "ab", receive().gives("a"), end(acknowledge=False).ok(),
        peek().gives("a", "end:not-acknowledged"), receive(2).gives("a", "end:not-acknowledged"),
    ),
    story(
        "not-acknowledged-recoverable", "rb", receive().gives("r"), end(acknowledge=False).ok(),
        peek().gives("r", "end:not-acknowledged"),
    ),
    story("receive-locks", "abc", receive().gives("a"), receive(2, "i").gives("b", "receive-locks"), opened="hi"),
    story("first-unlocked", "ab", receive().gives("a"), peek("i").gives("b", "first-unlocked"), opened="hi"),
    story("peek-current", "ab", peek().gives("a").shows("no-handle"), peek().gives("a")),
    story("peek-complete", "ab", peek(request=5).gives("a"), end(5).fails("read:peek-complete"), uses=RR),
    story("cancel-complete", "a", peek(request=5).gives("a"), do("cancel", request=5).fails("not-waiting",
          "read:peek-complete")),
    story(
        "peek-at-cursor", "ab", do("cursor").ok().shows("cursor"), peek(cursor="k").gives("a", "peek-at-cursor"),
        peek(cursor="k").gives("a", "peek-at-cursor"),
    ),
    story(
        "peek-next", "ab", do("cursor").ok(), peek(cursor="k").gives("a", "peek-at-cursor"),
        read(_NEXT, 2, cursor="k").gives("b"), peek(cursor="k").gives("b", "peek-next"),
        read(_NEXT, 3, cursor="k").fails("io-timeout", code=TIMEOUT),
    ),
    story(
        "receive-at-cursor", "abc", do("cursor").ok(), peek(cursor="k").gives("a", "peek-at-cursor"),
        read(_NEXT, 2, cursor="k").gives("b"), receive(3, cursor="k").gives("b", "receive-at-cursor"), end(3).ok(),
        peek(cursor="k").gives("c", "receive-at-cursor"), uses=RR,
    ),
    story(
        "received-at-cursor", "abc", do("cursor").ok(), peek(cursor="k").gives("a", "peek-at-cursor"),
        read(_NEXT, 2, cursor="k").gives("b"), receive(3, cursor="k").gives("b", "receive-at-cursor"), uses=QQ,
    ),
    story(
        "cursor-unlocked", "ab", receive().gives("a"), do("cursor", "i").ok(),
        peek("i", cursor="k").gives("b", "cursor-unlocked"), opened="hi",
    ),
    story(
        "two-cursors", "ab", do("cursor", name="k").ok().shows("cursor"), do("cursor", name="l").ok().shows("cursor"),
        peek(cursor="k").gives("a", "peek-at-cursor"), read(_NEXT, 2, cursor="k").gives("b"),
        peek(cursor="l").gives("a", "peek-at-cursor"),
    ),
    story(
        "already-received", "ab", do("cursor").ok(), peek(cursor="k").gives("a", "peek-at-cursor"),
        receive(2).gives("a"), end(2).ok(), peek(cursor="k").fails("already-received",
        code=hresults.MQ_ERROR_MESSAGE_ALREADY_RECEIVED), uses=RR,
    ),
    story("closed-cursor", "a", do("cursor").ok(), do("close-cursor", cursor="k").ok(),
          peek(cursor="k").fails("close-cursor:closed", "unknown-cursor")),
    story("cursor-twice", "a", do("cursor").ok(), do("close-cursor", cursor="k").ok(),
          do("close-cursor", cursor="k").fails("unknown" , code=HANDLE), uses=QQ),
    story("cursor-closed-twice", "a", do("cursor").ok(), do("close-cursor", cursor="k").ok(),
          do("close-cursor", cursor="k").fails(), do("close-cursor", cursor=12345).fails(), uses=RR),
    story("cursor-of-another", "a", do("cursor").ok(), do("close-cursor", "i", cursor="k").fails(), opened="hi",
          uses=RR),
    story("cursor-unknown", "a", do("close-cursor", cursor=12345).fails("unknown", code=HANDLE),
          do("close-cursor", cursor=1, queue=12345).fails("unknown", code=HANDLE), uses=QQ),
    story("unknown-cursor", "a", peek(cursor=12345).fails("unknown-cursor", code=STATUS_INVALID_HANDLE), uses=RR),
    story("unknown-cursor", "a", peek(cursor=12345).fails("unknown-cursor", code=STATUS_INVALID_PARAMETER), uses=QQ),
    story("io-timeout", "", receive(timeout_ms=_SHORT_MS).fails("io-timeout", code=TIMEOUT).shows("no-handle")),
    story("peek-timeout", "", peek(timeout_ms=_SHORT_MS).fails("io-timeout", code=TIMEOUT)),
    story("waits", "", begin(receive(timeout_ms=_WAIT_MS)), do("send", letters="a"),
          answer(receive(timeout_ms=_WAIT_MS)).gives("a", "waits")),
    story("peek-waits", "", begin(peek(timeout_ms=_WAIT_MS)), do("send", letters="a"),
          answer(peek(timeout_ms=_WAIT_MS)).gives("a", "waits")),
    story("cursor-waits", "", do("cursor").ok(), begin(peek(timeout_ms=_WAIT_MS, cursor="k")), do("send", letters="a"),
          answer(peek(timeout_ms=_WAIT_MS, cursor="k")).gives("a", "waits")),
    story("read-time-out", "", receive(timeout_ms=_LONG_MS).fails("io-timeout").shows(
          "3.1.2.1.read-time-out", "3.1.2.read-time-out")),
    story("next-without-cursor", "ab", read(_NEXT).fails("next-without-cursor", code=STATUS_INVALID_PARAMETER),
          uses=QQ),
    story("purged", "ab", do("purge").ok(), peek().fails("purge:purged", code=TIMEOUT)),
    story("purged-among", "abc", receive().gives("a"), do("purge", "i").ok(), end(acknowledge=False),
          peek("i").fails("purge:purged"), opened="hi"),
    story("share", "", open_("h", share=1).shows("handle"), open_("i", via="2").fails("open:deny-share").shows(),
          do("close").ok(), open_("i", via="2").ok("close:closed"), opened="", uses=ONE),
    story("share-taken", "", open_("h"), open_("i", via="2", share=1).throws("deny-share"), opened="", uses=ONE),
)  # fmt: skip


def _cancels(what: Callable[..., Step], name: str) -> tuple[Story, ...]:
    """Return the stories of a read that waits and is cancelled."""
    waiting = what(request=5, timeout_ms=_WAIT_MS)
    return (
        story(f"{name}-cancelled", "", begin(waiting), do("cancel", request=5).ok(),
              answer(waiting).fails("cancel:cancelled", code=hresults.MQ_ERROR_OPERATION_CANCELLED),
              do("send", letters="a"), peek().gives("a", "cancel:cancelled"), uses=RR),
        story(f"{name}-cancelled", "", begin(waiting), do("cancel", request=5).ok(),
              answer(waiting).fails("cancel:cancelled", code=_CANCELLED_BY_CLIENT),
              do("send", letters="a"), peek().gives("a", "cancel:cancelled"), uses=QQ),
        story(f"{name}-repeated", "", begin(waiting), what(request=5).fails("repeated-id", code=PARAMETER),
              do("cancel", request=5), uses=QQ),
        story(f"{name}-cancelled-other", "", begin(waiting), do("cancel", request=7).fails(
              "other-request", code=hresults.MQ_ERROR), do("cancel", request=5).ok(), uses=QQ),
    )  # fmt: skip


_ENDS: tuple[Story, ...] = (
    story("end-twice", "ab", receive(5).gives("a"), receive(6).gives("b"), end(5).ok(),
          end(5).fails("other-request", code=PARAMETER),
          end(7).fails("other-request", code=PARAMETER), end(6).ok()),
    story("end-alone", "a", end(5).fails("no-request", code=HANDLE), peek().gives("a", "end:no-request")),
    story("end-of-another", "ab", receive(5).gives("a"), end(5, "i").fails("no-request", code=HANDLE),
          end(5).ok(), opened="hi"),
    story("end-after-cancel", "", begin(receive(5, timeout_ms=_WAIT_MS)), do("cancel", request=5).ok(),
          answer(receive(5, timeout_ms=_WAIT_MS)).fails("cancel:cancelled"), end(5).fails("no-request")),
    story("cancel-after-end", "a", receive(5).gives("a"), end(5).ok(), do("cancel", request=5).fails("not-waiting")),
    story("cancel-alone", "a", do("cancel", request=77).fails("not-waiting")),
    story("cancel-begun", "ab", receive(5).gives("a"), do("cancel", request=5), end(5), peek("i").gives("b",
          "end:acknowledged"), opened="hi"),
    story("purged-while-begun", "ab", receive(5).gives("a"), do("purge", "i").ok(), end(5).ok(), opened="hi"),
    story("request-in-use", "ab", receive(5).gives("a"), receive(5).fails("invalid-parameter")),
    story("purge-denied", "a", peek_open(), do("purge", "p").fails("denied", code=STATUS_ACCESS_DENIED),
          peek("p").gives("a", "purge:denied")),
)  # fmt: skip
_SEEKS: tuple[tuple[Action, str, str], ...] = (
    (Action.LOOKUP_PEEK_CURRENT, "b", "b"),
    (Action.LOOKUP_PEEK_NEXT, "a", "b"),
    (Action.LOOKUP_PEEK_PREV, "b", "a"),
    (Action.LOOKUP_RECEIVE_CURRENT, "b", "b"),
    (Action.LOOKUP_RECEIVE_NEXT, "a", "b"),
    (Action.LOOKUP_RECEIVE_PREV, "b", "a"),
)
"""A lookup, the message whose identifier is given, and the one that comes."""


def _seeks() -> tuple[Story, ...]:
    found = []
    for action, of, to in _SEEKS:
        keeps = not action & 0x20
        name = f"lookup-{action.name.lower().removeprefix('lookup_').replace('_', '-')}"
        handle = "no-handle" if keeps else "handle"
        begun = read(action, 1, lookup=of).gives(to).shows(handle, "sequence-id", "sequential-id")
        stays = (read(action, 2, "i", lookup=of).gives(to),) if keeps else ()
        end_of = () if keeps else (end(1, acknowledge=False).gated().ok(), read(action, 2, lookup=of).gives(to))
        found.append(story(name, "abc", begun, *stays, opened="hi", uses=f"{RR} {SECOND}"))
        if end_of:
            again = replace(end_of[1], words=("end:not-acknowledged",))
            found.append(story(f"{name}-returned", "abc", begun, end_of[0], again, uses=RR))
        found.append(
            story(
                f"{name}-timed",
                "abc",
                read(action, 1, lookup=of, timeout_ms=1).fails("with-time-out", code=PARAMETER),
                uses=SECOND,
            )
        )
        found.append(
            story(
                f"{name}-timed",
                "abc",
                read(action, 1, lookup=of, timeout_ms=1).fails("invalid-parameter", code=PARAMETER),
                uses=RR,
            )
        )
        found.append(
            story(f"{name}-none", "abc", read(action, 1, lookup=0).fails("lookup-zero", code=PARAMETER), uses=RR)
        )
    return tuple(found)  # fmt: skip


_LOOKUPS: tuple[Story, ...] = (
    story("lookup-not-found", "abc",
          read(Action.LOOKUP_PEEK_CURRENT, lookup=_NOTHING).fails("lookup-not-found", code=NOT_FOUND),
          read(Action.LOOKUP_PEEK_NEXT, lookup="c").fails("lookup-not-found", code=NOT_FOUND), uses=RR),
    story("lookup-gone", "abc",
          read(Action.LOOKUP_PEEK_CURRENT, lookup=_NOTHING).fails("fails").shows("no-handle"), uses=SECOND),
    story("lookup-locks", "ab", read(Action.LOOKUP_RECEIVE_CURRENT, lookup="a").gives("a"),
          peek("i").gives("b", "lookup-receive-locks"), opened="hi", uses=RR),
    story("lookup-unlocked", "abc", receive(2, "i").gives("a"), receive(3, "i").gives("b"),
          read(Action.LOOKUP_PEEK_NEXT, lookup="a").gives("c", "lookup-unlocked"), opened="hi", uses=RR),
    story("lookup-with-cursor", "ab", do("cursor").ok(), read(Action.LOOKUP_PEEK_CURRENT, lookup="a", cursor="k").fails(
          "invalid-parameter", code=PARAMETER), uses=RR),
    story("invalid", "ab", do("cursor").ok(),
          *(each.fails("invalid-parameter", code=PARAMETER)
            for each in (read(5), read(_NEXT, 2), receive(3, lookup="a"), peek(request=4, lookup="a"),
                         read(0x40000013, 5, lookup="a")))),
)  # fmt: skip
_WRONG: Final[tuple[tuple[str, dict[str, Any]], ...]] = (
    ("no-queue", {"queue": 0, "place": 0}),
    ("not-open", {"queue": 12345, "place": 12345}),
    ("with-cursor", {"cursor": 1}),
)
_TAKEN: Final[tuple[tuple[str, str, dict[str, Any]], ...]] = (
    ("no-place", "zero", {"place": 0}),
    ("no-context", "zero", {"context": 0}),
    ("nothing", "zero", {"place": 0, "context": 0}),
    ("unequal", "unequal", {"place": 5, "context": 6}),
)
_OLDER_LOOKUPS: tuple[Story, ...] = (
    *(
        story(f"lookup-{word}", "abc", read(action, lookup=of).gives(to, f"lookup-{word}").shows("sequential-id"),
              uses=SECOND)
        for word, action, of, to in (
            ("peek-first", Action.LOOKUP_PEEK_NEXT, 0, "a"),
            ("peek-last", Action.LOOKUP_PEEK_PREV, _LAST, "c"),
            ("receive-first", Action.LOOKUP_RECEIVE_NEXT, 0, "a"),
            ("receive-last", Action.LOOKUP_RECEIVE_PREV, _LAST, "c"),
        )
    ),
    *(
        story(f"lookup-{word}", "ab", read(Action.LOOKUP_PEEK_CURRENT, lookup="a", **args).fails(
            word, code=PARAMETER).shows("no-handle"), uses=SECOND)
        for word, args in _WRONG
    ),
    story("lookup-packet-alone", "xb", read(Action.LOOKUP_PEEK_CURRENT, lookup="x").gives("x", "success").shows(
          "packet"), uses=SECOND),
    story("lookup-packet", "xb", peek().gives("x").shows("packet"),
          read(Action.LOOKUP_PEEK_CURRENT, lookup="x").gives("x", "success").shows("size", "members", "packet"),
          uses=SECOND),
)  # fmt: skip
_PACKETS: tuple[Story, ...] = (
    story("arrive-time", "A", receive().gives("A").shows(
        "arrive-time", "2.2.2.1.arrive-time", "sequence-id", "sequential-id")),
    story("packet", "xb", peek().gives("x").shows("size", "packet"), uses=QQ),
    story("whole", "xb", peek().gives("x").shows(
        "number-of-sections", "whole", "whole-type", "whole-sizes", "whole-buffer", "2.2.6.type", "2.2.6.size",
        "2.2.6.size-alloc-equal", "2.2.5.5.address", "2.2.5.1.address-type"), uses=RR),
    story("whole-of-usual", "A", peek().gives("A").shows("whole-buffer"), uses=RR),
    story("cut", "ab", peek().gives("a", "whole").shows("whole-buffer"), peek(max_body=3).gives("a", "first").shows(
        "first", "first-type", "first-buffer", "first-size", "2.2.6.size-alloc-at-least", "first-size-alloc", "second",
        "second-type", "second-buffer", "second-sizes", "2.2.6.type", "2.2.6.size-alloc", "2.2.6.size-alloc-equal",
        "sections-binary"), uses=RR),
    story("cut-exactly", "ab", peek(max_body=12).gives("a", "whole").shows("whole", "whole-type", "whole-sizes"),
          uses=RR),
    story("compound-size", "ab", peek(max_compound=0).gives("a", "compound-size-of-srmp").shows("whole"), uses=RR),
    *(story(f"time-to-reach-queue-{letter}", letter, peek().gives(letter).shows("time-to-reach-queue"), uses=ONE)
      for letter in "ta"),
    story("sections", "xb", peek().gives("x").shows("whole-buffer"), peek(transaction=bytes(16)).gives(
        "x", "sections").shows("sections"), uses="MQRR-13"),
)  # fmt: skip
_RUNDOWNS: tuple[Story, ...] = (
    story("rundown-share", "", open_("h", share=1), do("cursor").ok(), do("drop", "1"),
          open_("i", via="2", share=1).ok("3.1.6.1.handles-closed"), opened="", uses=ONE),
    story("rundown-receive", "ab", open_("i", via="2"), receive().gives("a"), peek("i").gives("b", "receive-locks"),
          do("drop", "1"), peek("i").gives("a", "3.1.6.2.requests-released", "3.1.6.2.released"), uses="MQRR MQQP"),
    story("rundown-lookup", "ab", open_("i", via="2"), read(Action.LOOKUP_RECEIVE_CURRENT, lookup="b").gives("b"),
          receive(2, "i").gives("a"), peek("i").fails("receive-locks"), do("drop", "1"),
          peek("i").gives("b", "3.1.6.2.requests-released"), uses=ONE),
    story("rundown-receive-share", "ab", open_("h", share=1), receive().gives("a"), do("drop", "1"),
          open_("i", via="2", share=1).ok("3.1.6.1.handles-closed"), opened="", uses=ONE),
)  # fmt: skip
_OPENINGS: tuple[Story, ...] = (
    story("handles", "", do("close").ok().shows("null-after"), do("close").fails("fails")),
    story("access", "ab", peek().gives("a", "open:receive-access"), receive().gives("a", "open:receive-access"),
          peek_open(), peek("p").gives("b", "open:peek-access"), receive(2, "p").fails("open:peek-access")),
    story("deny-none", "", open_("i", via="2").ok("deny-none")),
    *(story(f"none-{verb}", "", replace(open_("x", queue="none"), verb=verb, args=args).throws(
        "not-found", "throws", code=hresults.MQ_ERROR_QUEUE_NOT_FOUND), opened="")
      for verb, args in (("open", {"queue": "none", "access": 1}), ("open-move", {"queue": "none"}))),
    story("invalid-access", "", open_("x", access=0x40).throws(
        "invalid-parameter", "throws", code=PARAMETER), opened=""),
    story("invalid-share", "", open_("x", share=7).throws(
        "invalid-parameter", "throws", code=PARAMETER), opened=""),
    *(story(f"{verb}-{word}", "", replace(open_("x"), verb=verb, args={"queue": queue, **args}).ok(word), opened="")
      for verb, queue in (("open", "q"), ("open-move", "q;sub"))
      for word, args in (("client-id-ignored", {"client": UUID(int=0)}), ("client-id-of-routing", {"routing": True}),
                         ("version-ignored", {"version": (0, 0, 0)}),
                         ("version-ignored", {"version": (255, 255, 65535)}))),
    story("port", "", do("port").ok("port").shows("port")),
)  # fmt: skip
_CLOSED: tuple[Story, ...] = (
    story("closed", "a", do("cursor").ok(), do("close").ok(), peek().fails("unknown-handle"), receive().fails("fails"),
          do("cursor").fails(), do("close-cursor", cursor="k").fails(), do("purge").fails(), end().fails(),
          do("cancel", request=1).fails(), do("classify", lookup=1, message_class=0).fails("fails"),
          do("move", destination=1, lookup=1).fails("fails"),
          do("end-transactional", request=1, acknowledge=True).fails("fails"), uses=RR),
    story("invented-handle", "a", peek("invented").fails("unknown-handle"),
          *(do(verb, "invented").fails("fails") for verb in ("close", "cursor")), uses=ONE),
    story("zeros-handle", "a", peek("zeros").fails("unknown-handle"), do("close", "zeros").fails("fails"), uses=ONE),
    story("handle-of-another-interface", "a", do("stray").throws("2.2.4.strict"), peek().gives("a", "2.2.4.strict")),
    story("handle-of-another-client", "a", do("port"), peek(via="2").fails("unknown-handle"),
          receive(via="2").fails("unknown-handle"), peek().gives("a", "read:unknown-handle"), uses=ONE),
)  # fmt: skip


def _short(octets: bytes) -> bytes:
    return octets[:-1]


def _lacking(octets: bytes) -> bytes:
    return octets[:-4]


_MALFORMED: tuple[Story, ...] = tuple(
    story(f"cut-short-{step.verb}-{how.__name__[1:]}", "ab", do("cursor").ok(),
          replace(step, args={**step.args, "alter": how}).throws("3.1.4.strict-ndr"),
          peek().gives("a", "3.1.4.strict-ndr"))
    for how in (_short, _lacking)
    for step in (open_("x"), do("close"), do("purge"), receive(7), do("cancel", request=7), end(7),
                 do("close-cursor", cursor="k"))
)  # fmt: skip
_OLDER: tuple[Story, ...] = (
    story("handle", "ab", receive().gives("a").shows("handle"), end().ok().shows("null-after"),
          receive(2).gives("b"), end(2, acknowledge=False).ok()),
    story("no-handle", "", receive().fails("io-timeout").shows("no-handle")),
    story("released", "a", do("release"), peek().gives("a", "open:success")),
    story("peek-is-complete", "a", peek(request=5).gives("a").shows("no-handle"), do("cancel", request=5).fails(
          "read:peek-complete", "cancel:no-request")),
    story("end-zeros", "a", end(handle=bytes(20)).fails("null-handle", code=HANDLE)),
    story("close-zeros", "a", do("close", "zeros").fails("null-handle", code=HANDLE)),
    story("cancel-alone", "", do("cancel", request=5).fails("no-request", code=HANDLE)),
    *(story(f"cancel-place-{name}", "", begin(receive(5, timeout_ms=_WAIT_MS)),
            do("cancel", request=5, place=place).fails("other-queue", code=PARAMETER),
            do("cancel", request=5).ok())
      for name, place in (("zero", 0), ("other", lambda opened: opened.place ^ 1))),
    story("closed", "a", do("close").ok().shows("null-after"), peek().fails("close:closed", code=PARAMETER)),
    story("closed-waiting", "", begin(receive(5, timeout_ms=_WAIT_MS)), do("close").ok(),
          answer(receive(5, timeout_ms=_WAIT_MS)).fails("close:reads-cancelled", code=_CANCELLED_BY_CLIENT)),
    *(story(f"other-queue-{name}", "a", peek(place=place).fails("other-queue", code=PARAMETER))
      for name, place in (("zero", 0), ("other", lambda opened: opened.number ^ 1))),
    story("not-open", "a", peek(queue=12345, place=12345).fails("not-open", code=PARAMETER)),
    story("purge-not-open", "a", do("purge", "invented").fails("not-open", code=HANDLE)),
    *(story(f"reserved-{number}", "a", peek(reserved=number).gives("a", "2.2.2.1.reserved-ignored"))
      for number in (0, 1, 0xFFFFFFFF)),
    *(story(f"acknowledgment-{number}", "a", peek(acknowledgment=number).gives("a", "2.2.2.1.acknowledgment-ignored"))
      for number in (0, 1, 2)),
    story("size-range", "a", peek(size=0x00420001).throws("2.2.2.1.size-range")),
    story("queue-ignored", "", do("take", queue=12345).ok("queue-ignored")),
    *(story(f"take-{name}", "", do("take", **numbers).fails(word, code=PARAMETER))
      for name, word, numbers in _TAKEN),
    *(story(f"port-{kind}", "", do("port", kind=kind).ok(word).shows(word))
      for kind, word in ((0, "handshake"), (1, "read"), (2, "spx"), (3, "spx"))),
    story("port-4", "", do("port", kind=4).shows("other-type")),
    story("version", "", do("version").ok("major").shows("major", "minor")),
    story("rundown", "a", open_("i", via="2"), do("drop", "1"), peek("h", via="2").fails("3.1.6.1.closed")),
    story("no-description", "a", peek(none=True).fails("no-inner-descriptor", code=HANDLE), uses=SECOND),
)  # fmt: skip
_move = Step("open-move", "m", {"queue": "q;sub"}).ok().shows("move-context")
_MOVED: Final = (open_("s", queue="q;sub"), peek("s", learn="z").gives("a", "move:moved"))
"""A message in a subqueue has a lookup identifier of its own."""
_MOVES: tuple[Story, ...] = (
    story("moved", "ab", _move, do("move", to="m", lookup="a").ok("open-move:move-context"),
          peek().gives("b", "move:moved"), receive(3).gives("b", "move:moved"), peek().fails("move:moved"),
          open_("s", queue="q;sub"), peek("s", subqueue="sub").gives("a", "move:moved").shows(
              "whole-buffer", "2.2.5.3.subqueue-name-of-message"), do("close", "m").ok(
          "open-move:handle")),
    story("move-back", "a", _move, do("move", to="m", lookup="a").ok("open-move:move-context"),
          *_MOVED, replace(_move, who="n", args={"queue": "q"}),
          do("move", "s", to="n", lookup="z").ok("move:moved"), peek("s").fails("move:moved"),
          peek().gives("a", "move:moved")),
    story("move-beside", "ab", _move, do("move", to="m", lookup="a").ok("open-move:move-context"),
          *_MOVED, replace(_move, who="n", args={"queue": "q;other"}),
          do("move", "s", to="n", lookup="z").ok("move:moved"), peek("s").fails("move:moved"),
          open_("o", queue="q;other"), peek("o").gives("a", "move:moved")),
    story("move-not-found", "ab", _move, do("move", to="m", lookup=_NOTHING).fails(
          "message-not-found", code=NOT_FOUND)),
    story("move-nowhere", "ab", do("move", destination=12345, lookup="a").fails(
          "move-access", code=HANDLE), peek().gives("a", "move:move-access")),
    story("move-elsewhere", "ab", replace(_move, args={"queue": "r"}).gated(), do("move", to="m", lookup="a").fails(
          "related-queues", code=STATUS_INVALID_PARAMETER), peek().gives("a", "move:related-queues")),
    story("move-in-transaction", "ab", _move, do("move", to="m", lookup="a", transaction=UNKNOWN).fails(
          "transaction-usage", code=USAGE), peek().gives("a", "move:transaction-usage")),
    story("move-closed", "ab", _move, do("close", "m").ok("open-move:handle"), do("move", to="m", lookup="a").fails(
          "move-access", code=HANDLE), peek().gives("a", "move:move-access")),
    story("move-alike", "ab", _move, do("move", to="m", lookup="a").ok("open-move:move-context"),
          *_MOVED, replace(_move, who="n", args={"queue": "r;sub"}),
          do("move", "s", to="n", lookup="z").fails("related-queues", code=STATUS_INVALID_PARAMETER),
          peek("s").gives("a", "move:related-queues")),
    story("enlist", "", do("enlist", transaction=UNKNOWN, token=bytes(16)).fails("fails")),
    story("transactional", "ab", receive(transaction=UNKNOWN).fails("3.1.4.13.not-transactional", code=USAGE),
          peek().gives("a", "3.1.4.13.not-transactional")),
    story("transactional-cursor", "ab", receive(transaction=UNKNOWN, cursor=12345).fails(
          "3.1.4.13.unknown-cursor", code=STATUS_INVALID_HANDLE)),
    story("transactional-end-alone", "a", do("end-transactional", request=5, acknowledge=True).fails(
          "no-request", code=HANDLE)),
    story("class-not-found", "a", do("classify", lookup=_NOTHING, message_class=0xC004).fails(
          "message-not-found", code=NOT_FOUND)),
    story("class-not-received", "ab", do("classify", lookup="b", message_class=0xC004).fails(
          "not-received", code=USAGE)),
)  # fmt: skip

_begun = receive(5, "t", transaction=UNKNOWN).gives("a", "3.1.4.13.receives", "3.1.4.13.unknown-transaction")
_STORED: Final = (open_("t", queue="t"), open_("u", queue="t"), do("store", letters="ab"))
_end = Step("end-transactional", "t", {"request": 5, "acknowledge": True}).ok()
_WITHIN: tuple[Story, ...] = tuple(
    story(f"within-{name}", "", *_STORED, *steps, opened="")
    for name, steps in (
        ("locks", (_begun, receive(6, "u").gives("b", "3.1.4.13.locks"))),
        ("unknown", (replace(_begun, words=("3.1.4.13.unknown-transaction",)),)),
        ("acknowledged", (_begun, _end, peek("u").gives("b", "3.1.4.15.acknowledged"))),
        ("returned", (_begun, replace(_end, args={"request": 5, "acknowledge": False}),
                      peek("u").gives("a", "3.1.4.15.not-acknowledged"))),
        ("other-request", (_begun, replace(_end, args={"request": 6, "acknowledge": True}).fails(
            "other-request", code=PARAMETER), _end)),
        ("peek", (peek("t", transaction=UNKNOWN).fails("3.1.4.13.peek-in-transaction", code=USAGE),)),
    )
)  # fmt: skip
"""Receives within a transaction that the server makes."""


_EVENTS: Final[tuple[tuple[str, tuple[Step, ...]], ...]] = (
    ("a-purge", (do("purge").ok(), do("send", letters="ab"))),
    (
        "a-wait",
        (
            begin(receive(5, timeout_ms=_WAIT_MS)),
            do("send", letters="z"),
            answer(receive(5, timeout_ms=_WAIT_MS)).gives("z", "waits"),
            end(5).ok(),
            do("send", letters="ab"),
        ),
    ),
    (
        "a-cancel",
        (
            begin(receive(5, timeout_ms=_WAIT_MS)),
            do("cancel", request=5).ok(),
            answer(receive(5, timeout_ms=_WAIT_MS)).fails("cancel:cancelled"),
            do("send", letters="ab"),
        ),
    ),
    ("a-return", (do("send", letters="ab"), receive(5).gives("a"), end(5, acknowledge=False).ok())),
    ("a-cursor", (do("send", letters="ab"), do("cursor").ok(), peek(cursor="k").gives("a", "peek-at-cursor"))),
    ("another-queue", (do("send", letters="ab"), open_("j", queue="r"))),
    ("another-handle", (do("send", letters="ab"), open_("i"))),
)
"""Events on the queue of `h`, which has the messages a and b then."""
_DEMANDS: Final[tuple[tuple[str, tuple[Step, ...]], ...]] = (
    ("share", (open_("o", via="2").throws("open:deny-share"),)),
    ("close", (do("close").ok(), peek().fails("close:closed", "unknown-handle"))),
    ("return", (receive(7).gives("a"), end(7, acknowledge=False).ok(), peek().gives("a", "end:not-acknowledged"))),
    (
        "returns",
        (
            receive(7).gives("a"),
            receive(8).gives("b"),
            do("drop", "1"),
            open_("o", via="2"),
            receive(1, "o").gives("a", "3.1.6.2.requests-released"),
            peek("o").gives("b", "3.1.6.2.requests-released"),
        ),
    ),
    ("body", (peek(max_body=0).gives("a", "first").shows("2.2.6.size-alloc"),)),
)
_ARRIVAL: Final = ("arrive-time", "2.2.2.1.arrive-time")
_PAUSE_S: Final = 4
_WAITED: Final = receive(5, timeout_ms=_LONG_MS + _WAIT_MS)
_BEHIND: tuple[Story, ...] = (
    *(
        story(f"{what}-behind-{event}", "", open_(share=int(what == "share")), *before, *steps, opened="", uses=ONE)
        for event, before in _EVENTS
        for what, steps in _DEMANDS
        if (what, event) != ("share", "another-handle")
    ),
    story("return-of-a-wait", "", begin(_WAITED), do("send", letters="a"), answer(_WAITED).gives("a", "waits"),
          end(5, acknowledge=False).ok(), peek().gives("a", "end:not-acknowledged")),
    story("arrival-behind-a-wait", "a", receive().gives("a").shows(*_ARRIVAL), end().ok(), begin(_WAITED),
          do("pause", seconds=_PAUSE_S), do("send", letters="b"), answer(_WAITED).gives("b", "waits").shows(*_ARRIVAL)),
    story("arrival-a-while-ago", "a", do("pause", seconds=_PAUSE_S), do("send", letters="b"),
          receive().gives("a").shows(*_ARRIVAL), receive(2).gives("b").shows(*_ARRIVAL)),
    story("number-of-a-cancelled-read", "", *_EVENTS[2][1], receive(5).gives("a", "cancel:success"),
          end(5).ok(), uses=RR),
    story("end-of-a-cancelled-read", "", *_EVENTS[2][1], end(5).fails("no-request"), peek().gives("a"), uses=RR),
    story("cancel-of-one-queue", "", open_("j", queue="r"), begin(receive(5, timeout_ms=_WAIT_MS)),
          begin(receive(5, "j", timeout_ms=_WAIT_MS), "v"), do("cancel", request=5).ok(),
          answer(receive(5, timeout_ms=_WAIT_MS)).fails("cancel:cancelled"), do("send", letters="a", queue="r"),
          answer(receive(5, "j", timeout_ms=_WAIT_MS), "v").gives("a", "cancel:cancelled"), uses=RR),
    *(story("cancel-of-one-read", "", begin(receive(5, timeout_ms=_WAIT_MS)),
            begin(receive(6, timeout_ms=_WAIT_MS), "v"), do("cancel", request=6).ok(),
            answer(receive(6, timeout_ms=_WAIT_MS), "v").fails("cancel:cancelled", code=code), do("send", letters="a"),
            answer(receive(5, timeout_ms=_WAIT_MS)).gives("a", "cancel:cancelled"), uses=uses)
      for uses, code in ((RR, hresults.MQ_ERROR_OPERATION_CANCELLED), (QQ, _CANCELLED_BY_CLIENT))),
    story("taken-at-cursor", "abc", do("cursor").ok(), peek(cursor="k").gives("a", "peek-at-cursor"),
          receive(2).gives("a"), end(2).ok(), receive(3, cursor="k").fails("already-received"), uses=RR),
)  # fmt: skip


def _used(stories: tuple[Story, ...], uses: str) -> list[Story]:
    return [each if each.uses else replace(each, uses=tuple(uses.split())) for each in stories]


_EVERY = f"{RR} {QQ}"
STORIES: Final[tuple[Story, ...]] = tuple(
    each
    for stories, uses in (
        (_RUNDOWNS, ONE), (_OPENINGS, ONE), (_CLOSED, ONE), (_BASIC, _EVERY), (_cancels(receive, "receive"), RR),
        (_cancels(peek, "peek"), RR), (_ENDS, RR), (_seeks(), RR), (_LOOKUPS, RR), (_OLDER_LOOKUPS, SECOND),
        (_PACKETS, _EVERY), (_BEHIND, _EVERY), (_OLDER, QQ), (_MOVES, "MQRR"), (_WITHIN, ONE),
        (_MALFORMED, f"{ONE} MQQP"),
    )
    for each in _used(stories, uses)
)  # fmt: skip
