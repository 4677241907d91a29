"""Judges the names that a manager gives out by the rules for names (MS-MQMQ 2.1.1 to 2.1.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.spec.catalogue import requirement_id
from conformance.suites.names.texts import path_given_out
from conformance.verdict import Outcome, Verdict

if TYPE_CHECKING:
    from conformance.harness.port import Port

PATH = requirement_id("MQMQ-2.1.1.sent")
DIRECT = requirement_id("MQMQ-2.1.2.sent")
KINDS = {"public": requirement_id("MQMQ-2.1.3.sent"), "private": requirement_id("MQMQ-2.1.4.sent")}
"""Requirement by prefix. A name without a known prefix counts as a direct one, the only kind that every manager has."""


def names_of(queue: str, mq: Port, profile: str) -> list[Verdict]:
    """Judge the format name that a queue's creation returned, and the path name among its properties."""
    from conformance.grammar.bulk import FORMAT_NAME, PATH_NAME, NameError_  # slow to import: it compiles rules
    from conformance.grammar.names import bulk

    names = [(queue, FORMAT_NAME, KINDS.get(queue.partition("=")[0].lower(), DIRECT))]
    path_name = path_given_out(mq, queue)
    if path_name is not None:
        names.append((path_name, PATH_NAME, PATH))
    grammar, verdicts = bulk(profile), []
    for text, form, demand in names:
        try:
            grammar.parse(text, form)
            outcome = Outcome.PASS
        except NameError_:
            outcome = Outcome.FAIL
        verdicts.append(Verdict(demand, outcome, text, {"form": form, "derived": True}, {"text": text}))
    return verdicts
