"""Faults of the method that parses names: it reports a wrong kind of name (MS-MQMQ 2.1).

The queue manager itself still parses each name correctly: only the answer of `names.parse` is wrong.
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
    breaks = ("MQMQ-2.1.1.kind",)
    replaces = ("names", _telling("path", "direct"))


class CallsDirectNamePath(Fault):
    """A direct format name is told to be the path name that it contains."""

    name = "calls-direct-name-path"
    breaks = ("MQMQ-2.1.2.kind",)
    replaces = ("names", _telling("direct", "path"))


class CallsPublicNamePrivate(Fault):
    """A public format name is told to be a private one."""

    name = "calls-public-name-private"
    breaks = ("MQMQ-2.1.3.kind",)
    replaces = ("names", _telling("public", "private"))


class CallsPrivateNamePublic(Fault):
    """A private format name is told to be a public one."""

    name = "calls-private-name-public"
    breaks = ("MQMQ-2.1.4.kind",)
    replaces = ("names", _telling("private", "public"))


class CallsDistributionListPublic(Fault):
    """A distribution list is told to be a public queue, as which it is listed in the directory."""

    name = "calls-distribution-list-public"
    breaks = ("MQMQ-2.1.5.kind",)
    replaces = ("names", _telling("distribution_list", "public"))


class CallsConnectorMachine(Fault):
    """A connector format name is told to be a machine format name."""

    name = "calls-connector-machine"
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
    breaks = ("MQMQ-2.1.7.kind",)
    replaces = ("names", _FirstElementParser)
