"""Alternatives of readings about MSMQApplication and MSMQManagement (MC-MQAC 3.2 to 3.5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from conformance.embedded.alternatives.base import follows
from conformance.embedded.entities import INFINITE, MqError
from conformance.embedded.objects.application import ApplicationObject
from conformance.embedded.objects.dispatch import GET, METHOD, ComObject, Signature
from conformance.embedded.objects.management import ManagementObject
from conformance.embedded.objects.type_library import TypeLibrary
from conformance.embedded.objects.variants import Variant
from conformance.spec.constants.hresults import (
    MQ_ERROR_INVALID_PARAMETER,
    MQ_ERROR_NO_DS,
    MQ_ERROR_QUEUE_NOT_ACTIVE,
)

COUNTS = frozenset({"SeqNo", "PrevNo", "RejectCount"})
ACTIVE_QUEUES = "ActiveQueues"
MANAGED = ("management_object", "queue_management", "outgoing_management")
"""The parts of the three classes that have the members of IMSMQManagement."""


@follows("R-MQAC-init-again=refused", *MANAGED)
class _Once(ManagementObject):
    """Init of an object that is initialized fails."""

    def init(self, machine: Variant, path: Variant, format_name: Variant) -> None:
        if self.is_initialized:
            raise MqError(MQ_ERROR_INVALID_PARAMETER)
        super().init(machine, path, format_name)


@follows("R-MQAC-management-number-types=as-stored", *MANAGED)
class _AsStored(ManagementObject):
    """Counts and numbers have the type of the management property: they are unsigned numbers of 32 bits."""

    def row(self, signature: Signature, values: list[object]) -> Variant | None:
        found = super().row(signature, values)
        return _unsigned(found) if found is not None and found.vt == "UI8" else found

    def collected(self, values: Mapping[str, Variant]) -> ComObject:
        return super().collected({name: _unsigned(each) if name in COUNTS else each for name, each in values.items()})


def _unsigned(given: Variant) -> Variant:
    return Variant("UI4", given.value & INFINITE) if given.vt in ("I4", "UI8") else given


@follows("R-MQAC-init-inactive-queue=refused", *MANAGED)
class _Active(ManagementObject):
    """Init for a queue that is not active fails."""

    def bind(self) -> None:
        super().bind()
        if self.manager.management.designated(self.target()) not in self.manager.queues.active():
            raise MqError(MQ_ERROR_QUEUE_NOT_ACTIVE)


@follows("R-MQAC-directory-of-this-computer=asked", "application")
class _Asked(ApplicationObject):
    """Without a directory server, nobody tells the name and the identifier of this computer."""

    def identifier_of(self, name: str | None) -> Variant:
        return self.told_by_directory(super().identifier_of(name), self.manager.guid)

    def name_of(self, guid: str | None) -> Variant:
        return self.told_by_directory(super().name_of(guid), self.manager.computer)

    def told_by_directory(self, found: Variant, own: str) -> Variant:
        """Return what was found. Raises MqError for what is of this computer."""
        if found.value == own and self.manager.directory.server is None:
            raise MqError(MQ_ERROR_NO_DS)
        return found


@follows("R-MQAC-active-queues-kind=property", "application.find")
def mqac_active_queues_kind_property(plain, self, name, kind):
    """ActiveQueues is a property."""
    exchanged = {GET: METHOD, METHOD: GET} if name.lower() == ACTIVE_QUEUES.lower() else {}
    return plain(name, exchanged.get(kind, kind))


@follows("R-MQAC-active-queues-kind=property", TypeLibrary.members)
def mqac_active_queues_kind_property_members(plain, self, name):
    """The type library has ActiveQueues as a property."""
    return tuple(replace(each, kind=GET) if each.name == ACTIVE_QUEUES else each for each in plain(name))
