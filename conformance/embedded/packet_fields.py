"""Typed access to the members of the protocol's user_message."""

from __future__ import annotations

import binascii
from typing import Any

from conformance.embedded import packet_layout as lay
from conformance.embedded.entities import INFINITE, NULL_GUID, MqError
from conformance.spec.constants.hresults import MQ_ERROR_ILLEGAL_PROPERTY_VALUE

Json = Any


class Fields:
    """Typed access to the members of the protocol's user_message; a wrong one is MQ_ERROR_ILLEGAL_PROPERTY_VALUE."""

    def __init__(self, given: dict[str, Json]) -> None:
        self._given = given

    def has(self, name: str) -> bool:
        return self._given.get(name) is not None

    def number(self, name: str, default: int, most: int = INFINITE, least: int = 0) -> int:
        value = self._given.get(name, default)
        if type(value) is not int or not least <= value <= most:
            raise MqError(MQ_ERROR_ILLEGAL_PROPERTY_VALUE)
        return value

    def flag(self, name: str) -> bool:
        value = self._given.get(name, False)
        if type(value) is not bool:
            raise MqError(MQ_ERROR_ILLEGAL_PROPERTY_VALUE)
        return value

    def text(self, name: str) -> str:
        value = self._given.get(name, "")
        if not isinstance(value, str) or "\0" in value:
            raise MqError(MQ_ERROR_ILLEGAL_PROPERTY_VALUE)
        return value

    def data(self, name: str) -> bytes:
        value = self._given.get(name, "")
        if not isinstance(value, str):
            raise MqError(MQ_ERROR_ILLEGAL_PROPERTY_VALUE)
        try:
            return binascii.a2b_base64(value, strict_mode=True) if value else b""
        except (binascii.Error, ValueError):
            raise MqError(MQ_ERROR_ILLEGAL_PROPERTY_VALUE) from None

    def guid(self, name: str, default: str = NULL_GUID) -> bytes:
        value = self._given.get(name, default)
        try:
            return lay.guid_bytes(value)
        except (ValueError, AttributeError, TypeError):
            raise MqError(MQ_ERROR_ILLEGAL_PROPERTY_VALUE) from None

    def part(self, name: str) -> Fields | None:
        """Return a member that is an object; None if it is absent or null."""
        value = self._given.get(name)
        if value is None:
            return None
        if not isinstance(value, dict):
            raise MqError(MQ_ERROR_ILLEGAL_PROPERTY_VALUE)
        return Fields(value)

    def texts(self, name: str) -> list[str]:
        """Return a member that is a list of at least one text; empty if it is absent or null."""
        value = self._given.get(name)
        if value is None:
            return []
        if not isinstance(value, list) or not value or not all(isinstance(text, str) for text in value):
            raise MqError(MQ_ERROR_ILLEGAL_PROPERTY_VALUE)
        return value

    def words(self, name: str, allowed: tuple[str, ...]) -> list[str]:
        """Return a member that is a list of words."""
        value = self._given.get(name, [])
        if not isinstance(value, list) or any(word not in allowed for word in value):
            raise MqError(MQ_ERROR_ILLEGAL_PROPERTY_VALUE)
        return value

    def choice(self, name: str, choices: tuple[str, ...]) -> int:
        """Return the index of a word among the allowed ones; the first is the default."""
        value = self._given.get(name, choices[0])
        if value not in choices:
            raise MqError(MQ_ERROR_ILLEGAL_PROPERTY_VALUE)
        return choices.index(value)
