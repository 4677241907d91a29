"""Converts a CACTransferBufferV1 that was read to a value of the adapter protocol."""

from __future__ import annotations

import base64
from typing import Any, TypeAlias

from conformance.wire.packet import Packet
from conformance.wire.transfer_buffer import BY_CASE, MEMBERS, QUEUE_ARMS, TRANSFER_TYPE, Arm, Kind, Member, key

Json: TypeAlias = Any


def value_of(structure: Packet) -> dict[str, Json]:
    """Return the members by their protocol names. Raises ValueError for a structure that could not be read."""
    if structure.trouble:
        raise ValueError(structure.trouble[0].says)
    kind = int(structure.fields[key(TRANSFER_TYPE.name)])
    arm = BY_CASE[kind]
    out: dict[str, Json] = {TRANSFER_TYPE.json: kind}
    out[arm.json] = {member.json: member_value(structure, member, arm) for member in arm.members}
    return out | {member.json: member_value(structure, member) for member in MEMBERS}


def member_value(structure: Packet, member: Member, arm: Arm | None = None) -> Json:
    """Return one member; None for a null pointer."""
    name = key(member.name, arm)
    value = structure.fields.get(name)
    if value is None:
        return None
    if member.kind is Kind.PP_BYTES and isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    if member.kind is Kind.PP_OBJECTID:
        return _object_identifier(structure, name)
    if member.kind is Kind.P_UOW:
        return {"rgb": value}
    if member.kind is Kind.P_QUEUE:
        return _queue_format(structure, name)
    return value


def _object_identifier(structure: Packet, name: str) -> Json:
    return {"lineage": structure.fields[f"{name}.Lineage"], "uniquifier": structure.fields[f"{name}.Uniquifier"]}


def _queue_format(structure: Packet, name: str) -> Json:
    fields = structure.fields
    selector = int(fields[f"{name}.m_qft"])
    out: dict[str, Json] = {word: fields[f"{name}.{word}"] for word in ("m_qft", "m_suffix_and_flags", "m_reserved")}
    if selector:
        member, shape = QUEUE_ARMS[selector]
        inner = f"{name}.{member}"
        if shape == "objectid":
            out[member] = _object_identifier(structure, inner)
        elif shape in ("dl", "multicast"):
            words = ("m_dl_guid", "m_pwz_domain") if shape == "dl" else ("m_address", "m_port")
            out[member] = {word: fields.get(f"{inner}.{word}") for word in words}
        else:
            out[member] = fields.get(inner)
    return out
