"""A queue manager written from MS-MQDMPR, MS-MQMQ and the adapter protocol. `python own.py [FAULT]`, on stdio."""
from __future__ import annotations

import base64
import binascii
import heapq
import json
import os
import re
import sys
import uuid

FAULT = sys.argv[1] if len(sys.argv) > 1 else ""
FAULTS = """ack-answers-to-response-queue receive-ack-before-commit cursor-close-ends-other-waits new-cursor-at-old-cursor
cancel-leaves-cursor-waiting journaled-also-dead-lettered full-dead-letters-keep-expired journal-before-commit
waited-receive-unjournaled no-move-between-siblings moved-is-home-after-restart move-leaves-journal-copy
move-renews-lifetime text-bodies-trimmed zero-lifetime-is-infinite missing-elements-skipped own-private-number-goes-out
machine-name-opened-for-send subqueue-purge-silent private-base-priority-set half-of-a-refused-set create-time-of-restart
expired-keeps-its-room quota-as-of-open manager-quota-per-queue journal-lost-at-restart abort-appends-lookup-receive
cursor-peek-ends-release abort-wakes-nobody cancel-takes-oldest-wait""".split()

NOT_FOUND, EXISTS, PARAMETER, HANDLE, CANCELLED = 0xC00E0003, 0xC00E0005, 0xC00E0006, 0xC00E0007, 0xC00E0008
SHARING, BAD_PATH, BAD_VALUE, TIMEOUT, BAD_CURSOR = 0xC00E0009, 0xC00E0014, 0xC00E0018, 0xC00E001B, 0xC00E001C
RECEIVED, BAD_NAME, BAD_OPERATION, DENIED, RESOURCES = 0xC00E001D, 0xC00E001E, 0xC00E0020, 0xC00E0025, 0xC00E0027
BAD_PROPERTY, BAD_SIZE, NOT_ALLOWED, BAD_ACCESS = 0xC00E0039, 0xC00E003B, 0xC00E003E, 0xC00E0045
UNAVAILABLE, TX_USAGE, TX_SEQUENCE, LONG_LABEL = 0xC00E004B, 0xC00E0050, 0xC00E0051, 0xC00E005D
NO_MESSAGE, TX_LOCKED, NO_SUCH_WAIT = 0xC00E0088, 0xC00E009C, 0xC0000225

FREE, HELD, GONE, PURGED = "available", "locked", "deleted", "purge-pending"
ACK_REACH, ACK_RECEIVE, NACK_DELETED, NACK_PURGED, NACK_EXPIRED = 0x0002, 0x4000, 0xC000, 0xC001, 0xC002
NEVER = 0xFFFFFFFF
GUID = "5b1d9c5e-3f0a-4f7e-9d1c-8a6b2c4e7f10"
COMPUTER = "HOST"
EPOCH = 1767225600000
BEGIN, BEYOND = (-1, 0), (9, 0)  # the ranks of Start and End

_GUID = r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}"
_WORD = r"[^\\;+,\"\x00-\x1f\x7f]"


class Refused(Exception):
    def __init__(self, status):
        self.status = status


class Slot:
    """A message position."""

    def __init__(self, queue, number, message, arrival, state):
        self.queue, self.number, self.message, self.arrival, self.state = queue, number, message, arrival, state
        self.rank = (7 - message["m"]["priority"], number)
        self.pending_send = False
        self.overdue = False

    @property
    def lookup(self):
        return (self.rank[0] << 56) | self.number


class Queue:
    def __init__(self, kind, path, owner=None, props=None, number=0):
        self.kind, self.path, self.owner, self.props, self.number = kind, path, owner, props or {}, number
        self.slots, self.handles, self.waits, self.subs = [], [], [], {}
        self.journal, self.alive, self.used = None, True, 0

    def settings(self):
        return (self.owner or self).props

    def put(self, slot):
        at = len(self.slots)
        while at and self.slots[at - 1].rank > slot.rank:
            at -= 1
        self.slots.insert(at, slot)

    def free_after(self, rank):
        return next((s for s in self.slots if s.rank > rank and s.state == FREE), None)

    def free_before(self, rank):
        return next((s for s in reversed(self.slots) if s.rank < rank and s.state == FREE), None)


class Opened:
    """An open queue descriptor."""

    def __init__(self, handle, queue, access, share, parts=()):
        self.handle, self.queue, self.access, self.share, self.parts, self.cursors = handle, queue, access, share, parts, []
        self.quota = None


class Cursor:
    def __init__(self, handle, at):
        self.handle, self.at, self.state, self.rank, self.slot = handle, at, "unread", BEGIN, None


class Wait:
    def __init__(self, request, at, cursor, takes, done):
        self.request, self.at, self.queue, self.cursor, self.takes, self.done = request, at, at.queue, cursor, takes, done
        self.over = False


class Deal:
    """A transaction."""

    def __init__(self, handle):
        self.handle, self.steps, self.waits = handle, [], []


DEFAULTS = {
    "body": "", "body_type": 0, "label": "", "priority": 3, "delivery": "express", "class": 0, "application_tag": 0,
    "correlation_identifier": base64.b64encode(bytes(20)).decode(), "positive_journaling": False,
    "negative_journaling": False, "acknowledgements": [], "time_to_reach_queue": 345600, "time_to_be_received": NEVER,
    "trace": False, "extension": "",
}
PROPS = {
    "PROPID_Q_TYPE": "00000000-0000-0000-0000-000000000000", "PROPID_Q_JOURNAL": 0, "PROPID_Q_QUOTA": NEVER,
    "PROPID_Q_BASEPRIORITY": 0, "PROPID_Q_JOURNAL_QUOTA": NEVER, "PROPID_Q_LABEL": "", "PROPID_Q_AUTHENTICATE": 0,
    "PROPID_Q_PRIV_LEVEL": 1, "PROPID_Q_TRANSACTION": 0, "PROPID_Q_MULTICAST_ADDRESS": None,
}
RANGES = {
    "PROPID_Q_JOURNAL": (0, 1), "PROPID_Q_QUOTA": (0, NEVER), "PROPID_Q_BASEPRIORITY": (-32768, 32767),
    "PROPID_Q_JOURNAL_QUOTA": (0, NEVER), "PROPID_Q_AUTHENTICATE": (0, 1), "PROPID_Q_PRIV_LEVEL": (0, 2),
    "PROPID_Q_TRANSACTION": (0, 1),
}
FIXED = ("PROPID_Q_INSTANCE", "PROPID_Q_PATHNAME", "PROPID_Q_CREATE_TIME", "PROPID_Q_MODIFY_TIME", "PROPID_Q_SCOPE",
         "PROPID_Q_QMID", "PROPID_Q_PATHNAME_DNS")


def units(text):
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def blob(text):
    if not isinstance(text, str):
        raise Refused(BAD_VALUE)
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise Refused(BAD_VALUE) from None


class Manager:
    def __init__(self):
        self.now, self.last, self.handles = EPOCH, 0, 0
        self.out, self.folder, self.dirty = [], None, False
        self.message_limit, self.journal_limit = 0x100000, NEVER
        self.clear()

    def clear(self):
        self.queues, self.timers, self.ticks = {}, [], 0
        self.opened, self.cursors, self.deals, self.reads = {}, {}, {}, {}
        self.system = {n: Queue("system", f"{COMPUTER}\\system$;{n}") for n in ("journal", "deadletter", "deadxact")}

    # state on disk

    def save(self):
        def message(queue, where):
            return [[where, s.number, s.rank, s.arrival, s.message, s.state == PURGED] for s in queue.slots
                    if s.message["m"]["delivery"] == "recoverable" and not s.pending_send]
        queues, slots = [], []
        for key, queue in self.queues.items():
            queues.append([key, queue.path, queue.number, queue.props, [s.path.split(";")[-1] for s in queue.subs.values()]])
            slots += message(queue, [key, ""])
            if FAULT != "journal-lost-at-restart":
                slots += message(queue.journal, [key, ";journal"])
            for name, sub in queue.subs.items():
                slots += message(sub, [key, "" if FAULT == "moved-is-home-after-restart" else name])
        for name, queue in self.system.items():
            slots += message(queue, ["", name])
        state = {"now": self.now, "last": self.last, "limits": [self.message_limit, self.journal_limit], "queues": queues, "slots": slots}
        path = os.path.join(self.folder, "own.json")
        with open(path + ".new", "w", encoding="utf-8") as file:
            json.dump(state, file)
        os.replace(path + ".new", path)

    def load(self, folder):
        self.folder = folder
        os.makedirs(folder, exist_ok=True)
        path = os.path.join(folder, "own.json")
        if not os.path.exists(path):
            return
        with open(path, encoding="utf-8") as file:
            state = json.load(file)
        self.now, self.last = state["now"], state["last"]
        self.message_limit, self.journal_limit = state["limits"]
        for key, path, number, props, subs in state["queues"]:
            queue = self.add_queue(key, path, number, props)
            if FAULT == "create-time-of-restart":
                queue.props["PROPID_Q_CREATE_TIME"] = self.now // 1000
            for name in subs:
                self.subqueue(queue, name)
        purged = []
        for (key, name), number, rank, arrival, message, was_purged in state["slots"]:
            owner = self.queues.get(key)
            queue = self.system[name] if not key else owner.journal if name == ";journal" else owner.subs[name] if name else owner
            slot = Slot(queue, number, message, arrival, FREE)
            slot.rank = tuple(rank)
            queue.put(slot)
            queue.used += message["size"]
            self.watch(slot)
            if was_purged:
                purged.append(slot)
        for slot in purged:
            self.drop(slot, NACK_PURGED)
        self.run_timers(self.now)

    # time

    def at(self, due, what):
        self.ticks += 1
        heapq.heappush(self.timers, (due, self.ticks, what))

    def run_timers(self, until):
        while self.timers and self.timers[0][0] <= until:
            due, _, what = heapq.heappop(self.timers)
            self.now = max(self.now, due)
            what()
        self.now = max(self.now, until)

    def watch(self, slot):
        due = slot.message["dies"]
        if due is not None and slot.queue.kind in ("user", "sub"):
            self.at(due, lambda: self.expire(slot))

    def expire(self, slot):
        if slot.state == HELD:
            slot.overdue = True
        elif slot.state == FREE:
            if FAULT == "full-dead-letters-keep-expired" and slot.message["m"]["negative_journaling"]:
                if not self.room(self.system["deadletter"], slot.message["size"]):
                    return
            self.drop(slot, NACK_EXPIRED)

    # names

    def local(self, computer):
        return computer.lower() in (COMPUTER.lower(), COMPUTER.lower() + ".local", ".", "localhost", "127.0.0.1", "::1")

    def parse(self, text):
        """(kind, queue key or system name, rest): of a format name. kind: user, system, remote or other."""
        if found := re.fullmatch(rf"private=({_GUID})\\([0-9a-f]{{1,8}})(;journal)?", text, re.I | re.A):
            if found[1].lower() != GUID:
                return "remote", None, ""
            number = int(found[2], 16)
            key = next((k for k, q in self.queues.items() if q.number == number and k.startswith("private$\\")), "?")
            return "user", key, found[3] or ""
        if found := re.fullmatch(rf"public=({_GUID})(;journal)?", text, re.I | re.A):
            key = next((k for k, q in self.queues.items() if q.props["PROPID_Q_INSTANCE"] == found[1].lower()), None)
            return ("user", key, found[2] or "") if key else ("public", None, "")
        if found := re.fullmatch(rf"machine=({_GUID});(journal|deadletter|deadxact)", text, re.I | re.A):
            return ("machine", found[2].lower(), "") if found[1].lower() == GUID else ("other", None, "")
        if re.fullmatch(rf"connector={_GUID}(;xactonly)?|dl={_GUID}(@[!-+\--~]{{1,255}})?", text, re.I | re.A):
            return "other", None, ""
        found = re.fullmatch(r"direct=(os|tcp):([!-+\--:<-\[\]-~]{1,256})\\(.*)", text, re.I | re.A | re.S)
        if not found:
            raise Refused(BAD_NAME)
        if found[1].lower() == "tcp" and not re.fullmatch(r"(\d{1,3}\.){3}\d{1,3}|[0-9a-fA-F:.]*:[0-9a-fA-F:.]*", found[2]):
            raise Refused(BAD_NAME)
        here = self.local(found[2])
        if system := re.fullmatch(r"system\$;(journal|deadletter|deadxact)", found[3], re.I):
            return ("system", system[1].lower(), "") if here else ("remote", None, ";" + system[1])
        rest = re.fullmatch(rf"(private\$\\)?({_WORD}{{1,124}})(;{_WORD}{{1,32}})?", found[3], re.I)
        if not rest or rest[2].lower() in ("private$", "system$"):
            raise Refused(BAD_NAME)
        if (rest[3] or "").lower() in (";deadletter", ";deadxact", ";xactonly"):
            raise Refused(BAD_NAME)
        if not here:
            return "remote", None, rest[3] or ""
        return "user", ("private$\\" if rest[1] else "") + rest[2].lower(), rest[3] or ""

    def find(self, text, making=False):
        """The local queue of a format name, or None."""
        kind, key, rest = self.parse(text)
        if kind in ("system", "machine"):
            return self.system[key]
        queue = self.queues.get(key) if kind == "user" else None
        if queue is None or not rest:
            return queue
        if rest.lower() == ";journal":
            return queue.journal
        return self.subqueue(queue, rest[1:]) if making else queue.subs.get(rest[1:].lower())

    def subqueue(self, queue, name):
        if name.lower() not in queue.subs:
            queue.subs[name.lower()] = Queue("sub", f"{queue.path};{name}", queue)
        return queue.subs[name.lower()]

    def add_queue(self, key, path, number, props):
        queue = self.queues[key] = Queue("user", path, None, props, number)
        queue.journal = Queue("journal", path + ";journal", queue)
        return queue

    def user_queue(self, text):
        queue = self.find(text)
        if queue is None:
            raise Refused(NOT_FOUND)
        if queue.kind != "user":
            raise Refused(BAD_OPERATION)
        return queue

    # quotas

    def every(self):
        for queue in self.queues.values():
            yield from (queue, queue.journal, *queue.subs.values())
        yield from self.system.values()

    def room(self, queue, size, quota=None):
        stored = queue.kind in ("journal", "system")
        limit = self.journal_limit if stored else self.message_limit
        total = sum(q.used for q in self.every() if (q.kind in ("journal", "system")) == stored)
        if FAULT == "manager-quota-per-queue" and not stored:
            total = queue.used
        if limit != NEVER and total + size > limit * 1024:
            return False
        name = "PROPID_Q_JOURNAL_QUOTA" if stored else "PROPID_Q_QUOTA"
        own = queue.settings().get(name, NEVER) if quota is None else quota
        return own == NEVER or queue.used + size <= own * 1024

    # positions

    def next_number(self):
        self.last += 1
        return self.last

    def enqueue(self, queue, message, deal=None):
        slot = Slot(queue, self.next_number(), message, self.now // 1000, HELD)
        queue.put(slot)
        queue.used += message["size"]
        self.watch(slot)
        if deal is not None:
            slot.pending_send = True
            deal.steps.append(("send", slot, None))
        else:
            self.offer(slot)
        return slot

    def offer(self, slot):
        """Message Position Available."""
        if slot.overdue:
            self.drop(slot, NACK_EXPIRED)
            return
        slot.state = FREE
        for wait in list(slot.queue.waits):
            if wait.over:
                continue
            self.serve(wait, slot)
            if wait.takes or (FAULT == "cursor-peek-ends-release" and wait.cursor):
                break
        due = slot.message["dies"]
        if slot.state == FREE and due is not None and due <= self.now and slot.queue.kind in ("user", "sub"):
            self.drop(slot, NACK_EXPIRED)

    def take_out(self, slot, keep_bytes=False):
        slot.state = GONE
        if slot in slot.queue.slots:
            slot.queue.slots.remove(slot)
            if not keep_bytes:
                slot.queue.used -= slot.message["size"]

    def drop(self, slot, reason, journal=True, ack=True):
        """Message Position Deleted."""
        if slot.state == GONE:
            return
        queue, message = slot.queue, slot.message
        if reason == ACK_RECEIVE and queue.kind == "user" and queue.props["PROPID_Q_JOURNAL"] and journal:
            self.keep_copy(queue.journal, message)
        self.take_out(slot, keep_bytes=FAULT == "expired-keeps-its-room" and reason == NACK_EXPIRED)
        if reason == NACK_EXPIRED:
            self.dead_letter(message)
        if queue.kind in ("user", "sub") and ack:
            if not (FAULT == "subqueue-purge-silent" and queue.kind == "sub" and reason == NACK_PURGED):
                self.acknowledge(message, queue, reason)

    def dead_letter(self, message):
        if message["m"]["negative_journaling"] or (
            FAULT == "journaled-also-dead-lettered" and message["m"]["positive_journaling"]
        ):
            self.keep_copy(self.system["deadxact" if message["deal"] else "deadletter"], message)

    def keep_copy(self, queue, message):
        if self.room(queue, message["size"]):
            self.enqueue(queue, {**message, "m": dict(message["m"]), "dies": None})

    def arrived(self, message, queue, journal=True):
        if queue.kind != "user":
            return
        if message["m"]["positive_journaling"] and journal:
            self.keep_copy(self.system["journal"], message)
        self.acknowledge(message, queue, ACK_REACH)

    def acknowledge(self, message, queue, reason):
        old = message["m"]
        wanted = {ACK_REACH: "positive_arrival", ACK_RECEIVE: "positive_receive"}.get(reason, "negative_receive")
        name = old.get("administration_queue")
        if wanted not in old["acknowledgements"] or not name:
            return
        try:
            target = self.find(name)
        except Refused:
            return
        if target is None or target.kind != "user" or target.props["PROPID_Q_TRANSACTION"]:
            return
        origin = old["identifier"]
        lineage = uuid.UUID(origin["source"]).bytes_le + origin["ordinal"].to_bytes(4, "little")
        answer = {
            "class": reason, "correlation_identifier": base64.b64encode(lineage).decode(), "delivery": old["delivery"],
            "time_to_reach_queue": NEVER, "response_queue": "DIRECT=OS:" + queue.path,
            "body": "" if reason in (ACK_REACH, ACK_RECEIVE) else old["body"],
        }
        if FAULT == "ack-answers-to-response-queue" and "response_queue" in old:
            answer["response_queue"] = old["response_queue"]
        made = self.make(answer, False)
        if self.room(target, made["size"]):
            self.enqueue(target, made)

    # sending

    def make(self, given, transactional):
        if set(given) - set(DEFAULTS) - {"administration_queue", "response_queue"}:
            raise Refused(BAD_VALUE)
        m = {**DEFAULTS, **given}
        for name, most in (("priority", 7), ("body_type", NEVER), ("class", 0xFFFF), ("application_tag", NEVER),
                           ("time_to_reach_queue", NEVER), ("time_to_be_received", NEVER)):
            if type(m[name]) is not int or not 0 <= m[name] <= most:
                raise Refused(BAD_VALUE)
        if m["delivery"] not in ("express", "recoverable") or m["class"] & ~0xE1FF:
            raise Refused(BAD_VALUE)
        if any(type(m[n]) is not bool for n in ("positive_journaling", "negative_journaling", "trace")):
            raise Refused(BAD_VALUE)
        kinds = ("positive_arrival", "positive_receive", "negative_arrival", "negative_receive")
        if not isinstance(m["acknowledgements"], list) or any(a not in kinds for a in m["acknowledgements"]):
            raise Refused(BAD_VALUE)
        for name in ("administration_queue", "response_queue"):
            for element in str(m[name]).split(",") if name in m else ():
                if not re.match(r"multicast=|direct=https?:", element, re.I):
                    self.parse(element)
        if not isinstance(m["label"], str) or "\0" in m["label"]:
            raise Refused(BAD_VALUE)
        if units(m["label"]) > 249:
            raise Refused(LONG_LABEL)
        body, extension = blob(m["body"]), blob(m["extension"])
        if len(blob(m["correlation_identifier"])) != 20:
            raise Refused(BAD_SIZE)
        if FAULT == "text-bodies-trimmed" and m["body_type"] in (8, 30, 31):
            m["body"] = base64.b64encode(body.rstrip(b"\0")).decode()
        label = 2 * units(m["label"]) + 2 if m["label"] else 0
        size = 120 + label + len(body) + len(extension)
        if size > 0x400000:
            raise Refused(RESOURCES)
        if transactional:
            m["priority"], m["delivery"] = 0, "recoverable"
        m["identifier"] = {"source": GUID, "ordinal": self.next_number() & NEVER}
        m["sent_time"] = self.now // 1000
        m["first_in_transaction"] = m["last_in_transaction"] = False
        lives = m["time_to_be_received"]
        if FAULT == "zero-lifetime-is-infinite" and lives == 0:
            lives = NEVER
        return {"m": m, "size": size, "sent": self.now, "dies": None if lives == NEVER else self.now + lives * 1000,
                "deal": transactional}

    def send(self, p):
        at, deal = self.handle(p["queue"]), self.deal(p)
        if at.access != "send":
            raise Refused(DENIED)
        message = self.make(p["message"], deal is not None)
        answer = {"identifier": message["m"]["identifier"]}
        for one in at.parts or (at,):
            queue = one.queue
            if not queue.alive:
                continue
            if queue.kind == "user" and bool(queue.props["PROPID_Q_TRANSACTION"]) != (deal is not None):
                raise Refused(TX_USAGE)
            copy = {**message, "m": dict(message["m"])}
            if not self.room(queue, copy["size"], one.quota if FAULT == "quota-as-of-open" else None):
                raise Refused(RESOURCES)
            slot = self.enqueue(queue, copy, deal)
            if deal is None:
                self.arrived(copy, queue)
            elif FAULT == "journal-before-commit" and copy["m"]["positive_journaling"]:
                self.keep_copy(self.system["journal"], copy)
            if not at.parts:
                answer["lookup_identifier"] = str(slot.lookup)
        return answer

    # handles

    def _look(self, table, handle, status=HANDLE):
        found = table.get(handle) if isinstance(handle, str) else None
        if found is None:
            raise Refused(status)
        return found

    def handle(self, handle):
        return self._look(self.opened, handle)

    def deal(self, p):
        return None if p.get("transaction") is None else self._look(self.deals, p["transaction"], TX_SEQUENCE)

    def new(self, letter):
        self.handles += 1
        return f"{letter}{self.handles}"

    def open(self, p):
        text, access, share = p["format_name"], p["access"], p.get("share", "deny_none")
        if "," in text:
            return {"queue": self.open_many(text, access, share).handle}
        return {"queue": self.open_one(text, access, share).handle}

    def open_many(self, text, access, share):
        elements = text.split(",")
        for element in elements:
            kind, _, rest = self.parse(element)
            if kind in ("system", "machine") or rest.lower() in (";journal", ";deadletter", ";deadxact"):
                raise Refused(BAD_NAME)
        if access != "send":
            raise Refused(BAD_OPERATION)
        if share != "deny_none":
            raise Refused(BAD_ACCESS)
        parts = []
        for element in {e.lower(): e for e in elements}.values():
            try:
                parts.append(self.open_one(element, access, share))
            except Refused as failure:
                if FAULT == "missing-elements-skipped" and failure.status == NOT_FOUND and parts:
                    continue
                for part in parts:
                    self.close_one(part)
                raise
        whole = Opened(self.new("h"), None, access, share, tuple(parts))
        self.opened[whole.handle] = whole
        return whole

    def open_one(self, text, access, share):
        kind, key, rest = self.parse(text)
        sending = access == "send"
        if kind == "other" or (kind == "machine" and sending and FAULT != "machine-name-opened-for-send"):
            raise Refused(BAD_OPERATION)
        if access in ("receive_admin", "peek_admin"):
            raise Refused(NOT_FOUND if kind == "remote" else BAD_ACCESS)
        queue = self.find(text, making=not sending)
        if queue is None:
            if kind == "user" and key == "?" and sending and FAULT == "own-private-number-goes-out":
                queue = Queue("out", text, None, dict(PROPS))
            elif kind == "user" and sending and rest and key in self.queues:
                raise Refused(BAD_ACCESS)
            elif kind == "public" and sending or kind == "remote" and sending:
                raise Refused(BAD_OPERATION)
            else:
                raise Refused(NOT_FOUND)
        if sending and queue.kind not in ("user", "out") and kind != "machine":
            raise Refused(BAD_ACCESS)
        if sending and share == "deny_receive" or access == "move" and queue.kind not in ("user", "sub"):
            raise Refused(BAD_ACCESS)
        modes = {(o.access, o.share) for o in queue.handles}
        if ("receive", "deny_receive") in modes:
            clash = access in ("receive", "peek") and (share == "deny_receive" or access == "receive")
        elif ("peek", "deny_receive") in modes and access == "receive":
            clash = True
        else:
            clash = ("receive", "deny_none") in modes and share == "deny_receive" and access in ("receive", "peek")
        if clash:
            raise Refused(SHARING)
        opened = Opened(self.new("h"), queue, access, share)
        opened.quota = queue.settings().get("PROPID_Q_QUOTA", NEVER)
        queue.handles.append(opened)
        self.opened[opened.handle] = opened
        return opened

    def close_one(self, at):
        for part in at.parts:
            self.close_one(part)
        if at.queue is not None:
            for wait in [w for w in at.queue.waits if w.at is at]:
                self.fail(wait, CANCELLED)
            for cursor in list(at.cursors):
                self.cursors.pop(cursor.handle, None)
            for handle, (opened, slot) in list(self.reads.items()):
                if opened is at:
                    del self.reads[handle]
                    if slot.queue.alive and slot.state != FREE:
                        self.finish(slot, False)
            if at in at.queue.handles:
                at.queue.handles.remove(at)
        self.opened.pop(at.handle, None)

    # reading

    def source(self, at, takes=False):
        if at.queue is None or at.access not in (("receive",) if takes else ("receive", "peek")):
            raise Refused(DENIED)
        if not at.queue.alive:
            raise Refused(UNAVAILABLE)
        return at.queue

    def show(self, slot):
        return {"message": {**slot.message["m"], "lookup_identifier": str(slot.lookup), "arrival_time": slot.arrival}}

    def read(self, p, request, takes, following, done, deal=None):
        """The common part of peeks and receives. done: makes the answer of the slot found."""
        at = self.handle(p["queue"])
        cursor = None if p.get("cursor") is None else self._look(self.cursors, p["cursor"])
        queue = self.source(at, takes)
        if deal is not None and not queue.props.get("PROPID_Q_TRANSACTION", 0) and not (
            queue.owner and queue.kind in ("sub", "journal") and queue.owner.props["PROPID_Q_TRANSACTION"]
        ) and queue is not self.system["deadxact"]:
            raise Refused(TX_USAGE)
        if following and cursor is None:
            raise Refused(PARAMETER)
        if cursor is not None and cursor.at is not at:
            raise Refused(HANDLE)
        if cursor is None:
            slot = queue.free_after(BEGIN)
        elif cursor.state not in ("unread", "read") or following and cursor.state == "unread":
            raise Refused(BAD_CURSOR)
        elif cursor.state == "read" and not following:
            if cursor.slot is None or cursor.slot.state != FREE:
                raise Refused(RECEIVED)
            slot = cursor.slot
            if takes:
                cursor.state = "unread"
        else:
            slot = queue.free_after(cursor.rank)
            if slot is not None:
                cursor.rank, cursor.slot = slot.rank, slot
                if not takes:
                    cursor.state = "read"
            elif takes and p["timeout_ms"] == 0:
                raise Refused(NO_MESSAGE)
            else:
                cursor.state = "wait-receive" if takes else "wait-peek"
        if slot is not None:
            return done(slot, False)
        wait = Wait(request, at, cursor, takes, done)
        if p["timeout_ms"] == 0:
            self.expired(cursor)
            raise Refused(TIMEOUT)
        if p["timeout_ms"] != NEVER:
            self.at(self.now + p["timeout_ms"], lambda: self.fail(wait, TIMEOUT))
        queue.waits.append(wait)
        if deal is not None:
            deal.waits.append(wait)
        self.out.append({"jsonrpc": "2.0", "method": "pending", "params": {"id": request}})
        return None

    def expired(self, cursor):
        if cursor is not None and cursor.state.startswith("wait"):
            cursor.state, cursor.rank, cursor.slot = "unread", BEYOND, None

    def serve(self, wait, slot):
        wait.over = True
        wait.queue.waits.remove(wait)
        if wait.cursor is not None:
            wait.cursor.state = "read" if wait.cursor.state == "wait-peek" else "unread"
            wait.cursor.rank, wait.cursor.slot = slot.rank, slot
        self.answer(wait.request, wait.done(slot, True))

    def fail(self, wait, status):
        if wait.over:
            return
        wait.over = True
        wait.queue.waits.remove(wait)
        if not (FAULT == "cancel-leaves-cursor-waiting" and status == CANCELLED and wait.takes):
            self.expired(wait.cursor)
        self.answer(wait.request, {"status": status})

    def take(self, deal, by_id=False):
        def done(slot, waited):
            shown = self.show(slot)
            if deal is not None:
                slot.state = HELD
                deal.steps.append(("take-by-id" if by_id else "take", slot, None))
                if FAULT == "receive-ack-before-commit" and slot.queue.kind in ("user", "sub"):
                    self.acknowledge(slot.message, slot.queue, ACK_RECEIVE)
            else:
                self.drop(slot, ACK_RECEIVE, journal=not (waited and FAULT == "waited-receive-unjournaled"))
            return shown
        return done

    def hold(self, at):
        def done(slot, waited):
            slot.state = HELD
            handle = self.new("r")
            self.reads[handle] = (at, slot)
            return {**self.show(slot), "read": handle}
        return done

    def finish(self, slot, acknowledge):
        if slot.state == PURGED:
            self.drop(slot, NACK_PURGED)
        elif acknowledge:
            self.drop(slot, ACK_RECEIVE)
        else:
            self.offer(slot)

    def by_id(self, p, takes):
        at, deal = self.handle(p["queue"]), self.deal(p)
        queue = self.source(at, takes)
        if deal is not None and not queue.settings().get("PROPID_Q_TRANSACTION", 0) and queue is not self.system["deadxact"]:
            raise Refused(TX_USAGE)
        wanted, action = int(p["lookup_identifier"]), p["action"]
        if action == "first" or action == "next" and wanted == 0:
            slot = queue.free_after(BEGIN)
        elif action == "last" or action == "previous" and wanted == (1 << 64) - 1:
            slot = queue.free_before(BEYOND)
        else:
            named = next((s for s in queue.slots if s.lookup == wanted), None)
            if named is None:
                raise Refused(NO_MESSAGE)
            if action == "next":
                slot = queue.free_after(named.rank)
            elif action == "previous":
                slot = queue.free_before(named.rank)
            elif named.state != FREE:
                raise Refused(NO_MESSAGE if takes else TX_USAGE)
            else:
                slot = named
        if slot is None:
            raise Refused(NO_MESSAGE)
        return self.take(deal, True)(slot, False) if takes else self.show(slot)

    def move(self, p):
        at, to = self.handle(p["queue"]), self.handle(p["destination"])
        if at.access not in ("receive", "move") or to.access != "move" or at.queue is None:
            raise Refused(DENIED)
        queue, target = at.queue, to.queue
        if not queue.alive or not target.alive:
            raise Refused(UNAVAILABLE)
        if queue.kind not in ("user", "sub") or queue is target or (queue.owner or queue) is not (target.owner or target):
            raise Refused(PARAMETER)
        if FAULT == "no-move-between-siblings" and queue.kind == target.kind == "sub":
            raise Refused(PARAMETER)
        wants = p.get("transaction") is not None
        if wants and not target.settings()["PROPID_Q_TRANSACTION"]:
            raise Refused(TX_USAGE)
        slot = next((s for s in queue.slots if s.lookup == int(p["lookup_identifier"])), None)
        if slot is None or slot.pending_send:
            raise Refused(NO_MESSAGE)
        if slot.state != FREE:
            raise Refused(TX_LOCKED)
        deal = self.deal(p)
        if deal is not None:
            slot.state = HELD
            deal.steps.append(("move", slot, target))
            return {}
        if FAULT == "move-leaves-journal-copy" and queue.kind == "user" and queue.props["PROPID_Q_JOURNAL"]:
            self.keep_copy(queue.journal, slot.message)
        self.carry(slot, target)
        return {}

    def carry(self, slot, target):
        self.take_out(slot)
        if FAULT == "move-renews-lifetime" and slot.message["dies"] is not None:
            slot.message["dies"] = self.now + slot.message["m"]["time_to_be_received"] * 1000
        self.enqueue(target, slot.message)

    # transactions

    def mark(self, deal):
        groups = {}
        for kind, slot, _ in deal.steps:
            if kind == "send":
                groups.setdefault(id(slot.queue), []).append(slot)
        for slots in groups.values():
            for slot in slots:
                slot.message["m"]["first_in_transaction"] = slot is slots[0]
                slot.message["m"]["last_in_transaction"] = slot is slots[-1]

    def leave(self, deal):
        del self.deals[deal.handle]
        for wait in deal.waits:
            self.fail(wait, CANCELLED)

    def commit(self, deal):
        self.mark(deal)
        self.leave(deal)
        for kind, slot, target in deal.steps:
            if slot.state == GONE:
                continue
            if kind == "send":
                slot.pending_send = False
                self.offer(slot)
                self.arrived(slot.message, slot.queue, journal=FAULT != "journal-before-commit")
            elif kind == "move":
                if target.alive:
                    self.carry(slot, target)
                else:
                    self.offer(slot)
            else:
                self.drop(slot, ACK_RECEIVE, ack=FAULT != "receive-ack-before-commit")

    def abort(self, deal):
        self.leave(deal)
        for kind, slot, _ in deal.steps:
            if slot.state == GONE:
                continue
            if kind == "send":
                self.take_out(slot)
            elif slot.state == PURGED:
                self.drop(slot, NACK_PURGED)
            else:
                if FAULT == "abort-appends-lookup-receive" and kind == "take-by-id":
                    slot.queue.slots.remove(slot)
                    slot.rank = (slot.rank[0], self.next_number())
                    slot.queue.put(slot)
                if FAULT == "abort-wakes-nobody" and not slot.overdue:
                    slot.state = FREE
                else:
                    self.offer(slot)

    # whole queues

    def properties(self, given, creating):
        kept = {}
        for name, value in given.items():
            if name in FIXED or name == "PROPID_Q_TRANSACTION" and not creating:
                raise Refused(NOT_ALLOWED)
            if name not in PROPS:
                raise Refused(BAD_PROPERTY)
            value = int(value) if isinstance(value, bool) else value
            if name in RANGES:
                low, high = RANGES[name]
                good = isinstance(value, int) and low <= value <= high
            elif name == "PROPID_Q_TYPE":
                found = re.fullmatch(rf"\{{?({_GUID})\}}?", value) if isinstance(value, str) else None
                good, value = found is not None, found and found[1]
            elif name == "PROPID_Q_LABEL":
                good = isinstance(value, str) and "\0" not in value and units(value) <= 124
            else:
                good = value is None or isinstance(value, str) and self.multicast(value)
            if not good:
                if FAULT == "half-of-a-refused-set" and not creating:
                    return kept, Refused(BAD_VALUE)
                raise Refused(BAD_VALUE)
            kept[name] = value
        return kept, None

    def multicast(self, text):
        found = re.fullmatch(r"(0|[1-9]\d{0,2})\.(0|[1-9]\d{0,2})\.(0|[1-9]\d{0,2})\.(0|[1-9]\d{0,2}):(0|[1-9]\d{0,4})", text, re.A)
        numbers = [int(n) for n in found.groups()] if found else []
        return bool(found) and 224 <= numbers[0] <= 239 and max(numbers[:4]) <= 255 and numbers[4] <= 65535

    def create(self, p):
        found = re.fullmatch(rf"([!-+\--:<-\[\]-~]{{1,256}})\\(private\$\\)?({_WORD}{{1,124}})", p["path_name"], re.I)
        if not found or not self.local(found[1]) or found[3].lower() in ("private$", "system$"):
            raise Refused(BAD_PATH)
        key = ("private$\\" if found[2] else "") + found[3].lower()
        given = dict(p.get("properties", {}))
        again = given.pop("PROPID_Q_PATHNAME", p["path_name"])
        if not isinstance(again, str) or again.partition("\\")[2].lower() != p["path_name"].partition("\\")[2].lower():
            raise Refused(BAD_VALUE)
        props = {**PROPS, **self.properties(given, True)[0]}
        if found[2]:
            props["PROPID_Q_BASEPRIORITY"] = 0
        if key in self.queues:
            raise Refused(EXISTS)
        now = self.now // 1000
        props |= {"PROPID_Q_INSTANCE": str(uuid.uuid4()), "PROPID_Q_CREATE_TIME": now, "PROPID_Q_MODIFY_TIME": now}
        path = COMPUTER + "\\" + ("private$\\" if found[2] else "") + found[3]
        self.add_queue(key, path, self.next_number() & NEVER, props)
        return {"format_name": "DIRECT=OS:" + path}

    def delete(self, p):
        queue = self.user_queue(p["format_name"])
        for key in [k for k, q in self.queues.items() if q is queue]:
            del self.queues[key]
        for one in (queue, *queue.subs.values(), queue.journal):
            for slot in list(one.slots):
                self.drop(slot, NACK_DELETED)
            one.alive = False
            for wait in list(one.waits):
                self.fail(wait, UNAVAILABLE)
        return {}

    def get(self, p):
        queue = self.user_queue(p["format_name"])
        values = {**queue.props, "PROPID_Q_PATHNAME": queue.path, "PROPID_Q_SCOPE": 1, "PROPID_Q_QMID": GUID,
                  "PROPID_Q_PATHNAME_DNS": queue.path.replace("\\", ".local\\", 1)}
        if any(not isinstance(n, str) or n not in values for n in p["properties"]):
            raise Refused(BAD_PROPERTY)
        return {"properties": {n: values[n] for n in p["properties"]}}

    def set(self, p):
        queue = self.user_queue(p["format_name"])
        kept, failure = self.properties(p["properties"], False)
        if queue.path.lower().startswith((COMPUTER + "\\private$\\").lower()) and FAULT != "private-base-priority-set":
            kept.pop("PROPID_Q_BASEPRIORITY", None)
        queue.props |= kept
        if failure:
            raise failure
        queue.props["PROPID_Q_MODIFY_TIME"] = self.now // 1000
        return {}

    def counts(self, p):
        queue = self.find(p["format_name"])
        if queue is None:
            raise Refused(NOT_FOUND)
        answer = {"messages": len(queue.slots), "bytes": queue.used}
        if queue.journal is not None:
            answer |= {"journal_messages": len(queue.journal.slots), "journal_bytes": queue.journal.used}
        return answer

    def purge(self, p):
        for slot in list(self.source(self.handle(p["queue"]), True).slots):
            if slot.state == FREE:
                self.drop(slot, NACK_PURGED)
            elif slot.state == HELD and not slot.pending_send:
                slot.state = PURGED
        return {}

    # the protocol

    def answer(self, request, result):
        self.out.append({"jsonrpc": "2.0", "id": request, "result": {"status": 0, **result}})

    def perform(self, method, p, request):
        """The result of a request; None if it is answered later."""
        if method == "hello":
            if self.folder is None:
                self.load(p["state_dir"])
            return {"protocol": next(v for v in p["versions"] if v in ("1.1", "1.0")), "name": "own-d", "version": "1",
                    "profile": "msmq-4.0", "computer": COMPUTER, "queue_manager": GUID, "facets": FACETS,
                    "limits": {"max_body_bytes": 4000000}, "clock": "virtual", "settle_ms": 0, "slack_ms": 0,
                    **({"accepts": ACCEPTS} if "1.1" in p["versions"] else {})}
        if method == "reset":
            for queue in self.every():
                for wait in list(queue.waits):
                    self.fail(wait, CANCELLED)
                queue.alive = False
            self.clear()
            self.message_limit, self.journal_limit = 0x100000, NEVER
            return {}
        if method == "stop":
            self.stopped = True
            return {}
        if method == "limits":
            self.message_limit = p.get("message_quota_kb", self.message_limit)
            self.journal_limit = p.get("journal_quota_kb", self.journal_limit)
            return {}
        if method == "clock.now":
            return {"time_ms": self.now}
        if method == "clock.advance":
            self.run_timers(self.now + p["by_ms"])
            return {"time_ms": self.now}
        facet, _, name = method.partition(".")
        if facet == "queues" and name in ("create", "delete", "open", "get", "set", "counts", "purge"):
            return getattr(self, name)(p)
        if method == "queues.close":
            self.close_one(self.handle(p["queue"]))
            return {}
        if method == "messages.send":
            return self.send(p)
        if method == "messages.receive":
            at = self.handle(p["queue"])
            deal = self.deal(p)
            return self.read(p, request, True, False, self.take(deal), deal)
        if method == "messages.receive_begin":
            return self.read(p, request, True, False, self.hold(self.handle(p["queue"])))
        if method in ("messages.peek", "messages.peek_next"):
            return self.read(p, request, False, name == "peek_next", lambda slot, waited: self.show(slot))
        if method == "messages.receive_end":
            at, slot = self._look(self.reads, p["read"])
            del self.reads[p["read"]]
            if not slot.queue.alive:
                raise Refused(UNAVAILABLE)
            if slot.state == FREE:
                raise Refused(TX_SEQUENCE)
            self.finish(slot, p["acknowledge"])
            return {}
        if facet == "messages" and name.endswith("_by_lookup_id"):
            return self.by_id(p, name.startswith("receive"))
        if method == "messages.move":
            return self.move(p)
        if method == "messages.cancel":
            for queue in self.waiting_queues():
                for wait in queue.waits:
                    if wait.request == p["request"]:
                        if FAULT == "cancel-takes-oldest-wait":
                            wait = queue.waits[0]
                        self.fail(wait, CANCELLED)
                        return {}
            raise Refused(NO_SUCH_WAIT)
        if method == "cursors.open":
            at = self.handle(p["queue"])
            self.source(at)
            cursor = Cursor(self.new("c"), at)
            if FAULT == "new-cursor-at-old-cursor" and at.cursors:
                cursor.rank = at.cursors[-1].rank
            at.cursors.append(cursor)
            self.cursors[cursor.handle] = cursor
            return {"cursor": cursor.handle}
        if method == "cursors.close":
            cursor = self._look(self.cursors, p["cursor"])
            for wait in list(cursor.at.queue.waits):
                other = FAULT == "cursor-close-ends-other-waits" and wait.cursor and wait.at is cursor.at
                if wait.cursor is cursor or other:
                    self.fail(wait, CANCELLED)
            del self.cursors[cursor.handle]
            cursor.at.cursors.remove(cursor)
            return {}
        if method == "transactions.begin":
            deal = Deal(self.new("t"))
            self.deals[deal.handle] = deal
            return {"transaction": deal.handle}
        deal = self._look(self.deals, p["transaction"], TX_SEQUENCE)
        if method == "transactions.prepare":
            self.mark(deal)
        elif method == "transactions.commit":
            self.commit(deal)
        else:
            self.abort(deal)
        return {}

    def waiting_queues(self):
        return [o.queue for o in self.opened.values() if o.queue is not None and o.queue.waits]


FACETS = {
    "manager": ["hello", "reset", "stop", "limits"],
    "clock": ["now", "advance"],
    "queues": ["create", "delete", "open", "close", "purge", "get", "set", "counts"],
    "messages": ["send", "receive", "peek", "peek_next", "receive_by_lookup_id", "peek_by_lookup_id", "receive_begin",
                 "receive_end", "move", "cancel"],
    "cursors": ["open", "close"],
    "transactions": ["begin", "prepare", "commit", "abort"],
}
METHODS = {n if f == "manager" else f"{f}.{n}" for f, names in FACETS.items() for n in names}
ACCEPTS = {
    "access": ["receive", "send", "peek", "move"],
    "format_names": ["journal", "dead_letter", "subqueue", "private", "machine", "multiple_element"],
}
QUIET = {"clock.now", "messages.peek", "messages.peek_next", "messages.peek_by_lookup_id", "queues.get", "queues.counts",
         "queues.close", "cursors.open", "cursors.close", "transactions.begin", "messages.cancel"}


def main():
    if FAULT and FAULT not in FAULTS:
        sys.exit(f"own.py: there is no fault {FAULT}")
    manager = Manager()
    manager.stopped = False
    for line in sys.stdin.buffer:
        if not line.strip():
            continue
        asked = json.loads(line)
        request, method = asked["id"], asked["method"]
        if method not in METHODS:
            manager.out.append({"jsonrpc": "2.0", "id": request, "error": {"code": -32601, "message": "unknown method"}})
        else:
            try:
                result = manager.perform(method, asked.get("params", {}), request)
                if result is not None:
                    manager.answer(request, result)
            except Refused as failure:
                manager.out.append({"jsonrpc": "2.0", "id": request, "result": {"status": failure.status}})
        if manager.folder and method not in QUIET:
            manager.save()
        for answer in manager.out:
            sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()
        manager.out.clear()
        if manager.stopped:
            break


if __name__ == "__main__":
    main()
