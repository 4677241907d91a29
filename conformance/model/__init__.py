"""MS-MQDMPR as an executable state machine: it takes a call and its observation, and returns verdicts. Pure."""

from conformance.model.calls import Answer, BadCall, Call, Observation, Scan, SeenMessage
from conformance.model.state import State
from conformance.model.step import Judged, Model, Pending, States

__all__ = [
    "Answer",
    "BadCall",
    "Call",
    "Judged",
    "Model",
    "Observation",
    "Pending",
    "Scan",
    "SeenMessage",
    "State",
    "States",
]
