"""Plays a story on a server of RPC, and judges what comes back."""

from __future__ import annotations

import base64
import struct
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID, uuid4

from conformance.judge.dialogues.packets import Ends, Message, establish, parameters, user_message
from conformance.judge.packets.judge import judge_packet
from conformance.judge.packets.user_messages import plain_of_packet
from conformance.model.management_rows import MACHINE, QUEUE, ROWS, no_value
from conformance.net.rpc.binding import FaultError
from conformance.net.rpc.ndr import NULL_CONTEXT, NdrError
from conformance.net.rpc.remote_read import Action, SectionType
from conformance.suites.remote.calls import (
    Altered,
    Answer,
    Calls,
    Held,
    Line,
    Names,
    Opened,
    RemoteReadCalls,
    StillOpen,
    answered,
)  # fmt: skip
from conformance.suites.remote.steps import ANY, FAILS, GIVES, HEADERS, OK, THROWS, Step, Story, demands, identify
from conformance.suites.story_table import Untold
from conformance.verdict import Json, Outcome, Verdict
from conformance.wire import dissect

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder

NEEDS: Final = ("rpc.open", "rpc.call", "rpc.close", "sessions.about", "queues.create", "queues.open", "messages.send")
_PLAIN, _TRANSACTIONAL = "private$\\mqconform-plain", "private$\\mqconform-transactional"
_NOBODY: Final = "mqconform-none"
_SETTLE_S: Final = 0.3
"""After it a read that was begun waits at the server."""
_APART_S: Final = 2  # Two times in whole seconds, and what a message is under way.
_CLOCKS_S: Final = 30
"""By so much the clock of a host may differ from ours."""
_ACCESS: Final = {1: "receive", 0x20: "peek", 4: "move"}
_LATE_S: Final = 2.0
_ALL: Final = 0xFFFFFFFF
_MOST_FILL: Final = 4_096
_OPENING_MS: Final = 5_000
CUT: Final = 3
"""Bytes of a body that a read asks for that cuts it."""
_HIGHEST: Final = 7
_NO_OPERATION: Final = 0x1C010002
"""nca_s_op_rng_error (C706 appendix E)."""
_COUNTS: Final = {
    "number-of-sections": ("number",), "size": ("size",), "first-size": ("size",), "same-length": ("length",),
}  # fmt: skip
"""Counts that are wrong in an answer that breaks a demand."""


def message(letter: str) -> dict[str, Json]:
    """Return a message of twelve bytes, which need no padding.

    The lookup identifier of priority 7 is the same in all readings. A capital has the usual priority, `t` a time to
    reach its queue, `x` an extension, and `r` is recoverable.
    """
    body = base64.b64encode(f"{letter}123456789xy".encode()).decode("ascii")
    found: dict[str, Json] = {"label": letter, "body": body, "priority": 3 if letter.isupper() else _HIGHEST}
    if letter == "t":
        found["time_to_reach_queue"] = 600
    if letter == "r":
        found["delivery"] = "recoverable"
    if letter == "x":
        found["extension"] = base64.b64encode(b"extension").decode("ascii")
    return found


class Player:
    """Tells one story with the calls of one document."""

    def __init__(self, mq: Port, judge: Recorder, calls: Calls, story: Story) -> None:
        self.mq, self.judge, self.calls, self.story = mq, judge, calls, story
        self.names = Names()
        self.names.queues |= {
            "zeros": ("1", Opened(NULL_CONTEXT)),
            "m": ("1", Opened(NULL_CONTEXT)),
            "invented": ("1", Opened(bytes(4) + uuid4().bytes, 12345, 12345)),
        }
        self.whole: dict[str, bytes] = {}
        self.ports: dict[str, str] = {}
        self.host = ""
        self.sent_s: dict[str, int] = {}
        self.ahead_s: list[int] = []
        self.properties: dict[str, dict[int, Any]] = {}

    def play(self) -> None:
        """Tell the story. Raises Untold where it does not happen, and ConformanceFailure."""
        self._prepare()
        for step in self.story.steps:
            answer = self._done(step)
            if answer is None:
                continue
            self._tell(step, answer)
            if step.gate and not self._as_due(step, answer):
                return
            self._judge(step, answer)

    def format_name(self, queue: str) -> str:
        """Return the format name of a queue of the story: `q`, `r`, `none`, with a suffix; `tcp q` by its address."""
        head, mark, suffix = queue.partition(";")
        if head.startswith("tcp "):
            return f"DIRECT=TCP:{self.host}\\private$\\{self.ports.get(head[4:], _NOBODY)}"
        return f"DIRECT=OS:{self.mq.hello.computer}\\private$\\{self.ports.get(head, _NOBODY)}{mark}{suffix}"

    def _prepare(self) -> None:
        about = self.mq.call("sessions.about").values
        self.host = str(about.get("host"))
        # By the steps of MS-MQMR 3.1.4.2 TIDY purges every queue: no host gets it that may have messages of others.
        tidies = any(str(step.args.get("action")).upper() == "TIDY" for step in self.story.steps)
        if tidies and not self.host.startswith(("127.", "localhost", "::1")):
            raise Untold("TIDY is sent to hosts on loopback alone")
        plain = [name.partition("\\")[2] for name in about.get("queues", ()) if str(name).startswith(_PLAIN)]
        used = {str(step.args.get("queue", step.args.get("to", "q"))) for step in self.story.steps}
        wanted = "qr" if any(each.startswith("r") for each in used) else "q"
        within = [name.partition("\\")[2] for name in about.get("queues", ()) if str(name).startswith(_TRANSACTIONAL)]
        if "t" in used and not within:
            raise Untold(f"a queue is needed whose name begins with {_TRANSACTIONAL}: name it in queues=")
        if len(plain) < len(wanted):
            raise Untold(f"{len(wanted)} queues are needed whose names begin with {_PLAIN}")
        self.ports = dict(zip((*wanted, "t"), (*plain[: len(wanted)], *within), strict=False))
        for queue in wanted:
            path = f"{self.mq.hello.computer}\\private$\\{self.ports[queue]}"
            made = self.mq.call("queues.create", path_name=path)
            if not made.ok:
                raise Untold(f"the queue {path} cannot be had ({made.lacking or made.status})")
            opened = self.mq.call("queues.open", format_name=made.values["format_name"], access="send")
            self.ports[f"send {queue}"] = str(opened.values.get("queue"))
        self._send(self.story.given)
        try:
            for queue in sorted(each for each in used if ";" in each or each == "t"):
                self._empty(queue)
            if any("lookup" in step.args for step in self.story.steps):
                self._look_up()
        except (FaultError, NdrError) as error:
            raise Untold(f"the queue cannot be made ready for the story ({error})") from None

    def _empty(self, queue: str) -> None:
        own, line = RemoteReadCalls(), Line(self.mq)
        _, opened = own.open(line, self.format_name(queue))
        own.purge(line, opened)
        line.drop()

    def _send(self, letters: str, queue: str = "q") -> None:
        for letter in letters:
            sent = self.mq.call("messages.send", queue=self.ports[f"send {queue}"], message=message(letter))
            self.judge.step(
                f"message {letter} is sent to {queue}", {"method": "messages.send"}, {"status": sent.status}
            )
            if not sent.ok:
                raise Untold("no message can be sent")
            self.sent_s[letter] = int(time.time())

    def _store(self, letters: str) -> None:
        """Send transactional messages, each in a transaction of its own, in a session of their own."""
        ends = Ends(f"{int(time.time() * 1e9):x}", int(time.time()), self.host, self.host)
        opened = self.mq.call("sessions.open", role="initiator")
        if not opened.ok:
            raise Untold("no session can be opened for transactional messages")
        told = [
            Message(letter, self.ports["t"], number=number, admin=False, more={"MessagePropertiesHeader.Label": letter})
            for number, letter in enumerate(letters, 1)
        ]
        packets = [establish(ends, str(UUID(int=0))), parameters()]
        packets += [user_message(each, ends, ends.first_id + at) for at, each in enumerate(told)]
        for at, packet in enumerate(packets):
            octets = base64.b64encode(packet).decode("ascii")
            self.mq.call("sessions.send", session=opened.values["session"], bytes=octets)
            if at < 2:
                self.mq.call("sessions.received", session=opened.values["session"], wait_ms=_OPENING_MS, packets=1)
        self.judge.step(f"transactional messages {letters} are sent to t", {"method": "sessions.send"}, {})
        self.mq.time.sleep(_SETTLE_S)
        self.mq.call("sessions.close", session=opened.values["session"], how="close")

    def _look_up(self) -> None:
        """Learn the lookup identifiers, which are the sequence identifiers of messages with priority 7."""
        own, line = RemoteReadCalls(), Line(self.mq)
        _, opened = own.open(line, self.format_name("q"))
        cursor = int(own.cursor(line, opened).value)
        for number, letter in enumerate(self.story.given):
            action = Action.PEEK_NEXT if number else Action.PEEK_CURRENT
            found = own.read(line, opened, action=action, request=number + 1, cursor=cursor)
            if found.status or self._letter(found) != letter:
                raise Untold("the messages of the story cannot be peeked at")
            self.names.lookups[letter] = found.sequence
        line.drop()

    def _line(self, via: str) -> Line:
        return self.names.lines.setdefault(via, Line(self.mq))

    def _done(self, step: Step) -> Answer | None:
        """Do a step; None for what has no answer."""
        args = dict(step.args)
        began = self.mq.time.monotonic()
        if step.verb == "send":
            self._send(args["letters"], args.get("queue", "q"))
            return None
        if step.verb == "store":
            self._store(args["letters"])
            return None
        if step.verb == "drop":
            self._line(step.who).drop()
            self.judge.step(f"the connections {step.who} are closed", {"method": "rpc.close"}, {})
            self.mq.time.sleep(_SETTLE_S)
            return None
        if step.verb == "pause":
            self.mq.time.sleep(args["seconds"])
            return None
        if step.verb in ("open", "open-move"):
            found = answered(lambda: self._opened(step, args))
        elif step.verb == "begin":
            self._begin(step, args)
            return None
        elif step.verb == "answer":
            found = self._late(step, str(args["name"]))
            began = self.names.waiting[str(args["name"])][1]
        else:
            found = answered(lambda: self._called(step, args))
        found = replace(found, took_s=self.mq.time.monotonic() - began)
        if step.read_verb in ("read", "lookup") and found.handle:
            self.names.reads[step.who, args["request"]] = found.handle
        if "learn" in step.args:
            self.names.lookups[step.args["learn"]] = found.sequence
        if step.verb == "cursor":
            self.names.cursors[str(args.get("name", "k"))] = int(found.value or 0)
        return found

    def _opened(self, step: Step, args: dict[str, Any]) -> Answer:
        via, name = args.pop("via", "1"), self.format_name(args.pop("queue"))
        line: Any = self._line(via)
        if "alter" in args:
            line = Altered(line, args.pop("alter"))
        method: Callable[..., tuple[Answer, Opened]] = getattr(self.calls, step.verb.replace("-", "_"))
        found, opened = method(line, name, **args)
        self.names.queues[step.who] = via, opened
        return found

    def _called(self, step: Step, args: dict[str, Any], line: Any = None) -> Answer:
        if step.who not in self.names.queues:
            raise Untold(f"{step.who} is not open")
        via, opened = self.names.queues[step.who]
        line = line or self._line(args.pop("via", via))
        args.pop("via", None)
        if "alter" in args:
            line = Altered(line, args.pop("alter"))
        if isinstance(args.get("cursor"), str):
            args["cursor"] = self.names.cursors.get(args["cursor"], 0)
        if isinstance(args.get("lookup"), str):
            args["lookup"] = self.names.lookups[args["lookup"]]
        for own in ("subqueue", "learn"):
            args.pop(own, None)
        if isinstance(args.get("to"), str):
            args["destination"] = self.names.queues[args.pop("to")][1].number
        if step.verb in ("get", "act"):
            args["target"] = self._target(str(args["target"]))
        if step.verb == "enlist":
            args["name"] = self.format_name("q")
        else:
            args.pop("name", None)
        for each in ("queue", "place", "context"):
            if callable(args.get(each)):
                args[each] = args[each](opened)
        if step.verb == "end" and (step.who, args["request"]) in self.names.reads:
            args.setdefault("handle", self.names.reads[step.who, args["request"]])
        verb = "read" if step.read_verb in ("read", "lookup") or step.verb == "begin" else step.verb.replace("-", "_")
        found: Answer = getattr(self.calls, verb)(line, opened, **args)
        return found

    def _target(self, target: str) -> str:
        return target if target in ("machine", "session") else self.format_name(target)

    def _begin(self, step: Step, args: dict[str, Any]) -> None:
        name, via = str(args["name"]), self.names.queues[step.who][0]
        held = Held(self._line(via))
        self.names.waiting[name] = held, self.mq.time.monotonic()
        with suppress(StillOpen):
            self._called(step, args, held)
        self.judge.step(f"{self._method('read')} by {step.who}: {_said(args)} -> it waits", {"method": "rpc.call"}, {})
        self.mq.wait_done(held.pending, int(_SETTLE_S * 1000))

    def _late(self, step: Step, name: str) -> Answer:
        held, _ = self.names.waiting[name]
        within_ms = int(step.args.get("timeout_ms", 0)) + int(1000 * _LATE_S)
        if not self.mq.wait_done(held.pending, within_ms):
            return Answer(trouble="none came in time")
        return answered(lambda: self._called(step, dict(step.args), held))

    def _method(self, verb: str) -> str:
        found = self.calls.verbs.get(verb) or self.calls.verbs.get("read")
        return found[1] if found is not None else verb

    def _tell(self, step: Step, answer: Answer) -> None:
        queue = str(step.args.get("queue", ""))
        of = (
            f" of {self.ports.get(queue.partition(';')[0], _NOBODY)}{queue[1:] if ';' in queue else ''}"
            if step.verb.startswith("open")
            else ""
        )
        told = f"{self._method(step.read_verb)}{of} by {step.who}: {_said(step.args)} -> {answer.told}"
        if answer.packet and not answer.status:
            told += f", message {self._letter(answer)}"
        self.judge.step(told, {"method": "rpc.call"}, {"status": answer.status})

    def _letter(self, answer: Answer) -> str | None:
        """Return which message it is: one whose packet was seen before and is cut now, or else by its label."""
        for letter, packet in self.whole.items():
            if answer.sections and packet.startswith(answer.sections[0].data):
                return letter
        packet = answer.packet
        if answer.sections:  # What is cut is filled up.
            first, *behind = answer.sections
            filled = first.data.ljust(min(first.size, len(packet) + _MOST_FILL), b"\0")
            packet = b"".join((filled, *(one.data for one in behind)))
        label = plain_of_packet(dissect(packet, transport="buffer"))["label"] if packet else None
        return str(label) if label is not None else None

    def _as_due(self, step: Step, answer: Answer) -> bool:
        failed = answer.fault or answer.status != 0
        if answer.trouble:
            return False
        if step.want == GIVES:
            return not failed and self._letter(answer) == step.letter
        if step.want == OK and step.verb.startswith("open"):
            return not failed and any(answer.handle)
        return {ANY: True, OK: not failed, FAILS: failed, THROWS: answer.fault}[step.want]

    def _judge(self, step: Step, answer: Answer) -> None:
        verb, names = step.read_verb, demands(step, self.calls)
        if not names:
            if not self._as_due(step, answer):
                raise Untold(f"{self._method(verb)} is not as the story needs it: {answer.told}")
            return
        expected: Json = f"message {step.letter}" if step.want == GIVES else step.want or "an answer"
        actual: Json = answer.told if not answer.packet or answer.status else f"message {self._letter(answer)}"
        subject = self._method(verb)
        blamed = self._blamed(step, answer, names)
        if blamed is not None:
            self._record(blamed, False, subject, expected, actual)
        self._record(names[0], self._as_due(step, answer), subject, expected, actual)
        looks = {identify(self.calls, verb, word): word for word in step.looks}
        for name in names if names[0] in looks else names[1:]:
            if name in looks:
                says, right, shown = look(self, looks[name], step, answer)
                self._record(name, right, subject, says, shown)
            elif name.endswith("-code"):
                if not answer.fault or step.want == THROWS:
                    self._record(name, answer.status == step.code, subject, f"{step.code:#010x}", answer.told)
            elif name not in HEADERS:  # of which `look` has judged those that the packet shows
                self._record(name, True, subject, expected, actual)

    def _blamed(self, step: Step, answer: Answer, names: list[str]) -> str | None:
        """Return what an answer breaks that is not of its kind: unreadable, of no severity, or no fault."""
        if answer.trouble:
            looked = [each for word in step.looks if (each := identify(self.calls, step.read_verb, word))]
            counted = [each for each in looked if answer.miscounted in _COUNTS.get(each.rpartition(".")[2], ())]
            return next(iter((*counted, *looked, names[0])))
        word = ""
        if answer.fault and answer.status == _NO_OPERATION:
            word = "opnum"
        elif step.want in (OK, GIVES) and answer.status and not (answer.fault or answer.status >> 31):
            word = "success"
        elif step.want == FAILS and answer.status and not (answer.fault or answer.status >> 31 or step.code):
            word = "fails"
        elif step.want == THROWS and not answer.fault and not any(answer.handle):
            word = "throws"
        found = identify(self.calls, step.read_verb, word) if word else None
        return found if found in names else None

    def _record(self, name: str, right: bool, subject: str, expected: Json, actual: Json) -> None:
        self.judge.record(Verdict(name, Outcome.PASS if right else Outcome.FAIL, subject, expected, actual))


def _said(args: Mapping[str, Any]) -> str:
    """Return the arguments of a call in words."""
    parts = []
    for key, value in args.items():
        if key in ("queue", "name", "via", "alter") or callable(value):
            continue
        if key == "action" and not isinstance(value, str):
            known = value in Action._value2member_map_
            parts.append(Action(value).name if known else f"action {value:#x}")
        elif key == "access":
            parts.append(f"for {_ACCESS.get(value, hex(value))}")
        elif isinstance(value, bytes):
            parts.append(f"{key} {value.hex()}")
        elif value is not False:
            parts.append(f"{key} {value}")
    return ", ".join(parts)


Seen = tuple[Json, bool, Json]
"""The value that is expected, whether it is so, and what was found."""


def look(player: Player, word: str, step: Step, answer: Answer) -> Seen:
    """Look at a part of an answer."""
    for looks in (_at_handles, _at_properties, _at_values, _at_sections, _at_packet):
        found = looks(player, word.rpartition(".")[2], step, answer)
        if found is not None:
            return found
    raise KeyError(word)


def _at_handles(player: Player, word: str, step: Step, answer: Answer) -> Seen | None:
    if word in ("handle", "move-context"):
        shown = answer.handle.hex() if word == "handle" else answer.value
        return "not zeros", any(answer.handle) if word == "handle" else bool(answer.value), shown
    if word in ("no-handle", "null-after"):
        return "zeros", not any(answer.handle), answer.handle.hex()
    return None


def _at_properties(player: Player, word: str, step: Step, answer: Answer) -> Seen | None:
    if step.verb not in ("get", "act"):
        return None
    values: list[dict[str, Json]] = answer.value or []
    shown: Json = list(values)
    if word in ("no-exceptions", "at-most-128", "opnum"):
        return "a response", not answer.fault, answer.told
    if word in ("machine-properties", "queue-properties"):
        return "a failure or VT_NULL", bool(answer.status) or all(map(no_value, values)), shown
    numbers = step.args["properties"]
    kind = MACHINE if step.args["target"] == "machine" else QUEUE
    if word == "get":
        rows = {row.number: row for name, row in ROWS.items() if name.startswith(kind)}
        right = all(no_value(one) or rows[at].of_type(one) for at, one in zip(numbers, values, strict=True))
        return "values of their types", right, shown
    if word.startswith("propid-"):  # The host may write names in other ways; the queue is the last word of each.
        value, name = values[0].get("value"), f"private$\\{player.ports['q']}"
        names = [str(each).lower() for each in (value if isinstance(value, list) else [value])]
        right = any(each.endswith(f"\\{name}") or each.startswith("private=") for each in names)
        return name, right or no_value(values[0]), value
    if word == "same-length":
        return len(numbers), len(values) == len(numbers), shown
    if word in ("value-of-identifier", "null-sent-any"):
        told = dict(zip(numbers, values, strict=True))
        before = player.properties.setdefault(kind, told)
        return [before.get(at) for at in numbers], all(before.get(at, told[at]) == told[at] for at in numbers), shown
    if word == "no-values-on-failure":
        return "VT_NULL", all(map(no_value, values)), shown
    if word == "dsserver-none":
        if not no_value(values[0]):
            raise Untold("the host has a directory")
        return "VT_NULL", True, shown
    return None


def _at_values(player: Player, word: str, step: Step, answer: Answer) -> Seen | None:
    if word in ("port", "handshake", "read"):
        return "a port", 0 < answer.value <= 0xFFFF, answer.value
    if word in ("spx", "other-type"):
        return 0, answer.fault or answer.value == 0, answer.value
    if word == "major":
        return 6, answer.value[0] == 6, answer.value
    if word == "minor":
        return "0 to 3", answer.value[1] in (0, 1, 2, 3), answer.value
    if word == "cursor":
        others = [each for each in player.names.cursors.values() if each == answer.value]
        return "a number of its own", bool(answer.value) and len(others) == 1, answer.value
    if word in ("arrive-time", "arrive"):
        ahead_s = answer.arrived_s - player.sent_s.get(step.letter, int(time.time()))
        player.ahead_s.append(ahead_s)  # What the clock of the host is ahead, which is the same for all messages.
        right = abs(ahead_s) <= _CLOCKS_S and abs(ahead_s - player.ahead_s[0]) <= _APART_S
        return {"about": answer.arrived_s - ahead_s + player.ahead_s[0]}, right, answer.arrived_s
    if word in ("sequence-id", "sequential-id"):
        known = player.names.lookups.get(step.letter)
        due = "the lower 56 bits" if known is None else f"{known:#018x}"
        right = bool(answer.sequence) and not answer.sequence >> 56 and known in (None, answer.sequence)
        return due, right, f"{answer.sequence:#018x}"
    if word == "read-time-out":
        least = step.args["timeout_ms"] / 1000
        return (
            {"seconds": [least, least + _LATE_S / 2]},
            least - 0.1 <= answer.took_s <= least + _LATE_S / 2,
            answer.took_s,
        )
    return None


def _at_sections(player: Player, word: str, step: Step, answer: Answer) -> Seen | None:
    found = answer.sections
    shown: Json = [{"type": one.type, "alloc": one.size, "size": len(one.data)} for one in found]
    first, second = (*found, None, None)[:2]
    body, cut = f"{step.letter}123456789xy".encode(), int(step.args.get("max_body", CUT))
    tests: dict[str, Callable[[], tuple[Json, bool]]] = {
        "number-of-sections": lambda: ("that of the array", True),
        "size": lambda: ("that of the array", True),
        "type": lambda: ("0 to 4", all(one.type <= 4 for one in found)),
        "size-alloc": lambda: ("the size uncut", first is not None and first.size == len(first.data) + len(body) - cut),
        "size-alloc-equal": lambda: ("equal", all(one.size == len(one.data) for one in found if one.type in (0, 2, 4))),
        "size-alloc-at-least": lambda: (
            "no less", all(one.size >= len(one.data) for one in found if one.type in (1, 3))
        ),
        "whole": lambda: (1, len(found) == 1),
        "whole-type": lambda: (0, first is not None and first.type == SectionType.FULL_PACKET),
        "whole-sizes": lambda: ("those of the packet", first is not None and first.size == len(first.data)),
        "first": lambda: ("a body that is cut", bool(found) and body not in answer.packet),
        "first-type": lambda: (1, first is not None and first.type == SectionType.BINARY_FIRST),
        "first-buffer": lambda: (
            f"headers and {cut} bytes of the body", first is not None and first.data.endswith(body[:cut])
        ),
        "first-size-alloc": lambda: (
            "the size uncut", first is not None and first.size == len(first.data) + len(body) - cut
        ),
        "first-size": lambda: ("that of the array", first is not None),
        "second": lambda: (2, len(found) == 2),
        "second-type": lambda: (2, second is not None and second.type == SectionType.BINARY_SECOND),
        "second-sizes": lambda: ("equal", second is not None and second.size == len(second.data)),
        "second-buffer": lambda: (
            "what follows the body",
            second is not None
            and first is not None
            and first.data + body[cut:] + second.data == player.whole.get(step.letter),
        ),
        "sections": lambda: ("those of R_StartReceive", answer.packet == player.whole.get(step.letter, answer.packet)),
        "sections-binary": lambda: ([1, 2], [one.type for one in found] == [1, 2]),
    }  # fmt: skip
    if word not in tests or not found:
        return None
    expected, right = tests[word]()
    return expected, right, shown


def _whole(packet: bytes) -> bytes:
    """Return a packet whose PacketSize counts the headers behind it, too: MS-MQRR does not say whether it does."""
    return packet[:8] + len(packet).to_bytes(4, "little") + packet[12:]


def _at_packet(player: Player, word: str, step: Step, answer: Answer) -> Seen | None:
    packet = dissect(answer.packet, transport="buffer")
    trouble: list[Json] = [str(one) for one in packet.trouble if one.code != "extra"]
    if word in ("whole-buffer", "packet"):
        player.whole[step.letter] = answer.packet
        body = f"{step.letter}123456789xy".encode()
        right = not trouble and body in answer.packet
        if right and word == "whole-buffer":
            options = player.judge.options
            said = judge_packet(
                _whole(answer.packet),
                profile=options.profile,
                transport="remote",
                readings=options.readings,
                level=options.level,
            )
            player.judge.record(*(one for one in said if one.requirement.startswith("MQRR-2.2.5")))
        return f"message {step.letter}", right, trouble
    if word == "size":
        size = packet.fields.get("BaseHeader.PacketSize")
        return size, size == len(answer.packet), len(answer.packet)
    if word == "members":
        return "those of the first read", answer.packet == player.whole.get(step.letter), len(answer.packet)
    if word == "time-to-reach-queue":
        sent, until = packet.fields.get("UserHeader.SentTime"), packet.fields.get("BaseHeader.TimeToReachQueue")
        more = 600 if step.letter == "t" else _ALL
        right = until in (int(sent or 0) + more & _ALL, *((_ALL,) if more == _ALL else ()))
        return {"sent": sent, "more": more}, right, until
    if word == "address-type":  # It stands where a packet on its way has the source queue manager.
        size, kind = struct.unpack_from("<HH", answer.packet.ljust(36, b"\0"), 32)
        return [[4, 1], [8, 6]], [size, kind] in ([4, 1], [8, 6], [16, 6]), [size, kind]
    fields = dissect(_whole(answer.packet), transport="buffer").fields
    if word == "address":
        kind = fields.get("ExtendedAddressHeader.AddressType")
        return [1, 6], kind in (1, 6), kind
    if word == "subqueue-name-of-message":
        named = fields.get("SubqueueHeader.SubqueueName")
        name = named.decode("utf-16-le", "replace") if isinstance(named, bytes) else ""
        due = str(step.args.get("subqueue", ""))
        return due, name.rstrip("\0").lower() == due, name.rstrip("\0")
    return None
