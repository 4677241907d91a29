"""The objects of a queue manager by their handles, and values as the protocol writes them (facet `objects`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conformance.embedded.entities import MqError
from conformance.embedded.objects.events import EventObject
from conformance.embedded.objects.type_library import FIRST_SLOT, Member, TypeLibrary
from conformance.embedded.objects.variants import (
    CONNECT_E_NOCONNECTION,
    DISP_E_MEMBERNOTFOUND,
    DISP_E_TYPEMISMATCH,
    DISP_E_UNKNOWNNAME,
    E_HANDLE,
    E_NOINTERFACE,
    GET,
    INTEGERS,
    PUT,
    PUTREF,
    REGDB_E_CLASSNOTREG,
    ComObject,
    NoAnswer,
    Variant,
    from_base64,
    to_base64,
)

if TYPE_CHECKING:
    from conformance.embedded.manager import Manager
    from conformance.embedded.objects.queue_info import QueueNames
    from conformance.embedded.receiving import Caller

Json = Any
IDISPATCH, IUNKNOWN = "00020400-0000-0000-c000-000000000046", "00000000-0000-0000-c000-000000000046"
_OBJECTS = ("DISPATCH", "UNKNOWN")
_AS_TEXT = ("I8", "UI8")


class Objects:
    """The objects that a caller holds. world_readable: ids of the queues that everyone may receive from."""

    def __init__(self, manager: Manager) -> None:
        """Begin without objects."""
        self.manager = manager
        self.names: QueueNames = manager.parts.queue_names(manager)
        self.library: TypeLibrary = manager.parts.type_library()
        self.world_readable: set[str] = set()
        self._held: dict[str, ComObject] = {}
        self._handles: dict[int, str] = {}

    def classes(self) -> dict[str, type[ComObject]]:
        """Return the classes that can be made, by name."""
        parts = self.manager.parts
        made = (
            parts.queue_info, parts.queue_object, parts.message_object, parts.transaction_object,
            parts.transaction_dispenser, parts.coordinated_dispenser, parts.destination, parts.event,
            parts.management_object, parts.queue_management, parts.outgoing_management, parts.application,
            parts.collection, parts.query, parts.queue_infos,
        )  # fmt: skip
        return {each.CLASS: each for each in made}

    def forget(self) -> None:
        """Forget every object."""
        self._held.clear()
        self._handles.clear()
        self.world_readable.clear()

    # Handles.

    def held(self, handle: Json) -> ComObject:
        """Return the object of a handle. Raises MqError(E_HANDLE)."""
        found = self._held.get(handle) if isinstance(handle, str) else None
        if found is None:
            raise MqError(E_HANDLE)
        return found

    def handle(self, given: ComObject) -> str:
        """Return the handle of an object, a new one if nobody holds it."""
        found = self._handles.get(id(given))
        if found is None:
            found = self._handles[id(given)] = self.manager.new_handle("o")
            self._held[found] = given
        return found

    # The methods of the facet.

    def create(self, name: str) -> str:
        """Make an object of a class. Returns its handle."""
        return self.handle(self.class_named(name)(self.manager))

    def class_named(self, name: str) -> type[ComObject]:
        """Return a class. Raises MqError(REGDB_E_CLASSNOTREG)."""
        made = self.classes().get(name)
        if made is None:
            raise MqError(REGDB_E_CLASSNOTREG)
        return made

    def invoke(
        self, handle: Json, member: str, kind: str, arguments: list[Json], interface: str | None, caller: Caller | None
    ) -> dict[str, Json]:
        """Perform a member. Raises NoAnswer if it answers its caller later."""
        target = self.held(handle)
        if not target.DISPATCHES and (kind, member.lower()) not in target.MEMBERS:
            raise MqError(E_NOINTERFACE)
        name = member if interface is None else self.through(target, interface, member, kind)
        return self.value_result(target.invoke(name, kind, [self.read(each) for each in arguments], caller))

    def through(self, target: ComObject, interface: str, member: str, kind: str) -> str:
        """Return the name that the newest interface has for a member of another. Raises MqError if it has none."""
        if interface not in target.interfaces():
            raise MqError(E_NOINTERFACE)
        named = [each for each in self.all_members(interface) if each.name.lower() == member.lower()]
        kinds = (PUT, PUTREF) if kind == PUTREF else (kind,)
        found = [each for each in named if each.kind in kinds]
        if not found:
            raise MqError(DISP_E_MEMBERNOTFOUND if named else DISP_E_UNKNOWNNAME)
        return found[0].called

    def all_members(self, interface: str) -> tuple[Member, ...]:
        """Return the members of an interface and of those it extends."""
        members: tuple[Member, ...] = ()
        while interface not in FIRST_SLOT:
            members = self.library.members(interface) + members
            interface = self.library.base(interface)
        return members

    def get(self, handle: Json, members: list[str]) -> list[dict[str, Json]]:
        """Read several properties."""
        self.held(handle)
        return [self.got(handle, name) for name in members]

    def got(self, handle: Json, name: str) -> dict[str, Json]:
        """Return the status and value of one property."""
        try:
            return {"status": 0, **self.invoke(handle, name, GET, [], None, None)}
        except MqError as failure:
            return {"status": failure.status}

    def query(self, handle: Json, iid: str) -> str:
        """Ask for an interface (QueryInterface). Returns the handle of the same object."""
        target = self.held(handle)
        known = {self.library.iid(name) for name in self.interfaces(target)} | {IUNKNOWN, *target.STANDARD}
        if target.DISPATCHES:
            known.add(IDISPATCH)
        if iid.lower() not in known:
            raise MqError(E_NOINTERFACE)
        return self.handle(target)

    def interfaces(self, target: ComObject) -> tuple[str, ...]:
        """Return the interfaces of an object."""
        return target.interfaces() + target.ALSO

    def event_source(self, handle: Json, iid: str) -> EventObject:
        """Return an object whose connection point is asked for (3.16.4.6.2). Raises MqError."""
        target = self.held(handle)
        if not isinstance(target, EventObject):
            raise MqError(E_NOINTERFACE)
        if iid.lower() not in [self.library.iid(name) for name in target.SOURCES]:
            raise MqError(CONNECT_E_NOCONNECTION)
        return target

    def hush(self) -> None:
        """Tell nobody of events any more."""
        for each in self._held.values():
            if isinstance(each, EventObject):
                each.released()

    def release(self, handles: list[Json]) -> None:
        """Let go of objects. An unknown handle is refused, after the others were released."""
        unknown = False
        for handle in handles:
            found = self._held.pop(handle, None) if isinstance(handle, str) else None
            if found is None:
                unknown = True
                continue
            self._handles.pop(id(found), None)
            found.released()
        if unknown:
            raise MqError(E_HANDLE)

    # Values.

    def read(self, given: Json) -> Variant:
        """Return a value of the protocol. A handle that nobody gave is refused."""
        vt, value = given["vt"], given.get("value")
        if vt in _OBJECTS:
            return Variant(vt, None if value is None else self.held(value))
        if vt in _AS_TEXT:
            return Variant(vt, int(value))
        if vt != "ARRAY":
            return Variant(vt, value)
        of = given["of"]
        if of == "UI1":
            return Variant(vt, from_base64(value), of)
        return Variant(vt, [self.read(each) for each in value], of)

    def write(self, value: Variant) -> dict[str, Json]:
        """Return a value as the protocol writes it."""
        if value.vt in ("EMPTY", "NULL"):
            return {"vt": value.vt}
        if value.vt in _OBJECTS:
            return {"vt": value.vt, "value": None if value.value is None else self.handle(value.value)}
        if value.vt in _AS_TEXT:
            return {"vt": value.vt, "value": str(value.value)}
        if value.vt != "ARRAY":
            return {"vt": value.vt, "value": value.value}
        if value.of is None:
            raise MqError(DISP_E_TYPEMISMATCH)
        told = to_base64(value.value) if value.of == "UI1" else [self.write(each) for each in value.value]
        return {"vt": value.vt, "of": value.of, "value": told}

    def value_result(self, value: Variant | None) -> dict[str, Json]:
        """Return the result of a member that answered a value, or nothing."""
        return {"status": 0} if value is None else {"status": 0, "value": self.write(value)}


_WORDS = ("R4", "R8", "CY", "DATE", "DECIMAL")


def is_typed(given: Json) -> bool:
    """Return true for a typed value of the protocol."""
    if not isinstance(given, dict) or not isinstance(given.get("vt"), str):
        return False
    vt, value = given["vt"], given.get("value")
    if vt == "ARRAY":
        return _is_array(given.get("of"), value)
    if vt in ("EMPTY", "NULL"):
        return "value" not in given
    if vt in INTEGERS:
        return _fits(value, *INTEGERS[vt], as_text=vt in _AS_TEXT)
    if vt == "ERROR":
        return type(value) is int and 0 <= value <= 0xFFFFFFFF
    if vt == "BOOL":
        return type(value) is bool or (type(value) is int and -32768 <= value <= 32767)
    if vt == "BSTR":
        return value is None or isinstance(value, str)
    if vt in ("DISPATCH", "UNKNOWN"):
        return value is None or isinstance(value, str) or type(value) is int
    return vt in _WORDS and isinstance(value, str)


def _fits(value: Json, bits: int, signed: bool, *, as_text: bool) -> bool:
    if as_text:
        digits = value.removeprefix("-") if isinstance(value, str) else ""
        if not (digits.isascii() and digits.isdigit() and len(digits) <= 20):
            return False
        value = int(value)
    elif type(value) is not int:
        return False
    low, high = (-(1 << bits - 1), 1 << bits - 1) if signed else (0, 1 << bits)
    return bool(low <= value < high)


def _is_array(of: Json, value: Json) -> bool:
    if of == "UI1":
        return isinstance(value, str)
    if not isinstance(of, str) or not isinstance(value, list):
        return False
    return all(is_typed(each) and each["vt"] != "ARRAY" for each in value)


__all__ = ["NoAnswer", "Objects"]
