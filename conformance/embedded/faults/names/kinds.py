"""Faults of the method that parses names: it reports a wrong kind of name (MS-MQMQ 2.1).

The queue manager itself still parses each name correctly: only the answer of `names.parse` is wrong.
"""

from __future__ import annotations

from conformance.embedded.faults.base import fault
from conformance.embedded.names import Name, NameParser


def _telling(kind, instead):
    """Return a parser's method that tells names of one kind to be of another."""

    def parse(plain, self, text, form):
        found = plain(text, form)
        return Name(text, instead, found.parts) if found.kind == kind else found

    return parse


@fault("calls-many-what-the-first-is", NameParser.parse, "MQMQ-2.1.7.kind")
def calls_many_what_the_first_is(plain, self, text, form):
    """A multiple-element format name is told to be what its first element is."""
    found = plain(text, form)
    if found.kind != "multiple_element":
        return found
    return Name(text, self.format_name(found.parts["elements"][0]).kind, found.parts)


# Name, sentence, what it breaks, the kind, and the one told.
_TOLD = (
    ("calls-path-name-direct", "A path name is told to be a direct format name: both have a computer and a queue.",
     ("MQMQ-2.1.1.kind",), "path", "direct"),
    ("calls-direct-name-path", "A direct format name is told to be the path name that it contains.",
     ("MQMQ-2.1.2.kind",), "direct", "path"),
    ("calls-public-name-private", "A public format name is told to be a private one.", ("MQMQ-2.1.3.kind",),
     "public", "private"),
    ("calls-private-name-public", "A private format name is told to be a public one.", ("MQMQ-2.1.4.kind",),
     "private", "public"),
    ("calls-distribution-list-public",
     "A distribution list is told to be a public queue, as which it is listed in the directory.",
     ("MQMQ-2.1.5.kind",), "distribution_list", "public"),
    ("calls-connector-machine", "A connector format name is told to be a machine format name.", ("MQMQ-2.1.6.kind",),
     "connector", "machine"),
)  # fmt: skip
for _name, _says, _breaks, *_kinds in _TOLD:
    fault(_name, NameParser.parse, *_breaks, says=_says)(_telling(*_kinds))
