"""The qmmgmt interface (MS-MQMR 3.1): what is told of a manager and its queues, and what can be done to them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar

from conformance.embedded.entities import MqError
from conformance.embedded.rpc import ndr
from conformance.embedded.rpc.association import Call, Interface, Operation
from conformance.embedded.rpc.ndr import Damaged, Reader, Writer, encoded, status_only, with_status
from conformance.embedded.rpc.pdus import Syntax

Json = Any
MACHINE, QUEUE, SESSION = 1, 2, 3
TYPES = MappingProxyType({MACHINE: "machine", QUEUE: "queue", SESSION: "session"})
MOST_PROPERTIES = 128
VARIANT_SIZE = 16  # bytes of a PROPVARIANT at least


class QueueManagement(Interface):
    """The methods, by opnum. None throws an exception."""

    syntax: ClassVar[Syntax] = Syntax("41208ee0-e970-11d1-9b9e-00e02c064c39")
    operations: ClassVar[Mapping[int, Operation]] = {0: Operation("get_info"), 1: Operation("act")}

    def get_info(self, call: Call) -> bytes:
        """R_QMMgmtGetInfo (3.1.4.1). A failure leaves the values as they came."""
        kind, named, numbers, values = call.read(self._asked)
        status = 0
        try:
            values = self.values(self.target(kind, named), numbers)
        except MqError as error:
            status = error.status
        structures = self.planes.structures

        def write(out: Writer) -> None:
            out.maximum(len(values))
            for value in values:
                structures.write_variant(out, value)

        return with_status(encoded(write), status)

    def values(self, target: dict[str, Json], numbers: list[int]) -> list[Json]:
        """Return the values of these properties as variants. Raises MqError."""
        found: list[Json] = self.manager.management.get(target, numbers)
        return found

    def act(self, call: Call) -> bytes:
        """R_QMMgmtAction (3.1.4.2). The action is read as a [string], as the text of 3.1.4.2 describes it."""
        kind, named, action = call.read(lambda source: (*self._object(source), source.text()))
        self.manager.management.act(self.target(kind, named), action)
        return status_only(0)

    def target(self, kind: int, named: Json) -> dict[str, Json]:
        """Return the target that a MGMT_OBJECT means. Raises MqError."""
        target: dict[str, Json] = {"type": TYPES[kind]}
        if kind == QUEUE:
            target["format_name"] = self.planes.structures.format_name(named)
        return target

    def _asked(self, source: Reader) -> tuple[int, Json, list[int], list[Json]]:
        kind, named = self._object(source)
        count = source.ranged(1, MOST_PROPERTIES)
        source.maximum(count)
        numbers = source.numbers(count)
        source.maximum(count)
        values = source.construct(lambda: [self.planes.structures.read_variant(source) for _ in range(count)])
        return kind, named, numbers, values

    def _object(self, source: Reader) -> tuple[int, Json]:
        """Read a MGMT_OBJECT (2.2.1.2): type, the same as the tag of the union, and its member."""
        named: list[Json] = [None]

        def referent() -> None:
            named[0] = self.planes.structures.read_queue_format(source)

        def read() -> int:
            source.align(4)
            kind = source.number(2)
            if source.number(2) != kind or kind not in TYPES:
                raise Damaged(ndr.INVALID_TAG)
            if kind == QUEUE:
                source.pointer(referent)
            else:
                source.number(4)
            return kind

        kind = source.construct(read)
        return kind, named[0]
