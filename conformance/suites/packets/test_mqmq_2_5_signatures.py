"""MS-MQMQ 2.5 Message Properties for Digital Signatures, and the encryption of 2.2.19.3, as packets show them.

The message comes with a signature made for its packet; a field that the implementation writes in another place or form
spoils the signature.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from conformance.suites.packets import claims
from conformance.suites.packets.cases import encode_case
from conformance.suites.packets.combinations import explore
from conformance.suites.packets.messages import encrypted_messages, signed_messages

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder, RunOptions

Need = Callable[..., None]


@pytest.mark.requirement(*claims.SIGNATURES)
def test_signed_messages(mq: Port, mq_need: Need, judge: Recorder, run_options: RunOptions) -> None:
    """2.5.1 to 2.5.3: the hash of the listed fields is the one that the certificate's key finds in the signature."""
    mq_need("packets.encode")
    explore(
        run_options,
        judge,
        signed_messages(run_options.profile, run_options.readings),
        lambda message: {"case": "encode", "message": message},
        lambda message: encode_case(mq, message, run_options, judge.step),
    )


@pytest.mark.requirement(*claims.ENCRYPTION)
def test_encrypted_messages(mq: Port, mq_need: Need, judge: Recorder, run_options: RunOptions) -> None:
    """2.2.19.3 EncryptionAlgorithm and 2.2.20.6 EncryptionKey: algorithm, session key and length of body agree."""
    mq_need("packets.encode")
    explore(
        run_options,
        judge,
        encrypted_messages(),
        lambda message: {"case": "encode", "message": message},
        lambda message: encode_case(mq, message, run_options, judge.step),
    )
