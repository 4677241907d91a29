"""Faults of opens by a multiple-element format name (MS-MQDMPR 3.1.7.1.5)."""

from __future__ import annotations

from conformance.embedded.entities import Descriptor, MqError
from conformance.embedded.faults.base import Fault, fault
from conformance.embedded.faults.cursors.refused_opens import Case, Renaming, of_this, refused_opens
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


class _SkippingElements(Queues):
    def open(self, format_name: str, access: str, share: str) -> Descriptor:
        if not _several_in_part(self, format_name, access, share):
            return super().open(format_name, access, share)
        opened = []
        for element in self.manager.names.multiple(format_name).parts["elements"]:
            try:
                opened.append(super().open(str(element), access, share))
            except MqError:
                continue
        whole = Descriptor(self.manager.new_handle("h"), access, share, None, elements=opened)
        self.manager.descriptors[whole.handle] = whole
        return whole


class SeveralNamesOpenInPart(Fault):
    """A multiple-element format name opens although one of its elements cannot be opened."""

    name = "several-names-open-in-part"
    breaks = (
        "MQDMPR-3.1.7.1.5.multiple-element-failed-element",
        "MQDMPR-3.1.7.1.5.multiple-element-status",
    )
    replaces = ("queues", _SkippingElements)


refused_opens(__name__, _CASES)
fault(
    __name__,
    "several-names-refused-otherwise",
    "That an element of a multiple-element format name cannot be opened is told by MQ_ERROR_INVALID_PARAMETER.",
    (
        "MQDMPR-3.1.7.1.5.multiple-element-status",
        "MQDMPR-3.1.7.1.5.multiple-element-failed-element",
    ),
    ("queues", of_this(Renaming, _several_in_part)),
)
