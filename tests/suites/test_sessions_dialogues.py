"""Dialogues with a peer: a right one passes, and each fake fails at its demand."""

from __future__ import annotations

import base64
import socket
import threading
from contextlib import suppress
from copy import deepcopy
from itertools import chain, product
from pathlib import Path
from typing import Any, Final

import pytest
from cases import all_of
from session_peer import FLOOD, Peer

from conformance.adapter.connectors import connect
from conformance.adapter.errors import NotAccepted
from conformance.adapter.session import Result
from conformance.judge.dialogues.cases_fates import ONWARDS
from conformance.judge.dialogues.conversation import Conversation
from conformance.judge.dialogues.machine import SITUATIONS, Says, State, Then
from conformance.judge.dialogues.packets import NULL, Ends, establish, parameters
from conformance.judge.dialogues.steps import Comes, demanded
from conformance.net.addresses import Permit, target
from conformance.net.ends import refusal
from conformance.report.coverage import covered
from conformance.spec.catalogue import assignment, catalogue
from conformance.suites.sessions.dialogue import NotPlayed
from conformance.suites.sessions.links import MOST_PACKETS
from conformance.suites.sessions.playing import Player
from conformance.suites.sessions.rejudge import CASES
from conformance.verdict import Outcome, Verdict
from conformance.wire import encode

_INVALID: Final = "MQQB-3.1.5.3.2.invalid-closes"
_NO_TX_QUEUE: Final = "not-a-transactional-queue-of-transactional-messages"
_MARKS: Final = "MQMQ-2.2.20.4.recoverable-ack-flags"
_COUNT: Final = "MQMQ-2.2.20.4.ack-sequence-number"
_IN_TIME: Final = "MQQB-3.1.5.8.2.acknowledged-in-time"
FAKES = (
    ("does-not-listen", "plain", "MQQB-2.1.1.acceptor-port"),
    ("does-not-answer", "plain", "MQQB-2.1.1.initialization"),
    ("floods", "express", "MQQB-2.2.1.present"),
    ("wrong-client-guid", "plain", "MQQB-3.1.5.3.1.client-guid"),
    ("wrong-time-stamp", "plain", "MQQB-3.1.5.3.1.time-stamp"),
    ("wrong-se", "after-a-ping", "MQQB-3.1.5.3.1.se"),
    ("wrong-padding", "plain", "MQQB-2.2.3.1.padding"),
    ("wrong-ack-timeout", "plain", "MQQB-3.1.5.4.1.ack-timeout"),
    ("accepts-with-another-window", "plain", "MQQB-3.1.5.4.1.window-size"),
    ("asks-for-another-timeout", "word-of-arrival", "MQQB-3.1.5.3.2.ack-timeout"),
    ("asks-for-another-window", "word-of-arrival", "MQQB-3.1.5.3.2.window-size"),
    ("pings-first pings-as-a-client", "word-of-arrival", "MQQB-2.2.7.request-rc"),
    ("accepts-strangers", "refuses-a-stranger", "MQQB-3.1.5.3.1.cs"),
    ("minds-reserved", "internal-reserved", "MQQB-2.2.1.reserved-ignored"),
    ("minds-reserved", "an-order-acknowledgment-with-reserved-bytes", "MQQB-2.2.4.1.reserved-ignored"),
    ("takes-UserMessage-early", "waiting-ec/user-message", "MQQB-3.1.5.8.state-closes"),
    ("takes-SessionAck-early", "waiting-cp/session-ack", "MQQB-3.1.5.5.state-closes"),
    ("takes-OrderAck-early", "waiting-cp/order-ack", "MQQB-3.1.5.6.state-closes"),
    ("takes-FinalAck-early", "waiting-ec/final-ack", "MQQB-3.1.5.7.state-closes"),
    ("takes-ConnectionParameters-early", "waiting-ec/parameters", "MQQB-3.1.5.4.state-closes"),
    ("takes-EstablishConnection-early", "waiting-cp/establish", "MQQB-3.1.5.3.state-closes"),
    ("takes-EstablishConnection-late", "open/establish", "MQQB-3.1.5.3.state-closes"),
    ("takes-ConnectionParameters-late", "open/parameters", "MQQB-3.1.5.4.state-closes"),
    ("stays-on-a-wrong-signature", "open/wrong-signature", "MQQB-3.1.5.1.2.signature-closes"),
    ("stays-on-a-wrong-signature", "waiting-ec/wrong-version", "MQQB-3.1.5.1.2.signature-closes"),
    ("stays-on-an-unknown-type", "open/unknown-type", "MQQB-2.2.1.packet-type-closes"),
    ("slow-line closes-late", "open/session-ack", "MQQB-3.1.5.5.state-closes"),
    ("stays-on-malformed", "open/malformed", "MQQB-3.1.5.1.3.malformed-closes"),
    ("stays-on-a-miscount", "open/miscounted-ack", "MQQB-3.1.5.5.5.counts-closes"),
    ("minds-no-recoverable-counts", "open/miscounted-recoverable-ack", "MQQB-3.1.5.5.5.counts-closes"),
    ("always-final", "no-final-acknowledgment", "MQQB-3.1.7.2.2.wanted"),
    ("goes-on-when-refused", "waiting-ecr/refused-establish", "MQQB-3.1.5.3.2.invalid-closes"),
    ("goes-on-when-refused", "waiting-ecr/strange-establish", "MQQB-3.1.5.3.2.invalid-closes"),
    ("connects-as-after-a-ping", "word-of-arrival", "MQQB-2.2.3.1.se"),
    ("refuses-its-own-request", "word-of-arrival", "MQQB-3.1.5.2.3.cs"),
    ("names-itself", "word-of-arrival", "MQQB-3.1.5.2.3.server-guid"),
    ("minds-wide-bridges", "a-bridge-wider-than-the-gap", "MQQB-3.1.5.8.6.accepted"),
    ("acknowledges-nothing", "express", "MQQB-3.1.6.4.something-to-acknowledge"),
    ("hangs-up", "waiting-ecr/unknown-type", "MQQB-2.1.1.initialization"),
    ("hangs-up", "waiting-cpr/user-message", "MQQB-2.1.1.initialization"),
    ("never-connects", "waiting-cpr/parameters", "MQQB-2.1.1.initialization"),
    ("keeps-idle-sessions", "an-idle-session", "MQQB-3.1.6.2.idle-session"),
    ("keeps-idle-sessions", "a-session-with-a-message", "MQQB-3.1.6.2.idle-session"),
    ("takes-active-for-idle", "a-session-with-a-message", "MQQB-3.1.6.2.active-session"),
    ("waits-for-answers", "no-parameters", "MQQB-3.1.6.6.times-out"),
    ("waits-for-answers", "no-answer-to-its-request", "MQQB-3.1.6.6.times-out"),
    ("counts-hops-of-its-own", "many-hops-to-its-own-queue", "MQMQ-2.2.18.1.6.nack-hop-count-exceeded"),
    ("marks-no-first", "answers-in-a-sequence", "MQMQ-2.2.20.5.first-in-transaction"),
    ("one-transaction", "answers-in-a-sequence", "MQMQ-2.2.20.5.transaction-identifier-unique"),
    ("never-acknowledges", "recoverable", "MQQB-3.1.5.8.2.acknowledged-in-time"),
    ("never-acknowledges", "express", "MQQB-3.1.5.8.2.acknowledged-in-time"),
    ("never-at-once", "more-than-flags", "MQQB-3.1.5.8.7.recoverable-at-once"),
    ("leaves-out-the-lowest", "recoverable", "MQQB-3.1.6.4.recoverable-lowest"),
    ("one-flag-only", "recoverable", "MQMQ-2.2.20.4.recoverable-ack-flags"),
    ("counts-one-sent-more", "recoverable", "MQQB-3.1.7.1.3.user-messages-sent"),
    ("takes-duplicates", "the-same-again", "MQQB-3.1.5.8.1.duplicate"),
    ("takes-duplicates", "after-a-cut", "MQQB-3.1.5.8.1.duplicate"),
    ("never-orders", "in-order", "MQQB-3.1.6.9.sent"),
    ("orders-too-soon", "in-order", "MQQB-3.1.3.2.order-ack-delay"),
    ("wrong-previous-in-order", "in-order", "MQQB-2.2.4.1.previous"),
    ("takes-any-order", "one-missing", "MQQB-3.1.5.8.6.accepted"),
    ("takes-any-order", "an-older-sequence", "MQQB-3.1.5.8.6.accepted"),
    ("never-final", "not-a-transactional-queue", "MQQB-3.1.5.8.2.not-transactional-queue"),
    ("never-final", "a-final-acknowledgment", "MQDMPR-3.1.1.12.final-ack-sent"),
    ("takes-any-for-any-queue", "not-a-transactional-message", "MQQB-3.1.5.8.2.not-transactional-message"),
    ("takes-wrong-signatures", "a-signature-that-is-wrong", "MQMQ-2.2.18.1.6.nack-bad-signature"),
    ("privacy-as-signature", "an-unknown-privacy-level", "MQMQ-2.2.19.3.privacy-level-refused"),
    (
        "minds-no-privacy-of-clear-bodies",
        "an-unknown-privacy-level-of-a-clear-body",
        "MQMQ-2.2.19.3.privacy-level-refused",
    ),
    ("minds-no-security", "not-authenticated", "MQDMPR-3.1.1.2.authentication"),
    ("minds-no-security", "not-encrypted", "MQDMPR-3.1.1.2.privacy-level-body"),
    ("takes-late-messages", "too-late", "MQMQ-2.2.19.1.time-to-reach-queue-expired-receiver"),
    ("tells-of-any-rejection", "rejected-in-silence", "MQQB-3.1.7.15.requested"),
    ("answers-to-the-response-queue", "word-of-arrival", "MQQB-3.1.7.15.destination"),
    ("takes-wrong-signatures", "an-unknown-hash", "MQMQ-2.2.19.3.hash-algorithm-refused"),
    ("decrypts-anything", "a-key-that-is-none", "MQMQ-2.2.20.6.body-encrypted-receiver"),
    ("decrypts-anything", "an-unknown-cipher", "MQMQ-2.2.19.3.encryption-algorithm-refused"),
    ("wrong-class-of-hops", "too-many-hops", "MQQB-3.1.5.8.2.hop-count-exceeded"),
    ("never-acks", "word-of-arrival", "MQMQ-2.2.19.3.flags-pa"),
    ("always-acks", "word-of-arrival", "MQQB-3.1.7.15.requested"),
    ("wrong-class-of-arrival", "word-of-arrival", "MQQB-3.1.7.15.requested"),
    ("wrong-correlation", "word-of-arrival", "MQQB-3.1.7.15.correlation"),
    ("wrong-delivery", "word-of-arrival", "MQQB-3.1.7.15.delivery"),
    ("no-body", "not-a-transactional-message", "MQQB-3.1.7.15.body"),
    ("never-acks", "too-late", "MQMQ-2.2.19.3.flags-pa"),
    ("knows-no-infinite-time", "never-too-late", "MQMQ-2.2.19.1.time-to-reach-queue-infinite"),
    ("never-expires", "not-received-in-time", "MQMQ-2.2.19.3.flags-nr"),
    ("waits-for-ever", "nothing-is-acknowledged", "MQQB-3.1.6.3.closes"),
    ("knows-no-window", "no-more-than-the-window", "MQQB-3.1.7.1.window"),
    ("caps-times", "times-20001-20000", "MQQB-3.1.5.4.1.recoverable-ack-timeout"),
    ("lowest-is-the-last", "recoverable", "MQQB-3.1.6.4.recoverable-lowest"),
    ("carried-marks-stay", "carried-first", "MQQB-3.1.6.4.recoverable-once"),
    ("carrier-not-counted", "carried-several", "MQQB-3.1.7.1.3.user-messages-sent"),
    ("window-follows", "window-of-65", "MQQB-3.1.6.4.window-size"),
    ("restarts-the-timer", "a-stream-of-express-messages", "MQQB-3.1.5.8.2.acknowledged-in-time"),
    ("waits-for-express", "recoverable-behind-express", "MQQB-3.1.5.8.2.acknowledged-in-time"),
    ("never-acknowledges", "a-stream-of-recoverable-messages", "MQQB-3.1.5.8.2.acknowledged-in-time"),
    ("closes-what-is-acknowledged", "quiet-when-all-is-acknowledged", "MQQB-3.1.6.3.closes"),
    ("forgets-by-timer", "express-again-after-a-look-at-identifiers", "MQQB-3.1.5.8.1.duplicate"),
    ("forgets-by-timer", "recoverable-again-after-a-look-at-identifiers", "MQQB-3.1.5.8.1.duplicate"),
    ("takes-duplicates", "express-again-elsewhere", "MQQB-3.1.5.8.1.duplicate"),
    ("takes-any-order", "transactional-again-elsewhere", "MQQB-3.1.5.8.6.accepted"),
    ("takes-recoverable-late", "recoverable-too-late", "MQMQ-2.2.19.1.time-to-reach-queue-expired-receiver"),
    ("orders-no-repetition", "a-repetition-is-acknowledged-again", "MQQB-3.1.6.9.sent"),
    ("begins-with-1-alone", "a-first-sequence-that-begins-above-1", "MQQB-3.1.5.8.6.accepted"),
    ("begins-with-1-alone", "a-next-sequence-that-begins-above-1", "MQQB-3.1.5.8.6.accepted"),
    ("sequences-of-one-session", "a-sequence-that-goes-on-elsewhere", "MQQB-3.1.5.8.6.accepted"),
    ("last-name-decides", "names-of-two-kinds", "MQQB-3.1.7.17.destination-form"),
    ("minds-no-negative-journal", "a-final-acknowledgment-for-negative-journaling", "MQQB-3.1.7.2.2.wanted"),
    ("always-final", "no-final-acknowledgment-for-administration", "MQQB-3.1.7.2.2.wanted"),
    ("final-bridges-nothing", "a-final-acknowledgment-over-a-gap", "MQQB-2.2.5.1.previous"),
    ("answers-with-the-first", "a-list-with-the-queue-in-place-2-of-2", "MQQB-3.1.7.15.response-queue"),
    ("hops-begin-here", "passed-on-after-12-hops", "MQQB-3.1.5.8.2.hop-count"),
    ("one-hop-too-many", "too-many-hops", "MQQB-3.1.5.8.2.hop-count-exceeded"),
    ("orders-what-passes", "passed-on-in-a-sequence", "MQQB-3.1.1.5.passed-on"),
    ("passes-what-is-late", "too-late-to-be-passed-on", "MQQB-3.1.7.1.2.expired"),
    ("never-resends", "answers-without-an-order-acknowledgment", "MQQB-3.1.6.5.resent"),
    ("sends-no-rest-again", "a-part-is-acknowledged", "MQQB-3.1.5.9.retried"),
    ("acknowledges-on-no-session-of-its-own", "sent-again-after-a-cut", "MQQB-3.1.5.8.2.acknowledged-in-time"),
    (
        "takes-duplicates-with-counts",
        "meets-beside-another-narrow-behind-recoverable-express-unfitting-both-urgent-"
        "counting-answerable-again-after-close-settled",
        "MQQB-3.1.5.8.1.duplicate",
    ),
    ("never-expires", "a-final-acknowledgment-of-what-is-not-received-asked", "MQQB-3.1.7.2.2.wanted"),
    ("resends-soon", "answers-without-an-order-acknowledgment", "MQQB-3.1.6.5.resend-interval"),
    ("resends-backwards", "answers-without-an-order-acknowledgment", "MQQB-3.1.6.5.resend-order"),
    ("order-acks-for-all", "answers-of-which-one-is-acknowledged", "MQQB-3.1.6.5.resent"),
    ("takes-no-order-acks", "answers-of-which-one-is-acknowledged", "MQQB-3.1.1.6.2.discarded"),
    ("never-resends", "answers-on-another-session", "MQQB-3.1.1.6.2.retained"),
    ("new-time-of-sequences", "answers-behind-an-acknowledged-sequence", "MQQB-3.1.1.5.next-sequence"),
    ("forgets-high-marks", "rounds-of-17-1-32-2-recoverable-alone", _MARKS),
    ("forgets-high-marks", "rounds-of-16-34-31-recoverable-with-express-between", _MARKS),
    ("marks-places", "rounds-of-16-34-31-recoverable-with-express-between", "MQQB-3.1.1.6.1.recoverable-were-sent"),
    ("forgets-the-33rd", "rounds-of-16-34-31-recoverable-behind-express", "MQQB-3.1.6.4.recoverable-lowest"),
    ("shortens-the-first-round-only", "the-time-of-each-round-recoverable", _IN_TIME),
    ("shortens-the-first-round-only", "the-time-of-each-round-transactional", _IN_TIME),
    ("shortens-the-first-round-only", "the-time-of-each-round-mixed", _IN_TIME),
    *(
        (f"counts-no-rejected-{kind}", f"{kind}-{fate}-is-counted", broken)
        for kind, broken in (("express", _IN_TIME), ("recoverable", _COUNT), ("transactional", _COUNT))
        for fate in ("no-queue", "wrong-queue", "too-late", "too-far", "signed")
    ),
    ("closes-on-counts-behind-a-rejection", "express-no-queue-is-counted", "MQQB-3.1.5.5.5.counts-closes"),
    ("wrong-cookie", "answered", "MQQB-2.2.7.response-cookie"),
    ("wrong-rc", "answered", "MQQB-2.2.7.response-rc"),
    ("refuses-pings", "answered", "MQQB-2.2.7.response-rf"),
    ("pings-as-another", "answered", "MQQB-2.2.7.response-qm-guid"),
    ("answers-any-datagram", "another-signature", "MQQB-2.2.7.signature-ignored"),
    ("minds-unused-ping-bits", "unused-bits", "MQQB-2.2.7.flags-ignored"),
    ("minds-reserved", "establish-reserved", "MQQB-2.2.3.1.reserved-ignored"),
    ("minds-reserved", "establish-unused-bits", "MQQB-2.2.3.1.unused-bits-ignored"),
    ("minds-reserved", "parameters-reserved", "MQQB-2.2.2.1.reserved-ignored"),
    ("minds-reserved", "internal-unused-bits", "MQQB-2.2.1.unused-bits-ignored"),
    ("takes-another-when-refused", "refused/establish", "MQQB-3.1.5.3.state-closes"),
    ("takes-another-when-refused", "refused/strange-establish", "MQQB-3.1.5.3.state-closes"),
    ("takes-messages-when-refused", "refused/user-message", "MQQB-3.1.5.8.state-closes"),
    ("stays-on-a-wrong-signature", "refused/wrong-signature", "MQQB-3.1.5.1.2.signature-closes"),
    ("repeats-the-first-OperatingSystem.SE", "second/null-010-unused", "MQQB-3.1.5.3.1.se"),
    ("repeats-the-first-TimeStamp", "second/own-001-plain", "MQQB-3.1.5.3.1.time-stamp"),
    ("repeats-no-OperatingSystem.SE-when-refusing", "first/stranger-100-plain", "MQQB-3.1.5.3.1.se"),
    ("repeats-no-TimeStamp-when-refusing", "first/stranger-001-unused", "MQQB-3.1.5.3.1.time-stamp"),
    ("repeats-no-OperatingSystem.SE-beside-unused-bits", "first/stranger-111-unused", "MQQB-3.1.5.3.1.se"),
    ("keeps-first-times", "after-the-cut/null-011-plain", "MQQB-3.1.5.4.1.recoverable-ack-timeout"),
    ("reads-cs-as-all-flags", "connects/refused-establish/unused", "MQQB-3.1.5.3.2.invalid-closes"),
    ("goes-on-when-refused-again", "connects-again/refused-establish/refused-establish", _INVALID),
    ("goes-on-when-refused-again", "connects-again/strange-establish/strange-establish", _INVALID),
    ("minds-reserved", "connects/internal-lowest", "MQQB-2.2.1.unused-bits-ignored"),
    ("minds-reserved", "connects/internal-reserved", "MQQB-2.2.1.reserved-ignored"),
    ("minds-reserved", "connects/establish-all", "MQQB-2.2.3.1.unused-bits-ignored"),
    ("minds-reserved", "connects/establish-reserved", "MQQB-2.2.3.1.reserved-ignored"),
    ("minds-reserved", "connects/with-parameters/parameters-reserved", "MQQB-2.2.2.1.reserved-ignored"),
    ("pings-first tells-of-an-earlier-ping", "connects-again/refused-establish/session-ack", "MQQB-2.2.3.1.se"),
    ("pings-first forgets-its-pings", "connects-anew-after-a-cut", "MQQB-2.2.3.1.se"),
    ("pings-first tells-of-an-earlier-ping", "waiting-ecr/refused-establish", "MQQB-2.2.3.1.se"),
    ("rc-is-all-flags", "pings/after-a-cut", "MQQB-2.2.7.response-rc"),
    ("refuses-unused-ping-bits", "pings/first", "MQQB-2.2.7.flags-ignored"),
    ("repeats-rf", "pings/after-a-cut", "MQQB-2.2.7.response-rf"),
    ("refuses-pings-beside-a-session", "pings/beside-a-session", "MQQB-2.2.7.response-rf"),
    ("refuses-pings-beside-a-session", "pings/after-a-refusal", "MQQB-2.2.7.response-rf"),
    ("acks-with-a-connector", "word-of-arrival", "MQDMPR-3.1.1.12.connector-type"),
    ("never-acks", "with-debug", "MQDMPR-3.1.1.12.class-ack-reach-queue"),
    ("wrong-class-of-no-queue", "no-such-queue", "MQQB-3.1.5.8.2.no-such-queue"),
    (
        "knows-single-bits",
        "not-a-transactional-message-of-express-messages",
        "MQQB-3.1.5.8.2.not-transactional-message",
    ),
    ("tells-of-any-rejection", "no-such-queue-of-transactional-messages", "MQQB-3.1.7.15.requested"),
    ("tells-of-any-rejection", "not-a-transactional-message-of-express-messages", "MQQB-3.1.7.15.requested"),
    ("finals-where-asked", _NO_TX_QUEUE, "MQQB-3.1.5.8.2.not-transactional-queue"),
    ("finals-need-an-administration-queue", _NO_TX_QUEUE, "MQQB-3.1.5.8.2.not-transactional-queue"),
    ("forgets-what-is-rejected", "too-many-hops-of-recoverable-messages", "MQQB-3.1.5.8.1.duplicate"),
    ("no-receipts-of-express", "each-word-of-express-messages", "MQMQ-2.2.19.3.flags-pr"),
    ("no-arrivals-with-nr", "each-word-of-recoverable-messages", "MQMQ-2.2.19.3.flags-pa"),
    ("one-word-of-a-receipt", "each-way-to-a-final-acknowledgment", "MQQB-3.1.7.2.2.wanted"),
    ("expires-recoverable-alone", "not-received-by-kind-and-word", "MQMQ-2.2.19.3.flags-nr"),
    ("even-bodies", "a-rejected-body-of-each-size", "MQQB-3.1.7.15.body"),
    ("knows-ordinals-alone", "an-identifier-of-another-source-express", "MQQB-3.1.5.8.1.duplicate"),
    (
        "ordinals-for-all-kinds",
        "an-identifier-of-the-express-message-with-a-transaction",
        "MQQB-3.1.5.8.1.duplicate",
    ),
    ("passes-again", "express-passed-on-once", "MQQB-3.1.5.8.1.duplicate"),
    ("acknowledges-what-passes", "recoverable-passed-on-once", "MQQB-3.1.5.8.10.addressee"),
    ("express-hops-stay", "express-passed-on-once", "MQQB-3.1.5.8.2.hop-count"),
    ("hushes-on-its-way", "express-too-late-on-its-way", "MQMQ-2.2.18.1.6.nack-reach-queue-timeout"),
    ("passes-what-is-late", "transactional-too-late-on-its-way", "MQQB-3.1.7.1.2.expired"),
    ("compares-ordinals-alone", "a-later-sequence-with-a-lower-ordinal", "MQQB-3.1.5.8.6.accepted"),
    ("compares-ordinals-alone", "an-earlier-sequence-with-a-higher-ordinal", "MQQB-3.1.5.8.6.accepted"),
    ("returns-to-old-sequences", "an-old-sequence-behind-a-new-one", "MQQB-3.1.5.8.6.accepted"),
    ("numbers-go-on-in-new-sequences", "a-new-sequence-with-lower-numbers", "MQQB-3.1.5.8.6.accepted"),
    ("returns-to-old-sequences", "a-new-sequence-while-the-old-one-waits", "MQQB-3.1.5.8.6.accepted"),
    ("moves-on-rejection", "numbers-again-behind-later-ones", "MQQB-3.1.5.8.6.accepted"),
    ("one-sequence-for-all", "sequences-of-two-queue-managers", "MQQB-3.1.5.8.6.accepted"),
    ("any-order-ack-counts", "answers-of-which-other-sequences-are-acknowledged", "MQQB-3.1.1.6.2.retained"),
    ("knows-no-time-left", "never-too-late", "MQMQ-2.2.19.1.time-to-reach-queue-evaluated-receiver"),
)
BEHIND = (
    ("acks-in-a-transaction", "word-of-arrival"), ("acks-with-security", "word-of-arrival"),
    ("wrong-class-of-receipt", "word-of-a-receive"), ("reports-a-rejection", "traced"),
    ("wrong-class-of-arrival", "counts-that-differ"), ("wrong-class-of-arrival", "waiting-ecr/establish"),
    ("wrong-class-of-arrival", "with-debug"), ("acks-as-private", "word-of-arrival"),
    ("acks-with-another-hash", "word-of-arrival"), ("acks-with-another-cipher", "word-of-arrival"),
    ("reports-what-is-not-traced", "not-traced"),
    ("transactions-leave-no-identifier", "an-identifier-of-a-transactional-message-without-one"),
)  # fmt: skip
"""Defects and cases in which a rule on the packet itself is blamed before the demands of the dialogue."""

ENDS: Final = Ends("1", 1_800_000_000, "127.0.0.1", "127.0.0.2")
_MAY = {"too-many-hops-transactional", "traced"}
"""Cases that wait for what needs a directory, which the peer has not."""


def played(case: str, tmp_path: Path, defects: str = "", readings: str = "windows") -> list[Verdict]:
    """Play a case against a peer with these defects."""
    with connect("python:session_peer:Peer", state_dir=tmp_path / "state", in_process=True) as client:
        peer = client.in_process_driver
        assert isinstance(peer, Peer)
        peer.defects, peer.unread = set(defects.split()), CASES[case].unread
        player = Player(client, CASES[case], now_s=0, tell=lambda *_: None)
        found = list(player.play(assignment(readings), "msmq-4.0"))
        assert not peer.held, "a driver holds what is not closed, and holds so many"
        return found


def test_the_limit_of_a_driver_is_no_deviation_of_what_it_speaks_to(tmp_path: Path) -> None:
    with pytest.raises(NotAccepted, match="No more sessions are held"):
        played("plain", tmp_path, "driver-holds-no-more-sessions")


def failed(verdicts: list[Verdict]) -> list[str]:
    return [one.requirement for one in verdicts if one.outcome is Outcome.FAIL]


_NAMED = "not named by a direct format name"
_STAYS_HERE = {
    "too-many-hops": _NAMED,
    "too-many-hops-transactional": _NAMED,
    "names-of-two-kinds": _NAMED,
    **{name: _NAMED for name in CASES if name.startswith("passed-on-")},
    "too-late-to-be-passed-on": _NAMED,
    **{case.name: _NAMED for case in ONWARDS},
    **{f"too-many-hops-of-{kind}-messages": _NAMED for kind in ("express", "recoverable")},
    **{name: _NAMED for name in CASES if name.endswith("-too-far-is-counted")},
    "never-too-late": "may stay longer",
}
"""Cases with a packet that goes to no other host, and why: a queue that only a directory finds, an old message."""


@all_of("case", CASES)
def test_a_peer_that_is_right_passes_and_is_judged_as_claimed(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[bytes] = []
    plain = Peer.sessions_send

    def send(peer: Peer, params: dict[str, Any]) -> dict[str, Any]:
        sent.append(base64.b64decode(params["bytes"]))
        return plain(peer, params)

    monkeypatch.setattr(Peer, "sessions_send", send)
    verdicts = played(case, tmp_path)
    if CASES[case].packets != "malformed":
        far = target("10.1.2.3", Permit(owned="10.1.2.3"))
        refused = [why for why in (refusal(data, far, "odd") for data in sent) if why is not None]
        assert bool(refused) == (case in _STAYS_HERE), refused
        assert all(_STAYS_HERE[case] in why for why in refused)
    assert not failed(verdicts)
    skipped = [one.requirement for one in verdicts if one.outcome is Outcome.SKIP]
    assert bool(skipped) == (case in _MAY)
    demands = {one.requirement for one in verdicts}
    missing = set(CASES[case].claims) - demands
    assert skipped or len(missing) * 4 < len(CASES[case].claims), sorted(missing)


@all_of(("defect", "case", "requirement"), FAKES, ids=lambda value: value)
def test_each_demand_fails_on_its_fake(defect: str, case: str, requirement: str, tmp_path: Path) -> None:
    assert failed(played(case, tmp_path, defect))[:1] == [requirement]


_CONNECTS: Final = [name for name in CASES if name.startswith(("connects", "waiting-ecr/", "waiting-cpr/"))]


@all_of("case", _CONNECTS)
def test_who_pings_before_a_first_try_and_no_other_is_right(case: str, tmp_path: Path) -> None:
    verdicts = played(case, tmp_path, "pings-first")
    assert not failed(verdicts)
    again = "/with-parameters/" not in case and case != "waiting-cpr/parameters"  # the first session delivers there
    shown = any(one.requirement == "MQQB-2.2.3.1.se" and one.outcome is Outcome.PASS for one in verdicts)
    assert shown == again


def test_each_demand_of_a_dialogue_can_fail(tmp_path: Path) -> None:
    pairs = {*((defect, case) for defect, case, _ in FAKES), *BEHIND}
    found = (failed(played(case, tmp_path / str(at), defect)) for at, (defect, case) in enumerate(sorted(pairs)))
    able = set(chain.from_iterable(found))
    demands = {name for case in CASES.values() for name in demanded(case.steps)}
    assert demands - able - covered().discriminated == set()  # a rule with a mutation judges the others, too


def test_each_state_meets_each_packet_once() -> None:
    assert [(one.state, one.says) for one in SITUATIONS] == list(product(State, Says))
    assert {one.name for one in SITUATIONS} <= set(CASES)


def test_features_tell_apart_what_happens() -> None:
    """Two pairs with the same features differ in what happens only by the state and the packet themselves."""
    in_turn = [one for one in SITUATIONS if one.features["turn"] == "in"]
    assert all(one.then is not Then.CLOSES for one in in_turn)
    assert all(one.then is Then.CLOSES for one in SITUATIONS if one.features["packet"] == "unreadable")


def test_each_case_claims_what_the_catalogue_has() -> None:
    assert all(name in catalogue().requirements for case in CASES.values() for name in case.claims)


@pytest.mark.parametrize(
    ("case", "changed", "told"),
    [
        ("nothing-is-acknowledged", {"timers_ms": {}}, "not declared .*QosCleanupIntervalMultiplier"),
        ("nothing-is-acknowledged", {"timers_ms": {"session-ack-wait": 90_000}}, "takes 90000 ms"),
        ("open/malformed", {"packets": "odd"}, "malformed packets"),
        ("word-of-a-receive", {"consumes_ms": {}}, "consume.mqconform-plain"),
        ("answers-in-a-sequence", {"replies": []}, "reply.mqconform-transactional"),
        ("recoverable", {"queues": []}, "no queue mqconform-plain"),
    ],
)
def test_what_is_not_declared_is_named(
    case: str, changed: dict[str, object], told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = Peer.sessions_about
    monkeypatch.setattr(Peer, "sessions_about", lambda self, params: {**plain(self, params), **changed})
    with pytest.raises(NotPlayed, match=told):
        played(case, tmp_path)


@pytest.mark.parametrize("defects", ["", "reports-what-is-not-traced"])
def test_who_sends_no_report_fails_where_reports_are_declared(
    defects: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not failed(played("traced", tmp_path / "not", defects))
    plain, queue = Peer.sessions_about, "3f0d2b61-7c58-4a93-8e14-d6b9a0c7e512"
    monkeypatch.setattr(Peer, "sessions_about", lambda self, params: {**plain(self, params), "reports": queue})
    asked = {
        name for step in CASES["traced"].steps if isinstance(step, Comes) and step.unless for name in step.requirements
    }
    assert len(asked) == 5 and set(failed(played("traced", tmp_path, defects))) == asked


def test_a_ping_that_nobody_answers_is_no_deviation(tmp_path: Path) -> None:
    with pytest.raises(NotPlayed, match="EnablePingService"):
        played("answered", tmp_path, "answers-no-ping")


def test_a_word_that_may_be_switched_off_is_no_deviation(tmp_path: Path) -> None:
    verdicts = played("no-such-queue", tmp_path, "no-insecure-nacks")
    told = {one.reason for one in verdicts if one.outcome is Outcome.SKIP}
    assert not failed(verdicts)
    assert any("PermitInsecureNacks" in (reason or "") for reason in told)


def test_a_driver_that_sends_nothing_is_told_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Peer, "sessions_send", lambda self, params: {"status": Result(0xC00E001B, {}, None).status})
    assert failed(played("plain", tmp_path)) == ["MQQB-2.1.1.initialization"]


def _flooding(listener: socket.socket, data: bytes) -> None:
    """Send to each connection for as long as it takes anything."""
    while True:
        try:
            made, _ = listener.accept()
        except OSError:
            return
        with made, suppress(OSError):
            while True:
                made.sendall(data)


@pytest.mark.parametrize("case", ["express", "recoverable"])
def test_a_flood_ends_the_dialogue_and_leaves_its_demands_unjudged(case: str, tmp_path: Path) -> None:
    verdicts = played(case, tmp_path, "floods")
    unjudged = {one.reason for one in verdicts if one.outcome is Outcome.INCONCLUSIVE and one.subject == "dialogue"}
    assert len(unjudged) == 1 and "flooded" in str(unjudged)
    assert len(verdicts) < 20 * MOST_PACKETS


@pytest.mark.parametrize("data", [FLOOD * 64, encode("SessionAck", {}) * 64], ids=["headers", "packets"])
def test_a_flood_on_a_socket_ends_the_dialogue(data: bytes, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=_flooding, args=(listener, data), daemon=True).start()
        port = listener.getsockname()[1]
        with connect(f"wire:127.0.0.1?qm={port}&peer={port}", state_dir=tmp_path) as client:
            player = Player(client, CASES["plain"], now_s=0, tell=lambda *_: None)
            verdicts = list(player.play(assignment("windows"), "msmq-4.0"))
            assert len(player.conversation.said) <= MOST_PACKETS + 2
            player.links["a"].end("closed")
        listener.shutdown(socket.SHUT_RDWR)
    assert {Outcome.FAIL, Outcome.INCONCLUSIVE} & {one.outcome for one in verdicts}


@pytest.mark.parametrize(
    ("defects", "case", "requirement"),
    [
        ("drips stays-on-an-unknown-type", "open/unknown-type", "MQQB-2.2.1.packet-type-closes"),
        ("drips never-acknowledges", "recoverable", "MQQB-3.1.5.8.2.acknowledged-in-time"),
        ("drips never-acks", "word-of-arrival", "MQMQ-2.2.18.1.6.ack-reach-queue"),
    ],
)
def test_a_peer_that_never_stops_sending_does_not_stop_the_time(
    defects: str, case: str, requirement: str, tmp_path: Path
) -> None:
    verdicts = played(case, tmp_path, defects)
    assert requirement in failed(verdicts)
    assert not any("flooded" in (one.reason or "") for one in verdicts)


_LETTER: Final = {**assignment("windows"), "R-MQQB-null-queue-manager-address": ("letter",)}
_OF_NULL: Final = {"MQQB-3.1.5.8.2.no-such-queue", "MQQB-3.1.6.9.sent"}


def lettered(case: str, tmp_path: Path, defects: str, monkeypatch: pytest.MonkeyPatch) -> list[Verdict]:
    """Play a case by the reading that a null QueueManagerAddress is for nobody."""
    monkeypatch.setattr(f"{__name__}.assignment", lambda name: _LETTER)
    return played(case, tmp_path, defects)


@pytest.mark.parametrize("case", ["no-such-queue", "in-order", "word-of-arrival", "the-same-again"])
def test_by_the_letter_silence_shows_only_what_the_reading_names(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    verdicts = lettered(case, tmp_path, "null-is-nobody", monkeypatch)
    assert not failed(verdicts)
    asked = {name for step in CASES[case].steps if isinstance(step, Comes) for name in step.requirements}
    passed = {one.requirement for one in verdicts if one.outcome is Outcome.PASS}
    assert asked & passed == asked & _OF_NULL


@pytest.mark.parametrize("case", ["in-order", "word-of-arrival", "with-debug"])
def test_by_the_letter_a_dead_line_is_no_answer(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    verdicts = lettered(case, tmp_path, "null-is-nobody never-connects", monkeypatch)
    asked = {name for step in CASES[case].steps if isinstance(step, Comes) for name in step.requirements}
    assert failed(verdicts) and set(failed(verdicts)) <= asked
    assert not asked & {one.requirement for one in verdicts if one.outcome is Outcome.PASS}


def test_by_the_letter_an_answer_to_nobodys_message_is_another_reading(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    verdicts = lettered("no-such-queue", tmp_path, "", monkeypatch)
    other = {one.requirement for one in verdicts if one.outcome is Outcome.READING}
    assert other == {"MQQB-3.1.5.8.2.no-such-queue"} and not failed(verdicts)


def test_who_counts_repetitions_follows_a_reading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def found(accepted: tuple[str, ...]) -> set[Outcome]:
        readings = {**assignment("windows"), "R-MQQB-repeated-count": accepted}
        monkeypatch.setattr(f"{__name__}.assignment", lambda name: readings)
        verdicts = played("the-same-again", tmp_path / "-".join(accepted), "counts-duplicates")
        return {
            one.outcome
            for one in verdicts
            if (one.requirement == "MQQB-3.1.5.8.1.duplicate" and one.readings) or one.outcome is Outcome.FAIL
        }

    assert found(("uncounted", "counted")) == {Outcome.READING}
    assert found(("counted",)) == {Outcome.PASS}
    assert found(("uncounted",)) == {Outcome.FAIL}


@pytest.mark.parametrize("clock", ["clock-ahead", "clock-behind"])
@pytest.mark.parametrize("case", ["too-late", "never-too-late"])
def test_a_clock_that_differs_is_no_deviation(case: str, clock: str, tmp_path: Path) -> None:
    verdicts = played(case, tmp_path, clock)
    assert not failed(verdicts)
    asked = {name for step in CASES[case].steps if isinstance(step, Comes) for name in step.requirements}
    assert asked <= {one.requirement for one in verdicts if one.outcome is Outcome.PASS}
    assert failed(played("too-late", tmp_path / "late", f"{clock} takes-late-messages"))


def test_a_clock_that_is_shown_wrongly_judges_nothing(tmp_path: Path) -> None:
    with pytest.raises(NotPlayed, match=r"the clocks differ by -7\d+ s"):
        played("too-late", tmp_path, "wrong-sent-time")


@pytest.mark.parametrize("case", ["open/unknown-type", "open/establish", "open/miscounted-ack", "open/user-message"])
def test_a_connection_that_had_ended_before_shows_nothing(case: str, tmp_path: Path) -> None:
    requirement = next(one.requirement for one in SITUATIONS if one.name == case)
    found = {one.outcome for one in played(case, tmp_path, "closes-when-open") if one.requirement == requirement}
    assert found == {Outcome.INCONCLUSIVE}


def test_what_the_rules_cannot_decide_is_told(tmp_path: Path) -> None:
    verdicts = played("word-of-arrival", tmp_path, "connects-as-after-a-ping hears-no-pings")
    open_ones = {one.requirement: one.reason for one in verdicts if one.outcome is Outcome.INCONCLUSIVE}
    assert open_ones == {"MQQB-2.2.3.1.se": "no ping in the capture is known to be of this session"} and not failed(
        verdicts
    )


def test_a_connection_that_this_end_takes_late_is_no_shorter_round_trip() -> None:
    """The implementation has seen a round trip of 300 ms; this end took its connection when half of it was over."""
    talk = Conversation(0)
    talk.sent(talk.opened("initiator", "127.0.0.2:50000", "127.0.0.1:1801"), establish(ENDS, NULL), 5_000)
    link = talk.opened("acceptor", "127.0.0.2:1801", "127.0.0.1:50001")
    talk.received(link, establish(ENDS, NULL), 5_150)
    talk.sent(link, establish(ENDS, ENDS.client, answer=True), 5_151)
    for timeout, outcome in ((8 * 300, Outcome.PASS), (8 * 3_000, Outcome.FAIL)):
        later = deepcopy(talk)
        later.received(link, parameters({"ConnectionParametersHeader.RecoverableAckTimeout": timeout}), 5_155)
        found = later.verdicts(assignment("windows"), "msmq-4.0")
        assert {one.outcome for one in found if one.requirement == "MQQB-3.1.5.3.2.round-trip"} == {outcome}


def test_no_two_dialogues_of_a_second_share_a_sequence() -> None:
    dialogues = [Ends(f"{began_ns:x}", 1_800_000_000, "a", "b") for began_ns in range(10**15, 10**15 + 10**9, 10**6)]
    found = [one.sequence_ordinal(sequence) for one in dialogues for sequence in (1, 2, 15)]
    assert found == sorted(set(found)) and found[-1] < 1 << 32


@pytest.mark.parametrize(
    ("case", "requirement"),
    [
        ("not-authenticated", "MQDMPR-3.1.1.2.authentication"),
        ("not-traced", "MQDMPR-3.1.1.12.tracing-not-requested"),
    ],
)
def test_the_silence_of_a_peer_that_says_nothing_more_shows_nothing(
    case: str, requirement: str, tmp_path: Path
) -> None:
    verdicts = played(case, tmp_path, "goes-dumb")
    assert {one.outcome for one in verdicts if one.requirement == requirement} == {Outcome.INCONCLUSIVE}
    assert not failed(verdicts)
