"""MS-MQMQ 2.5 Message Properties for Digital Signatures, and the encryption of 2.2.19.3: what a packet alone can tell.

The message brings its signature along, made for the packet it becomes; a field that the implementation writes in
another place or form makes it fail.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from conformance.suites.packets import claims
from conformance.suites.packets.cases import encode_case
from conformance.suites.packets.exploring import explore
from conformance.suites.packets.secured_messages import encrypted_messages, signed_messages

if TYPE_CHECKING:
    from conformance.suites.guard import GuardedClient
    from conformance.suites.judging import Judge, RunOptions

Need = Callable[..., None]


@pytest.mark.requirement(*claims.SIGNATURES)
def test_signed_messages(mq: GuardedClient, mq_need: Need, judge: Judge, run_options: RunOptions) -> None:
    """2.5.1 to 2.5.3: the hash of the listed fields is what the certificate's key finds in the signature."""
    mq_need("packets.encode")
    explore(
        run_options,
        judge,
        signed_messages(run_options.profile, run_options.readings),
        lambda message: {"case": "encode", "message": message},
        lambda message: encode_case(mq, message, run_options, judge.step),
    )


@pytest.mark.requirement(*claims.ENCRYPTION)
def test_encrypted_messages(mq: GuardedClient, mq_need: Need, judge: Judge, run_options: RunOptions) -> None:
    """2.2.19.3 EncryptionAlgorithm and 2.2.20.6 EncryptionKey: algorithm, session key and length of body agree."""
    mq_need("packets.encode")
    explore(
        run_options,
        judge,
        encrypted_messages(),
        lambda message: {"case": "encode", "message": message},
        lambda message: encode_case(mq, message, run_options, judge.step),
    )
