"""Constraints of what else a queue's family holds, of acknowledgments, and of what happens over days."""

from __future__ import annotations

from typing import Final

from conformance.histories.features.constraint import Constraint, no

_SEEKS = ("messages.receive", "messages.peek", "messages.peek_next")
_SEND, _ADVANCE, _RESTART = "messages.send", "clock.advance", "restart"
_LOSSES = ("queues.delete", "queues.purge")
_ASKERS = (*_LOSSES, "messages.receive_end")
_RECEIVES = ("messages.receive", "messages.receive_end")
_JOURNALERS = (*_RECEIVES, "transactions.commit")
_BOTH = "both say so"
_SINGLE = "positive_arrival positive_receive negative_arrival negative_receive"
_ASKED = f"{_SINGLE} positives negatives both_signs"
_ENDINGS = ("transactions.prepare", "transactions.commit", "transactions.abort")

CONSTRAINTS: Final[tuple[Constraint, ...]] = (
    no(_SEEKS, "copies have no family", kind="journal dead_letter", related="*"),
    no(_SEND, "such a queue is sent plain messages", kind="outgoing outgoing_on_hold", acks=_ASKED),
    no(_SEND, _BOTH, wishes="acknowledged", acks="none"),
    no(_SEND, _BOTH, wishes="none dead_letter", acks=_ASKED),
    no(_ADVANCE, "a wait of days is over", by="days", deadline="before just_before"),
    no(_ENDINGS, "only a moved message has two queues", moves="none", waiting="bystander"),
    no(
        _LOSSES,
        "there is no message to ask about",
        content="nothing",
        copies="acknowledged_twice",
    ),
    no(_LOSSES, "there is no message to ask about", content="nothing", asked="*"),
    no(_ASKERS, _BOTH, copies="none dead_letter expires", asked=_ASKED),
    no(_ASKERS, _BOTH, copies="acknowledged", asked="none positives negatives"),
    no(_ASKERS, _BOTH, copies="acknowledged_twice", asked=f"none {_SINGLE}"),
    no(_ADVANCE, "no message is going to expire", expiry="none", asked="*"),
    no(_ADVANCE, _BOTH, wanted="none dead_letter", asked=_ASKED),
    no(_ADVANCE, _BOTH, wanted="acknowledged", asked="none positives negatives"),
    no(_ADVANCE, _BOTH, wanted="acknowledged_twice", asked=f"none {_SINGLE}"),
    no(_JOURNALERS, _BOTH, copies="journal journal_full", journaling="off switched_off"),
    no(
        _JOURNALERS,
        _BOTH,
        copies="none acknowledged acknowledged_twice dead_letter expires",
        journaling="on switched_on",
    ),
    no("messages.receive", "no message of it is found", choice="nothing", journaling="*"),
    no("transactions.commit", "there is no message to ask about", receives="none", journaling="*"),
    no("transactions.abort", "an ended transaction has nothing any more", state="committed aborted", quota="*"),
    no("transactions.commit", "an ended transaction has nothing any more", state="committed aborted", journaling="*"),
    no(_RECEIVES, "copies leave none behind", kind="journal dead_letter", journaling="*"),
    no(_RECEIVES, "a subqueue has no journal", kind="subqueue", journaling="on switched_on switched_off"),
    no(_RESTART, "what is kept asks for it", messages="none express", asked=_ASKED),
    no(_LOSSES, "a transaction holds it", held="none", transaction="here_alone sends_elsewhere receives_elsewhere"),
    no(_LOSSES, "a transaction holds it", held="received sent moving", transaction="none"),
)
