"""MSMQCollection (MC-MQAC 3.15): values by names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from conformance.embedded.entities import MqError
from conformance.embedded.objects.dispatch import ANY, GET, METHOD, ComObject, member
from conformance.embedded.objects.variants import Variant, long
from conformance.spec.constants.hresults import MQ_ERROR_INVALID_PARAMETER

if TYPE_CHECKING:
    from conformance.embedded.manager import Manager


class EnumeratorObject(ComObject):
    """An enumerator of the values of a collection. It has no IDispatch."""

    CLASS = "EnumVARIANT"
    STANDARD = ("00020404-0000-0000-c000-000000000046",)  # IEnumVARIANT
    INTERFACES = ()
    NOT_IMPLEMENTED = ()
    DISPATCHES = False


class CollectionObject(ComObject):
    """A collection, empty if a client made it (3.15.3)."""

    CLASS = "MSMQCollection"
    INTERFACES = ("IMSMQCollection",)
    NOT_IMPLEMENTED = ()

    def __init__(self, manager: Manager, values: Mapping[str, Variant] | None = None) -> None:
        """Make a collection of these values."""
        super().__init__(manager)
        self.values = dict(values or {})

    @member(METHOD, "Item", Index=ANY)
    def item(self, index: Variant) -> Variant:
        """Return the value of a name (3.15.4.1.1). Raises MqError for an unknown one."""
        found = self.values.get(str(index.value)) if index.vt == "BSTR" else None
        if found is None:
            raise MqError(MQ_ERROR_INVALID_PARAMETER)
        return found

    @member(GET, "Count")
    def count(self) -> Variant:
        """Return the number of values (3.15.4.1.2)."""
        return long(len(self.values))

    @member(METHOD, "_NewEnum")
    def new_enum(self) -> Variant:
        """Return an enumerator (3.15.4.1.3)."""
        return Variant("UNKNOWN", EnumeratorObject(self.manager))
