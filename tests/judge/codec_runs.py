"""Settings and short names for trying a codec on the packets suite."""

from __future__ import annotations

from typing import Any, cast

import packet_codecs as codecs
from hypothesis import HealthCheck, settings
from nightly import fewer

from conformance.harness.guarded_client import GuardedClient
from conformance.harness.recorder import RunOptions
from conformance.spec.catalogue import assignment
from conformance.verdict import Outcome, Verdict

OPTIONS = RunOptions("msmq-4.0", "must", assignment("windows"), "windows", 0, 10, 10)
FEW = settings(
    max_examples=fewer(60), deadline=None, database=None, suppress_health_check=list(HealthCheck), print_blob=False
)


def quiet(*_: Any) -> None:
    return None


def client(codec: codecs.Codec) -> GuardedClient:
    return cast("GuardedClient", codec)


def failing(verdicts: list[Verdict]) -> list[str]:
    return [verdict.requirement for verdict in verdicts if verdict.outcome is Outcome.FAIL]
