"""`python own.py [FAULT]`: a small queue manager on stdio, written from MS-MQDMPR and the adapter protocol."""

from __future__ import annotations

import base64
import bisect
import hashlib
import heapq
import json
import os
import re
import sys
import uuid
from pathlib import Path
from typing import Any, Callable

Json = Any
FOREVER = 0xFFFFFFFF
HOST = "HOST"
GUID = "5b3c1d5e-7f0a-4c61-9b52-0a6f2e9d8c31"
NULL_GUID = "00000000-0000-0000-0000-000000000000"
BEGIN_MS, LAST_MS = 1_767_225_600_000, 253_402_300_799_999
BLOCK = 1000

NOT_FOUND, NOT_ACTIVE, EXISTS, BAD_PARAMETER, BAD_HANDLE = 0xC00E0003, 0xC00E0004, 0xC00E0005, 0xC00E0006, 0xC00E0007
CANCELLED, SHARING, BAD_PATH, BAD_VALUE, TIMED_OUT = 0xC00E0008, 0xC00E0009, 0xC00E0014, 0xC00E0018, 0xC00E001B
BAD_CURSOR, ALREADY, BAD_FORMAT, NO_OPERATION = 0xC00E001C, 0xC00E001D, 0xC00E001E, 0xC00E0020
DENIED, NO_ROOM, BAD_PROPID, BAD_SIZE, NOT_ALLOWED = 0xC00E0025, 0xC00E0027, 0xC00E0039, 0xC00E003B, 0xC00E003E
NO_ACCESS_MODE, NOT_AVAILABLE, TX_USAGE, TX_SEQUENCE = 0xC00E0045, 0xC00E004B, 0xC00E0050, 0xC00E0051
LONG_LABEL, NO_MESSAGE, TX_LOCKED, NO_REQUEST = 0xC00E005D, 0xC00E0088, 0xC00E009C, 0xC0000225

ACK_ARRIVED, ACK_RECEIVED = 0x0002, 0x4000
NACK_DELETED, NACK_PURGED, NACK_EXPIRED = 0xC000, 0xC001, 0xC002

FAULT = ""
FAULTS = (
    "no-arrival-ack-if-waited-for",
    "transactional-move-acks-receive",
    "peek-at-expired-slides",
    "waited-begin-leaves-cursor-read",
    "dead-letter-loses-extension",
    "deleted-queue-reads-wait",
    "commit-follows-name",
    "journal-copies-expire",
    "relative-lookup-not-journaled",
    "transactional-expiry-is-journaled",
    "extension-loses-trailing-zeros",
    "later-copies-are-not-stored",
    "moved-in-transaction-moves-again",
    "deadxact-opens-for-send",
    "purged-lookup-receive-returns",
    "purge-skips-begun-reads",
    "exclusive-peek-may-purge",
    "null-type-is-not-set",
    "set-keeps-valid-part",
    "aborted-send-keeps-manager-bytes",
    "refused-send-is-journaled",
    "restart-renews-arrival",
    "restart-keeps-prepared-receives",
    "abort-reverses",
    "asked-express-is-not-stored",
    "end-on-deleted-succeeds",
    "reject-releases-others",
    "forever-is-49-days",
    "close-cancels-other-peeks",
    "subqueue-message-ends-wait-on-queue",
)


def faulty(name: str) -> bool:
    assert name in FAULTS
    return name == FAULT


class Fail(Exception):
    def __init__(self, status: int) -> None:
        super().__init__(hex(status))
        self.status = status


class Unable(Exception):
    """This manager cannot express the request."""


# ---------------------------------------------------------------- state


class Letter:
    """A message: what the application gave, and its times in milliseconds."""

    __slots__ = ("data", "dies", "sent", "size", "tx")

    def __init__(self, data: dict[str, Json], size: int, sent: int, dies: int | None, tx: bool) -> None:
        self.data, self.size, self.sent, self.dies, self.tx = data, size, sent, dies, tx

    def kept(self) -> bool:
        return self.data["delivery"] == "recoverable"


class Slot:
    """A message position. state: free, held, gone or doomed (purged while held)."""

    def __init__(self, queue: Queue, letter: Letter, number: int, arrived: int) -> None:
        self.queue, self.letter, self.number, self.arrived = queue, letter, number, arrived
        self.key = (7 - letter.data["priority"], number)
        self.lookup = self.key[0] << 56 | number
        self.state = "held"
        self.unsent = self.late = self.begun = self.moving = False
        self.stored = True
        self.why = 0
        self.alarm: list[Any] | None = None


class Queue:
    def __init__(self, name: str, kind: str, path: str, parent: Queue | None = None) -> None:
        self.name, self.kind, self.path, self.parent = name, kind, path, parent
        self.props: dict[str, Json] = {}
        self.number = 0
        self.keys: list[tuple[int, int]] = []
        self.slots: list[Slot] = []
        self.subs: dict[str, Queue] = {}
        self.journal: Queue | None = None
        self.handles: list[Handle] = []
        self.waits: list[Wait] = []
        self.bytes = 0
        self.gone = False

    def owner(self) -> Queue:
        return self.parent or self

    def transactional(self) -> bool:
        return bool(self.owner().props.get("PROPID_Q_TRANSACTION"))

    def counts_as_journal(self) -> bool:
        return self.kind in ("journal", "system")

    def quota(self) -> int:
        name = "PROPID_Q_JOURNAL_QUOTA" if self.kind == "journal" else "PROPID_Q_QUOTA"
        return int(self.owner().props.get(name, FOREVER))

    def insert(self, slot: Slot) -> None:
        at = bisect.bisect(self.keys, slot.key)
        self.keys.insert(at, slot.key)
        self.slots.insert(at, slot)

    def drop(self, slot: Slot) -> None:
        at = bisect.bisect_left(self.keys, slot.key)
        if at < len(self.slots) and self.slots[at] is slot:
            del self.keys[at], self.slots[at]

    def seek(self, key: tuple[int, int], step: int) -> Slot | None:
        """The nearest free slot behind (step 1) or in front of (step -1) a place."""
        at = bisect.bisect_right(self.keys, key) if step > 0 else bisect.bisect_left(self.keys, key) - 1
        while 0 <= at < len(self.slots):
            if self.slots[at].state == "free":
                return self.slots[at]
            at += step
        return None

    def by_lookup(self, lookup: int) -> Slot | None:
        return next((slot for slot in self.slots if slot.lookup == lookup), None)


FRONT, BACK = (-1, 0), (99, 0)


class Handle:
    def __init__(self, name: str, access: str, share: str, queue: Queue | None) -> None:
        self.name, self.access, self.share, self.queue = name, access, share, queue
        self.parts: list[Handle] = []
        self.cursors: list[Cursor] = []


class Cursor:
    def __init__(self, name: str, handle: Handle) -> None:
        self.name, self.handle = name, handle
        self.state = "unread"
        self.place = FRONT
        self.slot: Slot | None = None

    def stand(self, slot: Slot) -> None:
        self.place, self.slot = slot.key, slot


class Wait:
    def __init__(self, request: int, handle: Handle, takes: bool, cursor: Cursor | None, use: Callable[[Slot], Json]):
        self.request, self.handle, self.takes, self.cursor, self.use = request, handle, takes, cursor, use
        self.alarm: list[Any] | None = None
        self.over = False


class Work:
    """A transaction. steps: (kind, slot, target, by lookup)."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.steps: list[tuple[str, Slot, Queue | None, bool]] = []
        self.waits: list[Wait] = []
        self.prepared = False


class Begun:
    def __init__(self, name: str, handle: Handle, slot: Slot) -> None:
        self.name, self.handle, self.slot = name, handle, slot


class Log:
    """Durable state: a file of lines, each the changes of one request."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.queues: dict[str, Json] = {}
        self.slots: dict[str, Json] = {}
        self.numbers: dict[str, int] = {}
        self.fresh: list[Json] = []
        if path.exists():
            for line in path.read_bytes().split(b"\n"):
                try:
                    changes = json.loads(line)
                except ValueError:
                    continue  # the end of the file, or a line that a kill cut off
                for change in changes:
                    self._apply(change)
        whole = [["n", k, v] for k, v in self.numbers.items()]
        whole += [["q", k, v] for k, v in self.queues.items()] + [["s", k, v] for k, v in self.slots.items()]
        new = path.with_suffix(".new")
        new.write_text(json.dumps(whole) + "\n")
        os.replace(new, path)
        self.file = open(path, "ab", buffering=0)

    def _apply(self, change: list[Json]) -> None:
        table = {"q": self.queues, "s": self.slots, "n": self.numbers}[change[0]]
        if change[2] is None:
            table.pop(change[1], None)
        else:
            table[change[1]] = change[2]

    def put(self, table: str, key: str, value: Json) -> None:
        self.fresh.append([table, key, value])

    def flush(self) -> None:
        if self.fresh:
            self.file.write(json.dumps(self.fresh).encode() + b"\n")
            self.fresh = []


# ---------------------------------------------------------------- names

NAME = r"[^\\;+,\"\x00-\x1f\x7f]"
DIRECT = re.compile(r"DIRECT=([A-Z]+):(.*)\Z", re.I | re.S)
LOCAL = (HOST.lower(), HOST.lower() + ".local", ".", "localhost", "127.0.0.1", "::1")
KEYWORDS = ("journal", "deadletter", "deadxact", "xactonly")
HEX = "[0-9A-Fa-f]"
GUIDS = rf"({HEX}{{8}}-{HEX}{{4}}-{HEX}{{4}}-{HEX}{{4}}-{HEX}{{12}})"


def local_part(text: str) -> tuple[str, str]:
    """Split `private$\\q;s` or `q` into queue (with prefix) and what follows the semicolon. Raises ValueError."""
    name, semicolon, sub = text.partition(";")
    bare = name[9:] if name.lower().startswith("private$\\") else name
    if not re.fullmatch(rf"{NAME}{{1,124}}", bare) or bare.lower() in ("private$", "system$"):
        raise ValueError(text)
    if semicolon and not re.fullmatch(rf"{NAME}{{1,32}}", sub):
        raise ValueError(text)
    return name, sub


# ---------------------------------------------------------------- properties


def whole(least: int, most: int) -> Callable[[Json], Json]:
    def check(value: Json) -> Json:
        if isinstance(value, bool):
            value = int(value)
        if not isinstance(value, int) or not least <= value <= most:
            raise Fail(BAD_VALUE)
        return value

    return check


def label_of_queue(value: Json) -> Json:
    if not isinstance(value, str) or "\0" in value or len(value.encode("utf-16-le", "surrogatepass")) > 248:
        raise Fail(BAD_VALUE)
    return value


def type_of_queue(value: Json) -> Json:
    found = re.fullmatch(rf"\{{?{GUIDS}\}}?", value) if isinstance(value, str) else None
    if not found:
        raise Fail(BAD_VALUE)
    return found[1]


def multicast(value: Json) -> Json:
    if value is None:
        return None
    number = r"(0|[1-9]\d*)"
    found = re.fullmatch(rf"{number}\.{number}\.{number}\.{number}:{number}", value, re.A) if isinstance(value, str) else None
    if not found:
        raise Fail(BAD_VALUE)
    a, b, c, d, port = (int(each[:9]) for each in found.groups())
    if not 224 <= a <= 239 or max(b, c, d) > 255 or port > 65535:
        raise Fail(BAD_VALUE)
    return value


CHECKS: dict[str, tuple[Json, Callable[[Json], Json]]] = {
    "PROPID_Q_TYPE": (NULL_GUID, type_of_queue),
    "PROPID_Q_JOURNAL": (0, whole(0, 1)),
    "PROPID_Q_QUOTA": (FOREVER, whole(0, FOREVER)),
    "PROPID_Q_BASEPRIORITY": (0, whole(-32768, 32767)),
    "PROPID_Q_JOURNAL_QUOTA": (FOREVER, whole(0, FOREVER)),
    "PROPID_Q_LABEL": ("", label_of_queue),
    "PROPID_Q_AUTHENTICATE": (0, whole(0, 1)),
    "PROPID_Q_PRIV_LEVEL": (1, whole(0, 2)),
    "PROPID_Q_TRANSACTION": (0, whole(0, 1)),
    "PROPID_Q_MULTICAST_ADDRESS": (None, multicast),
}
FIXED = ("INSTANCE", "PATHNAME", "CREATE_TIME", "MODIFY_TIME", "SCOPE", "QMID", "PATHNAME_DNS")


def check_properties(given: dict[str, Json], creating: bool) -> dict[str, Json]:
    kept = {}
    for name, value in given.items():
        if name.startswith("PROPID_Q_") and name[9:] in FIXED:
            raise Fail(NOT_ALLOWED)
        if name not in CHECKS:
            raise Fail(BAD_PROPID)
        if name == "PROPID_Q_TRANSACTION" and not creating:
            raise Fail(NOT_ALLOWED)
        kept[name] = CHECKS[name][1](value)
    return kept


# ---------------------------------------------------------------- messages

NULL_ID = base64.b64encode(bytes(20)).decode()
PLAIN: dict[str, Json] = {
    "body": "",
    "body_type": 0,
    "label": "",
    "priority": 3,
    "delivery": "express",
    "class": 0,
    "application_tag": 0,
    "correlation_identifier": NULL_ID,
    "positive_journaling": False,
    "negative_journaling": False,
    "acknowledgements": [],
    "time_to_reach_queue": 345600,
    "time_to_be_received": FOREVER,
    "trace": False,
    "extension": "",
}
WISHES = {"positive_arrival", "positive_receive", "negative_arrival", "negative_receive"}


def unbase(text: Json) -> bytes:
    if not isinstance(text, str):
        raise Fail(BAD_VALUE)
    try:
        return base64.b64decode(text, validate=True)
    except ValueError:
        raise Fail(BAD_VALUE) from None


# ---------------------------------------------------------------- the manager


class Manager:
    def __init__(self, folder: Path, namespace: str, say: Callable[[Json], None]) -> None:
        self.say = say
        self.log = Log(folder / f"own-{hashlib.sha1(namespace.encode()).hexdigest()[:12]}.log")
        self.now = self.log.numbers.get("clock", BEGIN_MS)
        self.alarms: list[list[Any]] = []
        self.alarm_count = 0
        self.counter = self.reserved = self.log.numbers.get("sequence", 1)
        self.names = 0
        self.clear()
        self.recover()
        self.log.flush()

    def clear(self) -> None:
        self.queues: dict[str, Queue] = {}  # by id
        self.paths: dict[str, Queue] = {}
        self.handles: dict[str, Handle] = {}
        self.cursors: dict[str, Cursor] = {}
        self.works: dict[str, Work] = {}
        self.begun: dict[str, Begun] = {}
        self.limits = {"message_quota_kb": 0x100000, "journal_quota_kb": FOREVER}
        self.used = {False: 0, True: 0}  # bytes of messages, and of journals
        for name in ("journal", "deadletter", "deadxact"):
            queue = Queue(f"system;{name}", "system", f"{HOST}\\system$;{name}")
            queue.props["PROPID_Q_TRANSACTION"] = int(name == "deadxact")
            self.queues[queue.name] = queue

    def fresh(self, kind: str) -> str:
        self.names += 1
        return f"{kind}-{self.names}"

    def number(self) -> int:
        if self.counter >= self.reserved:
            self.reserved = self.counter + BLOCK
            self.log.put("n", "sequence", self.reserved)
        self.counter += 1
        return self.counter - 1

    # Time.

    def at(self, due: int, action: Callable[[], None]) -> list[Any]:
        self.alarm_count += 1
        alarm = [due, self.alarm_count, action]
        heapq.heappush(self.alarms, alarm)
        return alarm

    def run(self, until: int) -> None:
        while self.alarms and self.alarms[0][0] <= until:
            due, _, action = heapq.heappop(self.alarms)
            if action is not None:
                self.now = max(self.now, due)
                action()
        self.now = max(self.now, until)

    @staticmethod
    def stop(alarm: list[Any] | None) -> None:
        if alarm is not None:
            alarm[2] = None

    # Recovery.

    def recover(self) -> None:
        for name, row in sorted(self.log.queues.items()):
            if row["kind"] == "sub":
                parent = self.queues.get(row["parent"])
                if parent is not None:
                    self.subqueue(parent, row["sub"])
            else:
                self.add_queue(name, row["kind"], row["path"], row["number"], row["props"])
        doomed = []
        for row in sorted(self.log.slots.values(), key=lambda row: row["number"]):
            queue = self.queues.get(row["queue"])
            if queue is None:
                self.log.put("s", str(row["number"]), None)
                continue
            letter = Letter(row["data"], row["size"], row["sent"], row["dies"], row["tx"])
            arrived = self.now // 1000 if faulty("restart-renews-arrival") else row["arrived"]
            slot = Slot(queue, letter, row["number"], arrived)
            slot.state = "free"
            queue.insert(slot)
            self.account(queue, letter.size)
            self.watch(slot)
            if row["doomed"]:
                doomed.append(slot)
        for slot in doomed:
            self.remove(slot, NACK_PURGED)
        self.run(self.now)

    def keep(self, slot: Slot) -> None:
        letter = slot.letter
        if letter.kept() and slot.stored:
            self.log.put(
                "s",
                str(slot.number),
                {
                    "number": slot.number,
                    "queue": slot.queue.name,
                    "data": letter.data,
                    "size": letter.size,
                    "sent": letter.sent,
                    "dies": letter.dies,
                    "tx": letter.tx,
                    "arrived": slot.arrived,
                    "doomed": slot.state == "doomed",
                },
            )

    # Queues.

    def add_queue(self, name: str, kind: str, path: str, number: int, props: dict[str, Json]) -> Queue:
        queue = Queue(name, kind, path)
        queue.number, queue.props = number, props
        queue.journal = Queue(name + ";;j", "journal", path + ";journal", queue)
        self.queues[name], self.queues[queue.journal.name] = queue, queue.journal
        self.paths[path.partition("\\")[2].lower()] = queue
        return queue

    def subqueue(self, parent: Queue, sub: str) -> Queue:
        found = parent.subs.get(sub.lower())
        if found is None:
            found = Queue(f"{parent.name};{sub.lower()}", "sub", f"{parent.path};{sub}", parent)
            parent.subs[sub.lower()] = self.queues[found.name] = found
        return found

    def store_queue(self, queue: Queue) -> None:
        row = {"kind": queue.kind, "path": queue.path, "number": queue.number, "props": dict(queue.props)}
        if queue.kind == "sub" and queue.parent is not None:
            row = {"kind": "sub", "parent": queue.parent.name, "sub": queue.path.rpartition(";")[2]}
        self.log.put("q", queue.name, row)

    def find(self, text: str, making: bool = False) -> tuple[Queue | None, bool, str]:
        """Return (queue, the name is of this computer, kind of name). Raises Fail for a malformed name."""
        keyword = text.partition("=")[0].lower()
        try:
            if keyword == "direct":
                return self._find_direct(text, making)
            if keyword in ("private", "public"):
                rest, semicolon, suffix = text.partition("=")[2].partition(";")
                if semicolon and suffix.lower() != "journal":
                    raise ValueError(text)
                return self._find_by_guid(keyword, rest, bool(semicolon))
            if keyword == "machine":
                found = re.fullmatch(rf"MACHINE={GUIDS};(JOURNAL|DEADLETTER|DEADXACT)", text, re.I)
                if not found:
                    raise ValueError(text)
                own = found[1].lower() == GUID
                return (self.queues[f"system;{found[2].lower()}"] if own else None), own, "machine"
            if keyword == "multicast":
                multicast(text.partition("=")[2] or "?")
                return None, False, "multicast"
        except (ValueError, Fail):
            pass
        raise Fail(BAD_FORMAT)

    def _find_direct(self, text: str, making: bool) -> tuple[Queue | None, bool, str]:
        found = DIRECT.match(text)
        if not found or found[1].upper() not in ("OS", "TCP", "HTTP", "HTTPS", "IPX", "SPX"):
            raise ValueError(text)
        if found[1].upper().startswith("HTTP"):
            return None, False, "http"
        computer, backslash, rest = found[2].partition("\\")
        if not backslash or not computer or re.search(r"[;,\s]", computer):
            raise ValueError(text)
        here = computer.lower() in LOCAL
        system = re.fullmatch(r"system\$;(journal|deadletter|deadxact)", rest, re.I)
        if system:
            return (self.queues[f"system;{system[1].lower()}"] if here else None), here, "direct"
        name, sub = local_part(rest)
        if sub.lower() in KEYWORDS and sub.lower() != "journal":
            raise ValueError(text)
        queue = self.paths.get(name.lower()) if here else None
        if queue is not None and sub.lower() == "journal":
            return queue.journal, here, "direct"
        if queue is not None and sub:
            return (self.subqueue(queue, sub) if making else queue.subs.get(sub.lower())), here, "direct"
        return queue, here, "direct"

    def _find_by_guid(self, keyword: str, rest: str, journal: bool) -> tuple[Queue | None, bool, str]:
        queue: Queue | None = None
        if keyword == "private":
            found = re.fullmatch(rf"{GUIDS}\\({HEX}{{1,8}})", rest)
            if not found:
                raise ValueError(rest)
            here = found[1].lower() == GUID
            if here:
                number = int(found[2], 16)
                queue = next((q for q in self.paths.values() if q.kind == "private" and q.number == number), None)
        else:
            if not re.fullmatch(GUIDS, rest):
                raise ValueError(rest)
            queue = next((q for q in self.paths.values() if q.props["PROPID_Q_INSTANCE"] == rest.lower()), None)
            here = queue is not None
        return (queue.journal if queue is not None and journal else queue), here, keyword

    def user_queue(self, text: str) -> Queue:
        queue, _, _ = self.find(text)
        if queue is None:
            raise Fail(NOT_FOUND)
        if queue.kind not in ("private", "public"):
            raise Fail(NO_OPERATION)
        return queue

    # Positions.

    def room(self, queue: Queue, size: int) -> bool:
        journal = queue.counts_as_journal()
        limit = self.limits["journal_quota_kb" if journal else "message_quota_kb"]
        if limit != FOREVER and self.used[journal] + size > limit * 1024:
            return False
        return queue.quota() == FOREVER or queue.bytes + size <= queue.quota() * 1024

    def account(self, queue: Queue, size: int) -> None:
        queue.bytes += size
        self.used[queue.counts_as_journal()] += size

    def watch(self, slot: Slot) -> None:
        if slot.letter.dies is not None and self.expires(slot.queue):
            slot.alarm = self.at(slot.letter.dies, lambda: self.expire(slot))

    @staticmethod
    def expires(queue: Queue) -> bool:
        return queue.kind in ("private", "public", "sub") or (
            queue.kind == "journal" and faulty("journal-copies-expire")
        )

    def place(
        self, queue: Queue, letter: Letter, *, unsent: bool = False, limited: bool = True, stored: bool = True
    ) -> Slot:
        if limited and not self.room(queue, letter.size):
            raise Fail(NO_ROOM)
        slot = Slot(queue, letter, self.number(), self.now // 1000)
        slot.stored = stored
        queue.insert(slot)
        self.account(queue, letter.size)
        self.watch(slot)
        if unsent:
            slot.unsent = True
        else:
            self.keep(slot)
            self.free(slot)
        return slot

    def free(self, slot: Slot) -> None:
        """Message Position Available."""
        slot.begun = slot.moving = False
        if slot.late:
            self.remove(slot, NACK_EXPIRED)
            return
        slot.state = "free"
        waits = list(slot.queue.waits)
        if slot.queue.kind == "sub" and faulty("subqueue-message-ends-wait-on-queue"):
            waits += slot.queue.owner().waits
        for wait in waits:
            if not wait.over:
                self.satisfy(wait, slot)
                if wait.takes:
                    break
        if slot.state == "free" and self.expires(slot.queue):
            if slot.letter.dies is not None and slot.letter.dies <= self.now:
                self.expire(slot)

    def satisfy(self, wait: Wait, slot: Slot) -> None:
        self.forget(wait)
        if wait.cursor is not None:
            wait.cursor.state = "read" if wait.cursor.state == "waits to peek" else "unread"
            wait.cursor.stand(slot)
        self.say((wait.request, wait.use(slot)))
        if wait.cursor is not None and slot.begun and faulty("waited-begin-leaves-cursor-read"):
            wait.cursor.state = "read"

    def take_out(self, slot: Slot) -> None:
        slot.state = "gone"
        slot.queue.drop(slot)
        self.account(slot.queue, -slot.letter.size)
        self.stop(slot.alarm)
        if slot.letter.kept() and not slot.unsent:
            self.log.put("s", str(slot.number), None)

    def remove(self, slot: Slot, why: int, journaled: bool = True) -> None:
        """Message Position Deleted."""
        if slot.state == "gone":
            return
        queue, letter = slot.queue, slot.letter
        user = queue.kind in ("private", "public")
        copies = why == ACK_RECEIVED and journaled
        if why == NACK_EXPIRED and letter.tx and faulty("transactional-expiry-is-journaled"):
            copies = True
        if user and copies and queue.props["PROPID_Q_JOURNAL"] and queue.journal is not None:
            self.copy(queue.journal, letter)
        self.take_out(slot)
        slot.why = why
        if why == NACK_EXPIRED and letter.data["negative_journaling"]:
            copy = letter
            if faulty("dead-letter-loses-extension"):
                copy = Letter({**letter.data, "extension": ""}, letter.size, letter.sent, letter.dies, letter.tx)
            self.copy(self.queues["system;deadxact" if letter.tx else "system;deadletter"], copy)
        wish = "positive_receive" if why == ACK_RECEIVED else "negative_receive"
        if not queue.counts_as_journal() and wish in letter.data["acknowledgements"]:
            self.acknowledge(letter, queue, why)

    def copy(self, queue: Queue, letter: Letter) -> None:
        if self.room(queue, letter.size):
            dies = letter.dies if queue.kind == "journal" and faulty("journal-copies-expire") else None
            self.place(queue, Letter(dict(letter.data), letter.size, letter.sent, dies, letter.tx))

    def expire(self, slot: Slot) -> None:
        if slot.state == "free":
            self.remove(slot, NACK_EXPIRED)
        elif slot.state == "held":
            slot.late = True

    def arrived(self, slot: Slot) -> None:
        letter = slot.letter
        if letter.data["positive_journaling"]:
            self.copy(self.queues["system;journal"], letter)
        if "positive_arrival" in letter.data["acknowledgements"]:
            if not (slot.state == "gone" and not letter.tx and faulty("no-arrival-ack-if-waited-for")):
                self.acknowledge(letter, slot.queue, ACK_ARRIVED)

    def acknowledge(self, letter: Letter, origin: Queue, kind: int) -> None:
        name = letter.data.get("administration_queue")
        if not name:
            return
        try:
            queue, _, _ = self.find(name)
        except Fail:
            return
        if queue is None or queue.kind not in ("private", "public") or queue.transactional():
            return
        source = letter.data["identifier"]
        correlation = uuid.UUID(source["source"]).bytes_le + source["ordinal"].to_bytes(4, "little")
        data = {
            "class": kind,
            "correlation_identifier": base64.b64encode(correlation).decode(),
            "body": "" if kind in (ACK_ARRIVED, ACK_RECEIVED) else letter.data["body"],
            "delivery": letter.data["delivery"],
            "time_to_reach_queue": FOREVER,
            "response_queue": f"DIRECT=OS:{origin.path}",
        }
        letter = self.write(data, False)
        if self.room(queue, letter.size):
            self.place(queue, letter)

    def write(self, given: dict[str, Json], tx: bool) -> Letter:
        """Check and complete a message."""
        data = {**PLAIN, **given}
        size = 120 + self.check_message(data)
        if size > 0x400000:
            raise Fail(NO_ROOM)
        if tx:
            data["priority"], data["delivery"] = 0, "recoverable"
        if faulty("extension-loses-trailing-zeros"):
            data["extension"] = base64.b64encode(unbase(data["extension"]).rstrip(b"\0")).decode()
        data["identifier"] = {"source": GUID, "ordinal": self.number() & 0xFFFFFFFF}
        data["sent_time"] = self.now // 1000
        data["first_in_transaction"] = data["last_in_transaction"] = False
        lives = data["time_to_be_received"]
        return Letter(data, size, self.now, None if lives == FOREVER else self.now + lives * 1000, tx)

    def check_message(self, data: dict[str, Json]) -> int:
        if data.keys() - PLAIN.keys() - {"administration_queue", "response_queue"}:
            raise Fail(BAD_VALUE)
        most = {"priority": 7, "class": 0xFFFF}
        for name in ("priority", "class", "body_type", "application_tag", "time_to_reach_queue", "time_to_be_received"):
            value = data[name]
            if type(value) is not int or not 0 <= value <= most.get(name, FOREVER):
                raise Fail(BAD_VALUE)
        if data["class"] & 0x1E00 or data["delivery"] not in ("express", "recoverable"):
            raise Fail(BAD_VALUE)
        if any(type(data[name]) is not bool for name in ("positive_journaling", "negative_journaling", "trace")):
            raise Fail(BAD_VALUE)
        wishes = data["acknowledgements"]
        if not isinstance(wishes, list) or any(wish not in WISHES for wish in wishes):
            raise Fail(BAD_VALUE)
        for name in ("administration_queue", "response_queue"):
            if name in data:
                if not isinstance(data[name], str):
                    raise Fail(BAD_VALUE)
                for part in data[name].split(","):
                    self.find(part)
        if len(unbase(data["correlation_identifier"])) != 20:
            raise Fail(BAD_SIZE)
        label = data["label"]
        if not isinstance(label, str) or "\0" in label:
            raise Fail(BAD_VALUE)
        units = len(label.encode("utf-16-le", "surrogatepass")) // 2
        if units > 249:
            raise Fail(LONG_LABEL)
        return (2 * units + 2 if units else 0) + len(unbase(data["body"])) + len(unbase(data["extension"]))

    # Handles.

    def handle(self, name: Json) -> Handle:
        found = self.handles.get(name) if isinstance(name, str) else None
        if found is None:
            raise Fail(BAD_HANDLE)
        return found

    def cursor(self, params: dict[str, Json]) -> Cursor | None:
        name = params.get("cursor")
        if name is None:
            return None
        found = self.cursors.get(name) if isinstance(name, str) else None
        if found is None:
            raise Fail(BAD_HANDLE)
        return found

    def work(self, params: dict[str, Json]) -> Work | None:
        name = params.get("transaction")
        if name is None:
            return None
        found = self.works.get(name) if isinstance(name, str) else None
        if found is None:
            raise Fail(TX_SEQUENCE)
        return found

    def open(self, text: str, access: str, share: str) -> Handle:
        if "," in text:
            return self.open_many(text, access, share)
        sending = access == "send"
        queue, here, kind = self.find(text, making=not sending)
        if (kind in ("http", "multicast") and not sending) or (kind == "machine" and sending):
            raise Fail(NO_OPERATION)
        if queue is None:
            if not sending:
                raise Fail(NOT_FOUND)
            if ";" in text and kind != "http":  # a journal or a subqueue, whether it exists or not
                raise Fail(NO_ACCESS_MODE)
            if kind == "public":
                raise Fail(NO_OPERATION)
            if here:
                raise Fail(NOT_FOUND)
            raise Unable("sending to another computer")
        if access.endswith("_admin"):
            raise Fail(NO_ACCESS_MODE)
        if sending and queue.kind not in ("private", "public"):
            if not (queue.name == "system;deadxact" and faulty("deadxact-opens-for-send")):
                raise Fail(NO_ACCESS_MODE)
        if queue.kind == "sub":
            self.store_queue(queue)
        if sending and share == "deny_receive":
            raise Fail(NO_ACCESS_MODE)
        if access == "move" and queue.kind not in ("private", "public", "sub"):
            raise Fail(NO_ACCESS_MODE)
        for other in queue.handles:
            if other.access == "receive" and other.share == "deny_receive":
                clash = access in ("receive", "peek") and (share == "deny_receive" or access == "receive")
            elif other.access == "peek" and other.share == "deny_receive":
                clash = access == "receive"
            elif other.access == "receive":
                clash = access in ("receive", "peek") and share == "deny_receive"
            else:
                clash = False
            if clash:
                raise Fail(SHARING)
        handle = Handle(self.fresh("h"), access, share, queue)
        queue.handles.append(handle)
        self.handles[handle.name] = handle
        return handle

    def open_many(self, text: str, access: str, share: str) -> Handle:
        parts = text.split(",")
        for part in parts:
            queue, _, kind = self.find(part)
            if kind == "machine" or (queue is not None and queue.counts_as_journal()) or re.search(r";journal\Z", part, re.I):
                raise Fail(BAD_FORMAT)
        if access != "send":
            raise Fail(NO_OPERATION)
        if share != "deny_none":
            raise Fail(NO_ACCESS_MODE)
        handle = Handle(self.fresh("h"), access, share, None)
        try:
            for part in {part.lower(): part for part in parts}.values():
                handle.parts.append(self.open(part, access, share))
        except (Fail, Unable):
            for part in handle.parts:
                self.close(part)
            raise
        self.handles[handle.name] = handle
        return handle

    def close(self, handle: Handle) -> None:
        for part in handle.parts:
            self.close(part)
        queue = handle.queue
        if queue is not None:
            for wait in list(queue.waits):
                other_peek = not wait.takes and wait.cursor is None and faulty("close-cancels-other-peeks")
                if wait.handle is handle or other_peek:
                    self.end_wait(wait, CANCELLED)
        for cursor in list(handle.cursors):
            self.close_cursor(cursor)
        for begun in [each for each in self.begun.values() if each.handle is handle]:
            del self.begun[begun.name]
            if begun.slot.state == "doomed":
                self.remove(begun.slot, NACK_PURGED)
            elif begun.slot.state == "held" and not begun.slot.queue.gone:
                self.free(begun.slot)
        if queue is not None and handle in queue.handles:
            queue.handles.remove(handle)
        self.handles.pop(handle.name, None)

    def close_cursor(self, cursor: Cursor) -> None:
        queue = cursor.handle.queue
        for wait in list(queue.waits) if queue is not None else []:
            if wait.cursor is cursor:
                self.end_wait(wait, CANCELLED)
        self.cursors.pop(cursor.name, None)
        cursor.handle.cursors.remove(cursor)

    # Reading.

    def readable(self, handle: Handle, takes: bool, wait_ms: int = 0) -> Queue:
        if handle.queue is None or handle.access not in (("receive",) if takes else ("receive", "peek")):
            raise Fail(DENIED)
        if handle.queue.gone and not (wait_ms and faulty("deleted-queue-reads-wait")):
            raise Fail(NOT_AVAILABLE)
        return handle.queue

    @staticmethod
    def show(slot: Slot) -> dict[str, Json]:
        more = {"lookup_identifier": str(slot.lookup), "arrival_time": slot.arrived}
        return {"status": 0, "message": {**slot.letter.data, **more}}

    def taking(self, work: Work | None) -> Callable[[Slot], Json]:
        def take(slot: Slot) -> Json:
            if work is None:
                self.remove(slot, ACK_RECEIVED)
            else:
                slot.state = "held"
                work.steps.append(("dequeue", slot, None, False))
            return self.show(slot)

        return take

    def beginning(self, handle: Handle) -> Callable[[Slot], Json]:
        def take(slot: Slot) -> Json:
            slot.state, slot.begun = "held", True
            begun = Begun(self.fresh("r"), handle, slot)
            self.begun[begun.name] = begun
            return {**self.show(slot), "read": begun.name}

        return take

    def read(
        self,
        request: int,
        handle: Handle,
        cursor: Cursor | None,
        wait_ms: int,
        use: Callable[[Slot], Json],
        *,
        takes: bool,
        work: Work | None = None,
        further: bool = False,
    ) -> Json:
        """Answer a read, or None if it waits."""
        queue = self.readable(handle, takes, wait_ms)
        slot: Slot | None
        if cursor is None:
            slot = queue.seek(FRONT, 1)
        else:
            if cursor.handle is not handle:
                raise Fail(BAD_HANDLE)
            if takes:
                slot = self.cursor_dequeue(cursor, queue, wait_ms == 0)
            else:
                slot = self.cursor_peek(cursor, queue, further)
        if slot is not None:
            return use(slot)
        wait = Wait(request, handle, takes, cursor, use)
        if wait_ms == 0:
            self.end_wait(wait, TIMED_OUT)
            return None
        if wait_ms != FOREVER or faulty("forever-is-49-days"):
            wait.alarm = self.at(self.now + wait_ms, lambda: self.end_wait(wait, TIMED_OUT))
        queue.waits.append(wait)
        if work is not None:
            work.waits.append(wait)
        self.say(request)
        return None

    def cursor_peek(self, cursor: Cursor, queue: Queue, further: bool) -> Slot | None:
        if cursor.state == "read" and not further:
            slot = cursor.slot
            if slot is not None and slot.state == "free":
                return slot
            slides = slot is not None and slot.why == NACK_EXPIRED and faulty("peek-at-expired-slides")
            if not slides:
                raise Fail(ALREADY)
        elif cursor.state != ("read" if further else "unread"):
            raise Fail(BAD_CURSOR)
        slot = queue.seek(cursor.place, 1)
        if slot is None:
            cursor.state = "waits to peek"
        else:
            cursor.state = "read"
            cursor.stand(slot)
        return slot

    def cursor_dequeue(self, cursor: Cursor, queue: Queue, no_wait: bool) -> Slot | None:
        if cursor.state == "read":
            slot = cursor.slot
            if slot is None or slot.state != "free":
                raise Fail(ALREADY)
            cursor.state = "unread"
            return slot
        if cursor.state != "unread":
            raise Fail(BAD_CURSOR)
        slot = queue.seek(cursor.place, 1)
        if slot is not None:
            cursor.stand(slot)
        elif no_wait:
            raise Fail(NO_MESSAGE)
        else:
            cursor.state = "waits to receive"
        return slot

    def all_waits(self) -> list[Wait]:
        queues = {id(h.queue): h.queue for h in self.handles.values() if h.queue is not None}
        return [wait for queue in queues.values() for wait in queue.waits]

    def forget(self, wait: Wait) -> None:
        wait.over = True
        self.stop(wait.alarm)
        if wait.handle.queue is not None and wait in wait.handle.queue.waits:
            wait.handle.queue.waits.remove(wait)

    def end_wait(self, wait: Wait, status: int) -> None:
        if wait.over:
            return
        self.forget(wait)
        if wait.cursor is not None and wait.cursor.state.startswith("waits"):
            wait.cursor.state, wait.cursor.place, wait.cursor.slot = "unread", BACK, None
        self.say((wait.request, {"status": status}))

    def by_lookup(self, handle: Handle, lookup: int, action: str, takes: bool, work: Work | None) -> Json:
        queue = self.readable(handle, takes)
        if takes and work is not None and not queue.transactional():
            raise Fail(TX_USAGE)
        slot: Slot | None
        if action == "first" or (action == "next" and lookup == 0):
            slot = queue.seek(FRONT, 1)
        elif action == "last" or (action == "previous" and lookup == (1 << 64) - 1):
            slot = queue.seek(BACK, -1)
        else:
            slot = queue.by_lookup(lookup)
            if slot is not None and action != "current":
                slot = queue.seek(slot.key, 1 if action == "next" else -1)
            elif slot is not None and slot.state != "free":
                raise Fail(NO_MESSAGE if takes else TX_USAGE)
        if slot is None:
            raise Fail(NO_MESSAGE)
        if takes and work is not None:
            slot.state = "held"
            work.steps.append(("dequeue", slot, None, True))
        elif takes:
            self.remove(slot, ACK_RECEIVED, action == "current" or not faulty("relative-lookup-not-journaled"))
        return self.show(slot)

    # Transactions.

    def mark(self, work: Work) -> None:
        sent: dict[str, list[Slot]] = {}
        for kind, slot, _, _ in work.steps:
            if kind == "enqueue":
                sent.setdefault(slot.queue.name, []).append(slot)
        for slots in sent.values():
            for slot in slots:
                slot.letter.data["first_in_transaction"] = slot is slots[0]
                slot.letter.data["last_in_transaction"] = slot is slots[-1]

    def finish(self, work: Work) -> None:
        del self.works[work.name]
        for wait in list(work.waits):
            self.end_wait(wait, CANCELLED)

    def commit(self, work: Work) -> None:
        self.mark(work)
        self.finish(work)
        for kind, slot, target, _ in work.steps:
            if slot.state == "gone":
                again = self.paths.get(slot.queue.path.partition("\\")[2].lower())
                if kind == "enqueue" and slot.why == NACK_DELETED and again is not None:
                    if again.transactional() and faulty("commit-follows-name"):
                        self.arrived(self.place(again, slot.letter, limited=False))
                continue
            if kind == "enqueue":
                slot.unsent = False
                self.keep(slot)
                self.free(slot)
                self.arrived(slot)
            elif kind == "dequeue":
                self.remove(slot, ACK_RECEIVED)
            elif target is not None and not target.gone:
                origin = slot.queue
                self.move(slot, target)
                if "positive_receive" in slot.letter.data["acknowledgements"]:
                    if faulty("transactional-move-acks-receive"):
                        self.acknowledge(slot.letter, origin, ACK_RECEIVED)
            else:
                self.free(slot)

    def abort(self, work: Work) -> None:
        self.finish(work)
        if faulty("abort-reverses"):
            self.reverse(work)
        for kind, slot, _, looked_up in work.steps:
            if slot.state == "gone":
                continue
            if kind == "enqueue":
                size = slot.letter.size
                self.take_out(slot)
                if faulty("aborted-send-keeps-manager-bytes"):
                    self.used[False] += size
            elif slot.state == "doomed" and not (looked_up and faulty("purged-lookup-receive-returns")):
                self.remove(slot, NACK_PURGED)
            else:
                if work.prepared and faulty("restart-keeps-prepared-receives"):
                    slot.state = "held"
                    self.keep(slot)
                self.free(slot)
                if looked_up and slot.state == "free":
                    self.keep(slot)

    def reverse(self, work: Work) -> None:
        groups: dict[tuple[str, int], list[Slot]] = {}
        for kind, slot, _, _ in work.steps:
            if kind == "dequeue" and slot.state == "held":
                groups.setdefault((slot.queue.name, slot.key[0]), []).append(slot)
        for slots in groups.values():
            keys = sorted(slot.key for slot in slots)
            for slot in slots:
                slot.queue.drop(slot)
            for slot, key in zip(slots, reversed(keys), strict=True):
                slot.key = key
            for slot in slots:
                slot.queue.insert(slot)

    def prepare(self, work: Work) -> None:
        self.mark(work)
        work.prepared = True
        if faulty("restart-keeps-prepared-receives"):
            for kind, slot, _, _ in work.steps:
                if kind == "dequeue" and slot.letter.kept():
                    self.log.put("s", str(slot.number), None)

    def move(self, slot: Slot, target: Queue) -> None:
        self.take_out(slot)
        self.place(target, slot.letter, limited=False, stored=slot.stored)


# ---------------------------------------------------------------- the protocol

METHODS: dict[str, Callable[[Manager, dict[str, Json], int], Json]] = {}


def method(name: str) -> Callable[[Any], Any]:
    def register(does: Any) -> Any:
        METHODS[name] = does
        return does

    return register


@method("reset")
def _reset(m: Manager, p: dict[str, Json], n: int) -> Json:
    for wait in m.all_waits():
        m.end_wait(wait, CANCELLED)
    for name in [*m.queues]:
        m.log.put("q", name, None)
        for slot in m.queues[name].slots:
            m.log.put("s", str(slot.number), None)
    m.alarms.clear()
    m.clear()


@method("limits")
def _limits(m: Manager, p: dict[str, Json], n: int) -> Json:
    for name in m.limits:
        m.limits[name] = p.get(name, m.limits[name])


@method("clock.now")
def _now(m: Manager, p: dict[str, Json], n: int) -> Json:
    return {"time_ms": m.now}


@method("clock.advance")
def _advance(m: Manager, p: dict[str, Json], n: int) -> Json:
    if m.now + p["by_ms"] > LAST_MS:
        raise Fail(BAD_PARAMETER)
    m.run(m.now + p["by_ms"])
    m.log.put("n", "clock", m.now)
    return {"time_ms": m.now}


def split_path(text: str) -> tuple[str, str]:
    computer, backslash, rest = text.partition("\\")
    try:
        if not backslash or not computer or len(computer) > 256 or not re.fullmatch(r"[!-~]+", computer):
            raise ValueError(text)
        name, sub = local_part(rest)
        if sub or computer.lower() not in LOCAL:
            raise ValueError(text)
    except ValueError:
        raise Fail(BAD_PATH) from None
    return computer, name


@method("queues.create")
def _create(m: Manager, p: dict[str, Json], n: int) -> Json:
    _, name = split_path(p["path_name"])
    given = dict(p.get("properties", {}))
    if "PROPID_Q_PATHNAME" in given:
        again = given.pop("PROPID_Q_PATHNAME")
        if not isinstance(again, str) or split_path(again)[1].lower() != name.lower():
            raise Fail(BAD_VALUE)
    props = {each: default for each, (default, _) in CHECKS.items()} | check_properties(given, True)
    private = name.lower().startswith("private$\\")
    if private:
        name = "private$" + name[8:]
        props["PROPID_Q_BASEPRIORITY"] = 0
    if name.lower() in m.paths:
        raise Fail(EXISTS)
    number = m.number()
    props["PROPID_Q_INSTANCE"] = str(uuid.uuid5(uuid.UUID(GUID), f"queue {number}"))
    props["PROPID_Q_CREATE_TIME"] = props["PROPID_Q_MODIFY_TIME"] = m.now // 1000
    path = f"{HOST}\\{name}"
    queue = m.add_queue(f"{number:015}", "private" if private else "public", path, number & FOREVER, props)
    m.store_queue(queue)
    return {"format_name": f"DIRECT=OS:{path}"}


@method("queues.delete")
def _delete(m: Manager, p: dict[str, Json], n: int) -> Json:
    queue = m.user_queue(p["format_name"])
    m.paths.pop(queue.path.partition("\\")[2].lower(), None)
    members = [queue, *queue.subs.values(), *([queue.journal] if queue.journal else [])]
    for member in members:
        for slot in list(member.slots):
            m.remove(slot, NACK_DELETED)
        member.gone = True
        m.queues.pop(member.name, None)
        m.log.put("q", member.name, None)
        for wait in list(member.waits):
            m.end_wait(wait, NOT_AVAILABLE)


@method("queues.open")
def _open(m: Manager, p: dict[str, Json], n: int) -> Json:
    return {"queue": m.open(p["format_name"], p["access"], p.get("share", "deny_none")).name}


@method("queues.close")
def _close(m: Manager, p: dict[str, Json], n: int) -> Json:
    m.close(m.handle(p["queue"]))


@method("queues.purge")
def _purge(m: Manager, p: dict[str, Json], n: int) -> Json:
    handle = m.handle(p["queue"])
    exclusive = handle.access == "peek" and handle.share == "deny_receive" and faulty("exclusive-peek-may-purge")
    queue = m.readable(handle, not exclusive)
    for slot in list(queue.slots):
        if slot.state == "free":
            m.remove(slot, NACK_PURGED)
        elif slot.state == "held" and not slot.unsent:
            if slot.begun and faulty("purge-skips-begun-reads"):
                continue
            slot.state = "doomed"
            m.keep(slot)


@method("queues.get")
def _get(m: Manager, p: dict[str, Json], n: int) -> Json:
    queue = m.user_queue(p["format_name"])
    known = {
        **queue.props,
        "PROPID_Q_PATHNAME": queue.path,
        "PROPID_Q_SCOPE": 1,
        "PROPID_Q_QMID": GUID,
        "PROPID_Q_PATHNAME_DNS": f"{HOST}.local\\{queue.path.partition(chr(92))[2]}",
    }
    if any(name not in known for name in p["properties"]):
        raise Fail(BAD_PROPID)
    return {"properties": {name: known[name] for name in p["properties"]}}


@method("queues.set")
def _set(m: Manager, p: dict[str, Json], n: int) -> Json:
    queue = m.user_queue(p["format_name"])
    given = p["properties"]
    if faulty("set-keeps-valid-part"):
        for name, value in given.items():
            queue.props |= check_properties({name: value}, False)
            m.store_queue(queue)
    new = check_properties(given, False)
    if new.get("PROPID_Q_TYPE") == NULL_GUID and faulty("null-type-is-not-set"):
        del new["PROPID_Q_TYPE"]
    if queue.kind == "private":
        new.pop("PROPID_Q_BASEPRIORITY", None)
        queue.props["PROPID_Q_BASEPRIORITY"] = 0
    queue.props |= new
    queue.props["PROPID_Q_MODIFY_TIME"] = m.now // 1000
    m.store_queue(queue)


@method("queues.counts")
def _counts(m: Manager, p: dict[str, Json], n: int) -> Json:
    queue, _, _ = m.find(p["format_name"])
    if queue is None:
        raise Fail(NOT_FOUND)
    answer = {"messages": len(queue.slots), "bytes": queue.bytes}
    if queue.journal is not None:
        answer |= {"journal_messages": len(queue.journal.slots), "journal_bytes": queue.journal.bytes}
    return answer


@method("messages.send")
def _send(m: Manager, p: dict[str, Json], n: int) -> Json:
    handle, work = m.handle(p["queue"]), m.work(p)
    if handle.access != "send":
        raise Fail(DENIED)
    letter = m.write(p["message"], work is not None)
    asked_express = work is not None and p["message"].get("delivery") == "express"
    answer: dict[str, Json] = {"identifier": letter.data["identifier"]}
    parts = handle.parts or [handle]
    for at, part in enumerate(parts):
        queue = part.queue
        if queue is None or queue.gone:
            continue
        if queue.transactional() != (work is not None):
            raise Fail(TX_USAGE)
        mine = Letter(dict(letter.data), letter.size, letter.sent, letter.dies, letter.tx)
        if not m.room(queue, mine.size) and mine.data["positive_journaling"] and faulty("refused-send-is-journaled"):
            m.copy(m.queues["system;journal"], mine)
        stored = not (asked_express and faulty("asked-express-is-not-stored"))
        stored = stored and not (at > 0 and faulty("later-copies-are-not-stored"))
        slot = m.place(queue, mine, unsent=work is not None, stored=stored)
        if work is not None:
            work.steps.append(("enqueue", slot, None, False))
        else:
            m.arrived(slot)
        if len(parts) == 1:
            answer["lookup_identifier"] = str(slot.lookup)
    return answer


@method("messages.receive")
def _receive(m: Manager, p: dict[str, Json], n: int) -> Json:
    handle, cursor, work = m.handle(p["queue"]), m.cursor(p), m.work(p)
    queue = m.readable(handle, True, p["timeout_ms"])
    if work is not None and not queue.transactional():
        raise Fail(TX_USAGE)
    return m.read(n, handle, cursor, p["timeout_ms"], m.taking(work), takes=True, work=work) or LATER


@method("messages.receive_begin")
def _receive_begin(m: Manager, p: dict[str, Json], n: int) -> Json:
    handle, cursor = m.handle(p["queue"]), m.cursor(p)
    return m.read(n, handle, cursor, p["timeout_ms"], m.beginning(handle), takes=True) or LATER


@method("messages.receive_end")
def _receive_end(m: Manager, p: dict[str, Json], n: int) -> Json:
    begun = m.begun.pop(p["read"], None) if isinstance(p["read"], str) else None
    if begun is None:
        raise Fail(BAD_HANDLE)
    slot = begun.slot
    if slot.queue.gone:
        if p["acknowledge"] and faulty("end-on-deleted-succeeds"):
            return None
        raise Fail(NOT_AVAILABLE)
    if slot.state == "free":
        raise Fail(TX_SEQUENCE)
    if slot.state == "doomed":
        m.remove(slot, NACK_PURGED)
    elif p["acknowledge"]:
        m.remove(slot, ACK_RECEIVED)
    else:
        m.free(slot)
        if faulty("reject-releases-others"):
            for other in list(m.begun.values()):
                if other.handle is begun.handle and other.slot.state == "held" and other.slot.begun:
                    m.free(other.slot)
    return None


@method("messages.peek")
def _peek(m: Manager, p: dict[str, Json], n: int) -> Json:
    return m.read(n, m.handle(p["queue"]), m.cursor(p), p["timeout_ms"], m.show, takes=False) or LATER


@method("messages.peek_next")
def _peek_next(m: Manager, p: dict[str, Json], n: int) -> Json:
    handle, cursor = m.handle(p["queue"]), m.cursor(p)
    if cursor is None:
        m.readable(handle, False)
        raise Fail(BAD_PARAMETER)
    return m.read(n, handle, cursor, p["timeout_ms"], m.show, takes=False, further=True) or LATER


@method("messages.receive_by_lookup_id")
def _receive_by_lookup(m: Manager, p: dict[str, Json], n: int) -> Json:
    handle, work = m.handle(p["queue"]), m.work(p)
    return m.by_lookup(handle, int(p["lookup_identifier"]), p["action"], True, work)


@method("messages.peek_by_lookup_id")
def _peek_by_lookup(m: Manager, p: dict[str, Json], n: int) -> Json:
    return m.by_lookup(m.handle(p["queue"]), int(p["lookup_identifier"]), p["action"], False, None)


@method("messages.move")
def _move(m: Manager, p: dict[str, Json], n: int) -> Json:
    source, to = m.handle(p["queue"]), m.handle(p["destination"])
    queue, target = source.queue, to.queue
    if source.access not in ("receive", "move") or to.access != "move" or queue is None or target is None:
        raise Fail(DENIED)
    if queue.gone or target.gone:
        raise Fail(NOT_AVAILABLE)
    kinds = ("private", "public", "sub")
    if queue.owner() is not target.owner() or queue is target or queue.kind not in kinds or target.kind not in kinds:
        raise Fail(BAD_PARAMETER)
    if p.get("transaction") is not None and not target.transactional():
        raise Fail(TX_USAGE)
    slot = queue.by_lookup(int(p["lookup_identifier"]))
    if slot is None or slot.unsent:
        raise Fail(NO_MESSAGE)
    if slot.state != "free":
        again = slot.state == "held" and slot.moving and faulty("moved-in-transaction-moves-again")
        if not again:
            raise Fail(TX_LOCKED)
    work = m.work(p)
    if work is None:
        m.move(slot, target)
    else:
        slot.state, slot.moving = "held", True
        work.steps.append(("move", slot, target, False))


@method("messages.cancel")
def _cancel(m: Manager, p: dict[str, Json], n: int) -> Json:
    for wait in m.all_waits():
        if wait.request == p["request"]:
            m.end_wait(wait, CANCELLED)
            return None
    raise Fail(NO_REQUEST)


@method("cursors.open")
def _open_cursor(m: Manager, p: dict[str, Json], n: int) -> Json:
    handle = m.handle(p["queue"])
    m.readable(handle, False)
    cursor = Cursor(m.fresh("c"), handle)
    handle.cursors.append(cursor)
    m.cursors[cursor.name] = cursor
    return {"cursor": cursor.name}


@method("cursors.close")
def _close_cursor(m: Manager, p: dict[str, Json], n: int) -> Json:
    cursor = m.cursor(p)
    assert cursor is not None
    m.close_cursor(cursor)


@method("transactions.begin")
def _begin(m: Manager, p: dict[str, Json], n: int) -> Json:
    work = Work(m.fresh("t"))
    m.works[work.name] = work
    return {"transaction": work.name}


def _ending(name: str, does: Callable[[Manager, Work], None]) -> None:
    def end(m: Manager, p: dict[str, Json], n: int) -> Json:
        work = m.work(p)
        assert work is not None
        does(m, work)

    METHODS[f"transactions.{name}"] = end


_ending("prepare", Manager.prepare)
_ending("commit", Manager.commit)
_ending("abort", Manager.abort)
LATER: Json = {"later": True}


class Server:
    def __init__(self) -> None:
        self.out: list[Json] = []
        self.folder: Path | None = None
        self.managers: dict[str, Manager] = {}
        self.manager: Manager | None = None
        self.ends = False

    def say(self, what: Json) -> None:
        if isinstance(what, tuple):
            self.out.append({"id": what[0], "result": what[1]})
        else:
            self.out.append({"method": "pending", "params": {"id": what}})

    def attach(self, namespace: str) -> None:
        assert self.folder is not None
        if namespace not in self.managers:
            self.managers[namespace] = Manager(self.folder, namespace, self.say)
        self.manager = self.managers[namespace]

    def hello(self, p: dict[str, Json]) -> Json:
        self.folder = Path(p["state_dir"])
        self.attach("")
        facets: dict[str, list[str]] = {"manager": ["hello", "attach", "stop"]}
        for name in METHODS:
            facet, dot, short = name.partition(".")
            facets.setdefault(facet if dot else "manager", []).append(short if dot else name)
        answer = {
            "status": 0,
            "protocol": "1.1" if "1.1" in p["versions"] else "1.0",
            "name": "own",
            "version": "1",
            "profile": "msmq-4.0",
            "computer": HOST,
            "queue_manager": GUID,
            "facets": facets,
            "limits": {"max_body_bytes": 4_000_000},
            "clock": "virtual",
            "settle_ms": 0,
        }
        if answer["protocol"] == "1.1":
            names = ["journal", "dead_letter", "subqueue", "private", "machine", "multiple_element"]
            answer["accepts"] = {"format_names": names}
        return answer

    def perform(self, number: int, name: str, p: dict[str, Json]) -> Json:
        if name == "hello":
            return self.hello(p)
        if name == "attach":
            return self.attach(p["namespace"])
        if name == "stop":
            self.ends = True
            return None
        assert self.manager is not None
        return METHODS[name](self.manager, p, number)

    def line(self, text: bytes) -> None:
        request = json.loads(text)
        number, name = request["id"], request["method"]
        if name not in METHODS and name not in ("hello", "attach", "stop"):
            self.out.append({"id": number, "error": {"code": -32601, "message": f"no method {name}"}})
        else:
            try:
                answer = self.perform(number, name, request.get("params", {}))
            except Fail as failure:
                answer = {"status": failure.status}
            except Unable as unable:
                answer = {"status": None, "failure": {"kind": "NotExpressible", "text": str(unable)}}
            if answer is not LATER:
                self.out.append({"id": number, "result": {"status": 0, **(answer or {})}})
        for manager in self.managers.values():
            manager.log.flush()
        for said in self.out:
            sys.stdout.buffer.write(json.dumps({"jsonrpc": "2.0", **said}).encode() + b"\n")
        self.out.clear()
        sys.stdout.buffer.flush()


def main() -> int:
    global FAULT
    if len(sys.argv) > 1:
        FAULT = sys.argv[1]
        if FAULT not in FAULTS:
            print(f"no fault {FAULT}; there are: {', '.join(FAULTS)}", file=sys.stderr)
            return 2
    server = Server()
    for line in sys.stdin.buffer:
        if line.strip():
            server.line(line)
        if server.ends:
            break
    return 0


if __name__ == "__main__":
    sys.exit(main())
