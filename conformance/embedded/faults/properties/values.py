"""Faults of values at the ends of their ranges, which show only after something has happened to the message."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from conformance.embedded.delivery import MAX_LABEL, Delivery, Sending, data_size
from conformance.embedded.faults.base import fault
from conformance.embedded.store import MessageRow, Store
from conformance.embedded.transactions import Transactions

Json = Any
MEBIBYTE = 1 << 20
_UNCHANGED, _SURVIVES = "MQDMPR-3.1.1.12.body-unchanged", "MQDMPR-3.1.1.12.recoverable-attributes-survive"


def _units(label: str, most: int) -> str:
    """Return the first UTF-16 units of a label; half of a character becomes a question mark."""
    return label.encode("utf-16-le")[: 2 * most].decode("utf-16-le", "ignore").ljust(most, "?")


def _short(body: str) -> str:
    """Return a body, in base64, cut to a mebibyte."""
    return body[: MEBIBYTE // 3 * 4] if data_size(body) > MEBIBYTE else body


@fault("large-body-lost", Sending.make, _UNCHANGED)
def large_body_lost(plain, self, given, *, transactional):
    """A message with a body of more than a mebibyte is received without a body."""
    message = plain(given, transactional=transactional)
    if data_size(message.fields["body"]) > MEBIBYTE:
        message.fields["body"] = ""
    return message


def _recovered(
    plain: Callable[[], Iterator[MessageRow]], member: str, change: Callable[[str], str]
) -> Iterator[MessageRow]:
    for row in plain():
        yield replace(row, fields={**row.fields, member: change(row.fields[member])})


@fault("recovery-cuts-large-body", Store.messages, _SURVIVES)
def recovery_cuts_large_body(plain, self):
    """A recoverable message has only the first mebibyte of its body after a restart."""
    return _recovered(plain, "body", _short)


@fault("recovery-cuts-longest-label", Store.messages, _SURVIVES)
def recovery_cuts_longest_label(plain, self):
    """A recoverable message whose label has the most characters there can be lacks the last one after a restart."""
    return _recovered(plain, "label", lambda label: label[: MAX_LABEL - 1])


@fault("journal-halves-surrogates", Delivery.journal, "MQMQ-2.3.1.4.journal-copy")
def journal_halves_surrogates(plain, self, position):
    """The copy in a journal lacks the last UTF-16 unit of the longest label, which may be half a character."""
    message, label = position.message, position.message.fields["label"]
    if len(label.encode("utf-16-le")) == 2 * MAX_LABEL and not label.isascii():
        position.message = replace(message, fields={**message.fields, "label": _units(label, MAX_LABEL - 1)})
    plain(position)
    position.message = message


@fault("response-queues-sorted", Sending.make, "MQDMPR-3.1.1.12.response-queues")
def response_queues_sorted(plain, self, given, *, transactional):
    """The names of several response queues are received in alphabetical order."""
    message = plain(given, transactional=transactional)
    if "," in message.fields.get("response_queue", ""):
        message.fields["response_queue"] = ",".join(sorted(message.fields["response_queue"].split(",")))
    return message


@fault("abort-cuts-long-extension", Transactions.abort_step, "MQDMPR-3.1.4.5.receives-return-unchanged")
def abort_cuts_long_extension(plain, self, step):
    """A message whose receive is aborted has at most 65,535 bytes of its extension."""
    fields = step.position.message.fields
    if data_size(fields["extension"]) > 0xFFFF:
        step.position.message.fields = {**fields, "extension": fields["extension"][: 0xFFFF // 3 * 4]}
    plain(step)
