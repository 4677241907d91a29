"""MS-MQDMPR as an executable state machine: what was asked and what came back in, verdicts out. Pure."""

from conformance.model.calls import BadCall, Call
from conformance.model.observation import Answer, Observation, Scan, SeenMessage
from conformance.model.state import State
from conformance.model.step import Judged, Model, States

__all__ = ["Answer", "BadCall", "Call", "Judged", "Model", "Observation", "Scan", "SeenMessage", "State", "States"]
