"""Structures of MS-MQMQ 2.2.1 to 2.2.22 other than packets: tables, and reading and writing by them."""

from conformance.wire.structures.reading import Decoded, Part, StructureError, complete, decode, encode, patch
from conformance.wire.structures.tables import STRUCTURES, structure

__all__ = ["STRUCTURES", "Decoded", "Part", "StructureError", "complete", "decode", "encode", "patch", "structure"]
