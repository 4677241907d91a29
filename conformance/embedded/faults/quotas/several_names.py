"""Faults of opens by a multiple-element format name (MS-MQDMPR 3.1.7.1.5)."""

from __future__ import annotations

from conformance.embedded.entities import Descriptor, MqError
from conformance.embedded.faults.base import fault, row
from conformance.embedded.faults.cursors.refused_opens import Case, Renaming, refused_opens
from conformance.embedded.queues import Queues


def _several_to_read(queues: Queues, format_name: str, access: str, share: str) -> bool:
    return "," in format_name and access != "send"


def _several_exclusively(queues: Queues, format_name: str, access: str, share: str) -> bool:
    return "," in format_name and access == "send" and share != "deny_none"


def _several_in_part(queues: Queues, format_name: str, access: str, share: str) -> bool:
    return "," in format_name and access == "send" and share == "deny_none"


# The name of it, how the queue is opened, what the text says, and when it is such an open.
_CASES: tuple[tuple[str, str, str, Case], ...] = (
    (
        "several-names-to-read",
        "for reading by a multiple-element format name",
        "multiple-element-access",
        _several_to_read,
    ),
    (
        "several-names-exclusively",
        "exclusively by a multiple-element format name",
        "multiple-element-share",
        _several_exclusively,
    ),
)


@fault(
    "several-names-open-in-part", Queues.open, "MQDMPR-3.1.7.1.5.multiple-element-failed-element",
    "MQDMPR-3.1.7.1.5.multiple-element-status",
)  # fmt: skip
def several_names_open_in_part(plain, self, format_name, access, share):
    """A multiple-element format name opens although one of its elements cannot be opened."""
    if not _several_in_part(self, format_name, access, share):
        return plain(format_name, access, share)
    opened = []
    for element in self.manager.names.multiple(format_name).parts["elements"]:
        try:
            opened.append(plain(str(element), access, share))
        except MqError:
            continue
    whole = Descriptor(self.manager.new_handle("h"), access, share, None, elements=opened)
    self.manager.descriptors[whole.handle] = whole
    return whole


refused_opens(__name__, _CASES)
row(
    __name__, "queues", "several-names-refused-otherwise",
    "That an element of a multiple-element format name cannot be opened is told by MQ_ERROR_INVALID_PARAMETER.",
    ("MQDMPR-3.1.7.1.5.multiple-element-status", "MQDMPR-3.1.7.1.5.multiple-element-failed-element", ),
    subclass_of=Renaming, case=staticmethod(_several_in_part),
)  # fmt: skip
