"""Faults of names that name one queue twice, and of the queues that the system has (MS-MQDMPR 3.1.3, 3.1.7.3.8)."""

from __future__ import annotations

from typing import ClassVar

from conformance.embedded.entities import Descriptor, MqError, Queue
from conformance.embedded.faults.base import fault, row
from conformance.embedded.names import Name
from conformance.embedded.queues import Queues
from conformance.spec.constants.hresults import MQ_ERROR_UNSUPPORTED_FORMATNAME_OPERATION


@fault("same-name-twice-is-several", Queues.open, "MQDMPR-3.1.7.3.8.one-left-name")
def same_name_twice_is_several(plain, self, format_name, access, share):
    """A name that names one queue twice counts as one of several queues, which cannot be opened for a read."""
    if "," in format_name and access != "send":
        raise MqError(MQ_ERROR_UNSUPPORTED_FORMATNAME_OPERATION)
    return plain(format_name, access, share)


@fault("duplicate-elements-kept", "queues", "MQDMPR-3.1.7.3.8.no-duplicates")
class DuplicateElementsKept(Queues):
    """A queue that a multiple-element name names twice gets each message twice."""

    def open(self, format_name: str, access: str, share: str) -> Descriptor:
        whole = super().open(format_name, access, share)
        if whole.elements:
            elements = self.manager.names.multiple(format_name).parts["elements"]
            self._close_elements(whole)
            whole.elements.extend(
                super(DuplicateElementsKept, self).open(str(each), access, share) for each in elements
            )
        return whole


class _Lacking(Queues):
    lacks: ClassVar[str]

    def _designated(self, name: Name, *, make_subqueue: bool = False) -> Queue | None:
        found = super()._designated(name, make_subqueue=make_subqueue)
        return None if found is not None and found.id == f"system;{self.lacks}" else found


for _name, _word in (
    ("journal", "journal"),
    ("deadletter", "deadletter"),
    ("deadxact", "transactional-deadletter"),
):
    row(
        __name__,
        "queues",
        f"no-{_word}-queue",
        f"The system has no {_word} queue.",
        (f"MQDMPR-3.1.3.create-{_word}-queue",),
        subclass_of=_Lacking,
        lacks=_name,
    )
