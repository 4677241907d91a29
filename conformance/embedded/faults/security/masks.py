"""Faults of combined rights: an entry with exactly such a mask counts for nothing (MS-MQMQ 2.2.23, 2.2.24)."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from conformance.embedded.faults.base import fault
from conformance.embedded.security import Security, entries_of, listed

_QUEUE, _MACHINE = "MQMQ-2.2.24.", "MQMQ-2.2.23."
_MASKS: Final = {
    0xA: (f"{_QUEUE}mqsec-receive-journal-message",),
    0x2002B: (f"{_QUEUE}mqsec-queue-generic-read",),
    0xF003F: (f"{_QUEUE}mqsec-queue-generic-all", f"{_QUEUE}declaration"),
    0x3: (f"{_MACHINE}mqsec-receive-deadletter-message", f"{_QUEUE}mqsec-receive-message"),
    0xC0: (f"{_MACHINE}mqsec-receive-journal-queue-message",),
    0x200E3: (f"{_MACHINE}mqsec-machine-generic-read",),
    0x20024: (f"{_MACHINE}mqsec-machine-generic-write", f"{_QUEUE}mqsec-queue-generic-write"),
    0xF00F7: (f"{_MACHINE}mqsec-machine-generic-all", f"{_MACHINE}declaration"),
    0x20020: (f"{_MACHINE}mqsec-machine-world-rights",),
}
"""Requirements on combined rights by their value."""


def _without(mask):
    def allows(plain, self, descriptor, user, wanted):
        left = [one for one in entries_of(descriptor.dacl) if one.mask != mask] if descriptor.dacl else []
        return plain(replace(descriptor, dacl=listed(*left)) if descriptor.dacl else descriptor, user, wanted)

    return allows


for _mask, _breaks in _MASKS.items():
    fault(
        f"mask-{_mask:x}-counts-for-nothing", Security.allows, *_breaks,
        says=f"An entry with exactly the rights {_mask:#x} changes nothing.",
    )(_without(_mask))  # fmt: skip
