"""Features of receive, peek and peek-next (MS-MQDMPR 3.1.7.1.10, 3.1.7.1.15, 3.2.7)."""

from __future__ import annotations

from conformance.histories.features.feature import Feature
from conformance.model import Call, State


def _time_out(state: State, call: Call) -> str:
    return "none" if call.timeout_ms == 0 else "some"


TIME_OUT = Feature("time_out", ("none", "some"), _time_out, ("MQDMPR-3.1.7.1.10.timeout",))
