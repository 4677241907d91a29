"""A queue manager in memory, to be replaced by yours. It does not depend on mqconform; driver.py drives it.

It keeps its durable state (queues and recoverable messages) in a file.
"""

import json
import re

QUEUE_NOT_FOUND, QUEUE_EXISTS, INVALID_HANDLE, CANCELLED = 0xC00E0003, 0xC00E0005, 0xC00E0007, 0xC00E0008
PATH_NAME, PROPERTY_VALUE, IO_TIMEOUT, FORMAT_NAME = 0xC00E0014, 0xC00E0018, 0xC00E001B, 0xC00E001E
ACCESS_DENIED, QUEUE_DELETED, LABEL_TOO_LONG, NOT_FOUND = 0xC00E0025, 0xC00E005A, 0xC00E005D, 0xC0000225
PRIVATE_QUEUE = re.compile(r"[!-~]+\\private\$\\[!#-*\--:<-\[\]-\x7f]{1,124}", re.ASCII | re.IGNORECASE)


class QueueError(Exception):
    """An operation failed; `code` is an HRESULT of MS-MQMQ 2.4."""

    def __init__(self, code):
        super().__init__(hex(code))
        self.code = code


class Queue:
    """Messages in the order of receipt, and the reads that wait for one, oldest first."""

    def __init__(self, name, changed, messages=()):
        self.name, self.changed, self.messages, self.reads, self.deleted = name, changed, list(messages), [], False

    def put(self, message):
        place = len(self.messages)
        while place and self.messages[place - 1]["priority"] < message["priority"]:
            place -= 1
        self.messages.insert(place, message)
        if message["recoverable"]:
            self.changed()
        for read in list(self.reads):
            if self.messages:
                read.end(0, self.take(read.takes))

    def take(self, takes):
        message = self.messages[0]
        if takes:
            del self.messages[0]
            if message["recoverable"]:
                self.changed()
        return message


class Read:
    """A waiting read. It calls `done(code, message)` once."""

    def __init__(self, queue, takes, done):
        self.queue, self.takes, self.done = queue, takes, done
        queue.reads.append(self)

    def end(self, code, message=None):
        if self in self.queue.reads:
            self.queue.reads.remove(self)
            self.done(code, message)


class Handle:
    """A queue opened for `access`: send, receive or peek."""

    def __init__(self, queue, access):
        self.queue, self.access, self.reads = queue, access, []

    def check(self, *accesses):
        if self.queue.deleted:
            raise QueueError(QUEUE_DELETED)
        if self.access not in accesses:
            raise QueueError(ACCESS_DENIED)

    def send(self, body="", label="", priority=3, recoverable=False):
        self.check("send")
        if len(label.encode("utf-16-le", "surrogatepass")) > 2 * 249:
            raise QueueError(LABEL_TOO_LONG)
        if "\0" in label:
            raise QueueError(PROPERTY_VALUE)
        self.queue.put({"body": body, "label": label, "priority": priority, "recoverable": recoverable})

    def read(self, takes, done):
        """Read the first message: now, or later through the waiting read that it returns."""
        self.check("receive", *([] if takes else ["peek"]))
        if self.queue.messages:
            done(0, self.queue.take(takes))
            return None
        self.reads.append(Read(self.queue, takes, done))
        return self.reads[-1]

    def close(self):
        for read in self.reads:
            read.end(CANCELLED)


class Manager:
    """All queues, by format name in lower case: names are case-insensitive."""

    def __init__(self, file):
        self.file, self.queues = file, {}
        if file.exists():
            for name, messages in json.loads(file.read_text("utf-8")).items():
                self.queues[name.lower()] = Queue(name, self.save, messages)

    def save(self):
        kept = {queue.name: [each for each in queue.messages if each["recoverable"]] for queue in self.queues.values()}
        fresh = self.file.with_suffix(".new")
        fresh.write_text(json.dumps(kept), "utf-8")
        fresh.replace(self.file)

    def create(self, path_name):
        name = "DIRECT=OS:" + path_name
        if not PRIVATE_QUEUE.fullmatch(path_name):
            raise QueueError(PATH_NAME)
        if name.lower() in self.queues:
            raise QueueError(QUEUE_EXISTS)
        self.queues[name.lower()] = Queue(name, self.save)
        self.save()
        return name

    def find(self, name):
        if name[:10].upper() != "DIRECT=OS:" or not PRIVATE_QUEUE.fullmatch(name[10:]):
            raise QueueError(FORMAT_NAME)
        if name.lower() not in self.queues:
            raise QueueError(QUEUE_NOT_FOUND)
        return self.queues[name.lower()]

    def open(self, name, access):
        return Handle(self.find(name), access)

    def delete(self, name):
        self.forget(self.find(name))
        self.save()

    def reset(self):
        for queue in list(self.queues.values()):
            self.forget(queue)
        self.save()

    def forget(self, queue):
        del self.queues[queue.name.lower()]
        queue.deleted = True
        for read in list(queue.reads):
            read.end(QUEUE_DELETED)
