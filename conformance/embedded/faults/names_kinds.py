"""Faults of the method that takes names apart: what a name is told to be (MS-MQMQ 2.1).

The queue manager itself still knows what each name is: only what `names.parse` answers is wrong.
"""

from __future__ import annotations

from conformance.embedded.faults.base import Fault
from conformance.embedded.names import Name, NameParser


def _telling(kind: str, instead: str) -> type[NameParser]:
    """A parser that tells names of one kind to be of another."""

    class Telling(NameParser):
        def parse(self, text: str, form: str) -> Name:
            found = super().parse(text, form)
            return Name(text, instead, found.parts) if found.kind == kind else found

    return Telling


class CallsPathNameDirect(Fault):
    """A path name is told to be a direct format name: both have a computer and a queue."""

    name = "calls-path-name-direct"
    suite = "names"
    breaks = ("MQMQ-2.1.1.kind",)
    replaces = ("names", _telling("path", "direct"))


class CallsDirectNamePath(Fault):
    """A direct format name is told to be the path name that it contains."""

    name = "calls-direct-name-path"
    suite = "names"
    breaks = ("MQMQ-2.1.2.kind",)
    replaces = ("names", _telling("direct", "path"))


class CallsPublicNamePrivate(Fault):
    """A public format name is told to be a private one."""

    name = "calls-public-name-private"
    suite = "names"
    breaks = ("MQMQ-2.1.3.kind",)
    replaces = ("names", _telling("public", "private"))


class CallsPrivateNamePublic(Fault):
    """A private format name is told to be a public one."""

    name = "calls-private-name-public"
    suite = "names"
    breaks = ("MQMQ-2.1.4.kind",)
    replaces = ("names", _telling("private", "public"))


class CallsDistributionListPublic(Fault):
    """A distribution list is told to be a public queue, as which it is listed in the directory."""

    name = "calls-distribution-list-public"
    suite = "names"
    breaks = ("MQMQ-2.1.5.kind",)
    replaces = ("names", _telling("distribution_list", "public"))


class CallsConnectorMachine(Fault):
    """A connector format name is told to be a machine format name."""

    name = "calls-connector-machine"
    suite = "names"
    breaks = ("MQMQ-2.1.6.kind",)
    replaces = ("names", _telling("connector", "machine"))


class _FirstElementParser(NameParser):
    def parse(self, text: str, form: str) -> Name:
        found = super().parse(text, form)
        if found.kind != "multiple_element":
            return found
        return Name(text, self.format_name(found.parts["elements"][0]).kind, found.parts)


class CallsManyWhatTheFirstIs(Fault):
    """A multiple-element format name is told to be what its first element is."""

    name = "calls-many-what-the-first-is"
    suite = "names"
    breaks = ("MQMQ-2.1.7.kind",)
    replaces = ("names", _FirstElementParser)


KIND_FAULTS: tuple[type[Fault], ...] = (
    CallsPathNameDirect,
    CallsDirectNamePath,
    CallsPublicNamePrivate,
    CallsPrivateNamePublic,
    CallsDistributionListPublic,
    CallsConnectorMachine,
    CallsManyWhatTheFirstIs,
)
