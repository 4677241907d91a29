"""Alternatives of readings about MSMQManagement (MC-MQAC 3.3 to 3.5)."""

from __future__ import annotations

from conformance.embedded.alternatives.base import follows
from conformance.embedded.entities import MqError
from conformance.embedded.objects.dispatch import Signature
from conformance.embedded.objects.management import ManagementObject
from conformance.embedded.objects.variants import Variant
from conformance.spec.constants.hresults import MQ_ERROR_INVALID_PARAMETER


@follows("R-MQAC-init-again=refused", "management_object")
class _Once(ManagementObject):
    """Init of an object that is initialized fails."""

    def init(self, machine: Variant, path: Variant, format_name: Variant) -> None:
        if self.is_initialized:
            raise MqError(MQ_ERROR_INVALID_PARAMETER)
        super().init(machine, path, format_name)


@follows("R-MQAC-management-number-types=as-stored", "management_object")
class _AsStored(ManagementObject):
    """Counts of bytes have the type of the management property."""

    def row(self, signature: Signature, values: list[object]) -> Variant | None:
        found = super().row(signature, values)
        return Variant("UI4", found.value) if found is not None and found.vt == "UI8" else found
