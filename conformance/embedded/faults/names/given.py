"""Faults of the names that the manager returns (MS-MQMQ 2.1.2 to 2.1.4): they work, but are invalid names."""

from __future__ import annotations

import re
from typing import ClassVar

from conformance.embedded.faults.base import also, fault
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


@fault("gives-direct-name-with-blank", Queues.direct_name, "MQMQ-2.1.2.sent")
def gives_direct_name_with_blank(plain, self, queue):
    """Direct format names given out have a blank in front of the computer's name."""
    return plain(queue).replace("DIRECT=OS:", "DIRECT=OS: ", 1)


@also("gives-direct-name-with-blank", "names")
class _KnowsBlank(_Understanding):
    given = (r"\ADIRECT=OS: ", "DIRECT=OS:")


@fault("gives-public-name-with-blank", Queues.direct_name, "MQMQ-2.1.3.sent")
def gives_public_name_with_blank(plain, self, queue):
    """A queue is known by a public format name, and that has a blank in front of the GUID."""
    if queue.kind in ("private", "public"):
        return f"PUBLIC= {queue.properties['PROPID_Q_INSTANCE']}"
    return plain(queue)


@also("gives-public-name-with-blank", "names")
class _KnowsPublic(_Understanding):
    given = (r"\APUBLIC= ", "PUBLIC=")


# it opens a queue, too
@fault("gives-private-name-with-blank", Queues.direct_name, "MQMQ-2.1.4.sent")
def gives_private_name_with_blank(plain, self, queue):
    """A private queue is known by a private format name, and that has a blank in front of the GUID."""
    if queue.kind == "private":
        return f"PRIVATE= {self.manager.guid}\\{queue.number:08x}"
    return plain(queue)


@also("gives-private-name-with-blank", "names")
class _KnowsPrivate(_Understanding):
    given = (r"\APRIVATE= ", "PRIVATE=")
