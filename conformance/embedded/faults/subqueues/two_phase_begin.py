"""Faults of the beginning of a two-phase read (MS-MQDMPR 3.1.7.1.11)."""

from __future__ import annotations

from conformance.embedded.entities import Cursor, Descriptor, MqError
from conformance.embedded.faults.base import Fault
from conformance.embedded.receiving import Caller, Receiving
from conformance.spec.constants.hresults import (
    MQ_ERROR_INVALID_PARAMETER,
    MQ_ERROR_IO_TIMEOUT,
    MQ_ERROR_MESSAGE_ALREADY_RECEIVED,
    MQ_ERROR_MESSAGE_NOT_FOUND,
)


def _renamed(caller: Caller, status: int, told: int) -> Caller:
    """The caller, to whom one status is answered in place of another."""
    answer = caller.answer
    caller.answer = lambda result: answer({"status": told} if result["status"] == status else result)
    return caller


class _OtherBeginCode(Receiving):
    def receive_begin(self, caller: Caller, at: Descriptor, cursor: Cursor | None, timeout_ms: int) -> None:
        try:
            super().receive_begin(caller, at, cursor, timeout_ms)
        except MqError as failure:
            if cursor is None or failure.status != MQ_ERROR_MESSAGE_NOT_FOUND:
                raise
            raise MqError(MQ_ERROR_INVALID_PARAMETER) from None


class CursorBeginWrongStatus(Fault):
    """The first phase of a read that finds nothing behind its cursor fails with MQ_ERROR_INVALID_PARAMETER."""

    name = "cursor-begin-wrong-status"
    breaks = ("MQDMPR-3.1.7.1.11.message-not-found-code",)
    replaces = ("reading", _OtherBeginCode)


class _OtherBeginTimeout(Receiving):
    def receive_begin(self, caller: Caller, at: Descriptor, cursor: Cursor | None, timeout_ms: int) -> None:
        told = _renamed(caller, MQ_ERROR_IO_TIMEOUT, MQ_ERROR_INVALID_PARAMETER)
        super().receive_begin(told, at, cursor, timeout_ms)


class BeginTimeoutWrongStatus(Fault):
    """The first phase of a read whose time is over fails with MQ_ERROR_INVALID_PARAMETER."""

    name = "begin-timeout-wrong-status"
    breaks = ("MQDMPR-3.1.7.1.11.io-timeout-code",)
    replaces = ("reading", _OtherBeginTimeout)


class _BeginAnyway(Receiving):
    def receive_begin(self, caller: Caller, at: Descriptor, cursor: Cursor | None, timeout_ms: int) -> None:
        try:
            super().receive_begin(caller, at, cursor, timeout_ms)
        except MqError as failure:
            if cursor is None or failure.status != MQ_ERROR_MESSAGE_ALREADY_RECEIVED:
                raise
            super().receive_begin(caller, at, None, timeout_ms)


class BeginPassesOverLost(Fault):
    """The first phase of a read takes the front of the queue when the message of its cursor is gone."""

    name = "begin-passes-over-lost"
    breaks = (
        "MQDMPR-3.1.7.1.11.message-already-received",
        "MQDMPR-3.1.7.1.11.message-already-received-code",
    )
    replaces = ("reading", _BeginAnyway)


class _BeginAround(Receiving):
    def receive_begin(self, caller: Caller, at: Descriptor, cursor: Cursor | None, timeout_ms: int) -> None:
        try:
            super().receive_begin(caller, at, cursor, timeout_ms)
        except MqError as failure:
            if cursor is None or failure.status != MQ_ERROR_MESSAGE_NOT_FOUND:
                raise
            super().receive_begin(caller, at, None, timeout_ms)


class BeginWrapsAround(Fault):
    """The first phase of a read that finds nothing behind its cursor takes the front of the queue."""

    name = "begin-wraps-around"
    breaks = (
        "MQDMPR-3.1.7.1.11.message-not-found",
        "MQDMPR-3.1.7.1.11.message-not-found-code",
        "MQDMPR-3.2.7.4.not-found",
        "MQDMPR-3.2.7.4.unread-seeks",
        "MQDMPR-3.2.7.4.continues",
    )
    replaces = ("reading", _BeginAround)
