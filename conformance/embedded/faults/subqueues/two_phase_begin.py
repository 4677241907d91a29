"""Faults of the beginning of a two-phase read (MS-MQDMPR 3.1.7.1.11)."""

from __future__ import annotations

from conformance.embedded.entities import MqError
from conformance.embedded.faults.base import fault
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


@fault("cursor-begin-wrong-status", Receiving.receive_begin, "MQDMPR-3.1.7.1.11.message-not-found-code")
def cursor_begin_wrong_status(plain, self, caller, at, cursor, timeout_ms):
    """The first phase of a read that finds nothing behind its cursor fails with MQ_ERROR_INVALID_PARAMETER."""
    try:
        plain(caller, at, cursor, timeout_ms)
    except MqError as failure:
        if cursor is None or failure.status != MQ_ERROR_MESSAGE_NOT_FOUND:
            raise
        raise MqError(MQ_ERROR_INVALID_PARAMETER) from None


@fault("begin-timeout-wrong-status", Receiving.receive_begin, "MQDMPR-3.1.7.1.11.io-timeout-code")
def begin_timeout_wrong_status(plain, self, caller, at, cursor, timeout_ms):
    """The first phase of a read whose time is over fails with MQ_ERROR_INVALID_PARAMETER."""
    told = _renamed(caller, MQ_ERROR_IO_TIMEOUT, MQ_ERROR_INVALID_PARAMETER)
    plain(told, at, cursor, timeout_ms)


@fault(
    "begin-passes-over-lost", Receiving.receive_begin, "MQDMPR-3.1.7.1.11.message-already-received",
    "MQDMPR-3.1.7.1.11.message-already-received-code",
)  # fmt: skip
def begin_passes_over_lost(plain, self, caller, at, cursor, timeout_ms):
    """The first phase of a read takes the front of the queue when the message of its cursor is gone."""
    try:
        plain(caller, at, cursor, timeout_ms)
    except MqError as failure:
        if cursor is None or failure.status != MQ_ERROR_MESSAGE_ALREADY_RECEIVED:
            raise
        plain(caller, at, None, timeout_ms)


@fault(
    "begin-wraps-around", Receiving.receive_begin, "MQDMPR-3.1.7.1.11.message-not-found",
    "MQDMPR-3.1.7.1.11.message-not-found-code", "MQDMPR-3.2.7.4.not-found", "MQDMPR-3.2.7.4.unread-seeks",
    "MQDMPR-3.2.7.4.continues",
)  # fmt: skip
def begin_wraps_around(plain, self, caller, at, cursor, timeout_ms):
    """The first phase of a read that finds nothing behind its cursor takes the front of the queue."""
    try:
        plain(caller, at, cursor, timeout_ms)
    except MqError as failure:
        if cursor is None or failure.status != MQ_ERROR_MESSAGE_NOT_FOUND:
            raise
        plain(caller, at, None, timeout_ms)
