"""Faults of the names that the manager returns (MS-MQMQ 2.1.2 to 2.1.4): they work, but are invalid names."""

from __future__ import annotations

import re
from typing import ClassVar

from conformance.embedded.entities import Queue
from conformance.embedded.faults.base import Fault
from conformance.embedded.names import Name, NameParser
from conformance.embedded.queues import Queues


class _Understanding(NameParser):
    """Knows its own names again; a name to be taken apart is looked at as ever. given: a pattern and what it means."""

    given: ClassVar[tuple[str, str]]
    taking_apart = False

    def parse(self, text: str, form: str) -> Name:
        self.taking_apart = True
        try:
            return super().parse(text, form)
        finally:
            self.taking_apart = False

    def format_name(self, text: str) -> Name:
        pattern, meant = self.given
        return super().format_name(text if self.taking_apart else re.sub(pattern, meant, text, count=1))


class _WithBlank(Queues):
    def direct_name(self, queue: Queue) -> str:
        return super().direct_name(queue).replace("DIRECT=OS:", "DIRECT=OS: ", 1)


class _KnowsBlank(_Understanding):
    given = (r"\ADIRECT=OS: ", "DIRECT=OS:")


class GivesDirectNameWithBlank(Fault):
    """Direct format names given out have a blank in front of the computer's name."""

    name = "gives-direct-name-with-blank"
    breaks = ("MQMQ-2.1.2.sent",)
    replaces = ("queues", _WithBlank)
    also = (("names", _KnowsBlank),)


class _Public(Queues):
    def direct_name(self, queue: Queue) -> str:
        if queue.kind in ("private", "public"):
            return f"PUBLIC= {queue.properties['PROPID_Q_INSTANCE']}"
        return super().direct_name(queue)


class _KnowsPublic(_Understanding):
    given = (r"\APUBLIC= ", "PUBLIC=")


class GivesPublicNameWithBlank(Fault):
    """A queue is known by a public format name, and that has a blank in front of the GUID."""

    name = "gives-public-name-with-blank"
    breaks = ("MQMQ-2.1.3.sent",)
    replaces = ("queues", _Public)
    also = (("names", _KnowsPublic),)


class _Private(Queues):
    def direct_name(self, queue: Queue) -> str:
        if queue.kind == "private":
            return f"PRIVATE= {self.manager.guid}\\{queue.number:08x}"
        return super().direct_name(queue)


class _KnowsPrivate(_Understanding):
    given = (r"\APRIVATE= ", "PRIVATE=")


class GivesPrivateNameWithBlank(Fault):
    """A private queue is known by a private format name, and that has a blank in front of the GUID."""

    name = "gives-private-name-with-blank"
    breaks = ("MQMQ-2.1.4.sent",)  # it opens a queue, too
    replaces = ("queues", _Private)
    also = (("names", _KnowsPrivate),)
