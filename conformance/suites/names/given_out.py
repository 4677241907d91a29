"""The names a manager gives out, judged by the rules for names (MS-MQMQ 2.1.1 to 2.1.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.spec.catalogue import requirement_id
from conformance.suites.names.texts import path_given_out
from conformance.verdict import Outcome, Verdict

if TYPE_CHECKING:
    from conformance.adapter.client import Client
    from conformance.suites.guard import GuardedClient

PATH = requirement_id("MQMQ-2.1.1.sent")
DIRECT = requirement_id("MQMQ-2.1.2.sent")
KINDS = {"public": requirement_id("MQMQ-2.1.3.sent"), "private": requirement_id("MQMQ-2.1.4.sent")}
"""By prefix; a name without a known one is taken for a direct name, the one kind every manager has."""


def names_of(queue: str, mq: GuardedClient | Client, profile: str) -> list[Verdict]:
    """The verdicts on the format name a queue's creation answered with, and on the path name its properties tell."""
    from conformance.grammar.bulk import FORMAT_NAME, PATH_NAME, NameError_  # their rules take long to make
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
