"""Generates signed messages and messages with an encrypted body, as far as a packet alone can show."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st

from conformance.judge.packets.rules_signatures import CIPHERS, RSA_FULL, STANDARD
from conformance.judge.packets.signing import CERTIFICATE, SIZE, signed_by
from conformance.spec.versions import PROFILES
from conformance.suites.packets.building import base64_of, packet_of
from conformance.suites.packets.messages import HASHES, user_messages
from conformance.wire.security_items import simple_blob

LEVELS = {1: "sig10", 2: "sig20", 3: "sig30"}
# These queue names have only one form in a packet; a private one has two or three.
PLAIN_QUEUES = ("DIRECT=", "PUBLIC=")


def kinds_of(profile: str) -> tuple[int, ...]:
    """Return the kinds of signature that a version of MSMQ can make (MS-MQMQ 2.2.20.6)."""
    return tuple(kind for kind in LEVELS if PROFILES.index(profile) >= kind - 1)


@st.composite
def signed_messages(draw: st.DrawFn, profile: str, readings: Mapping[str, tuple[str, ...]]) -> dict[str, Any]:
    """Generate a message with a certificate and a signature of a kind of the profile, made for its packet."""
    message = draw(user_messages(secured=False))
    for member in ("administration_queue", "response_queue"):
        if not message.get(member, PLAIN_QUEUES[0]).startswith(PLAIN_QUEUES):
            del message[member]
    if message.get("response_queue") == message.get("administration_queue"):
        message.pop("response_queue", None)
    if "administration_queue" not in message:
        message.pop("acknowledgements", None)
    kind = draw(st.sampled_from(kinds_of(profile)))
    message |= {
        "hash_algorithm": draw(HASHES),
        "sender_certificate": base64_of(CERTIFICATE),
        "authentication_level": LEVELS[kind],
    }
    if draw(st.booleans()):
        message |= {"provider_type": RSA_FULL, "provider_name": STANDARD[0]}
    unsigned = packet_of({**message, "signature": base64_of(bytes(SIZE))})
    return {**message, "signature": base64_of(signed_by(readings, kind, unsigned))}


@st.composite
def encrypted_messages(draw: st.DrawFn) -> dict[str, Any]:
    """Generate a message whose body has a possible encrypted length, with a session key of the right form."""
    message = draw(user_messages(secured=False))
    algorithm = draw(st.sampled_from(tuple(CIPHERS)))
    _, privacy, block = CIPHERS[algorithm]
    size = draw(st.integers(1, 4)) * block
    return {
        **message,
        "privacy_level": privacy,
        "encryption_algorithm": algorithm,
        "symmetric_key": base64_of(simple_blob(algorithm, draw(st.binary(min_size=64, max_size=64)))),
        "body": base64_of(draw(st.binary(min_size=size, max_size=size))),
    }
