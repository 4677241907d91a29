from conformance.api import AdapterError as AdapterError
from conformance.api import BadInput as BadInput
from conformance.api import Outcome as Outcome
from conformance.api import Run as Run
from conformance.api import Verdict as Verdict
from conformance.api import judge_again as judge_again
from conformance.api import judge_packet as judge_packet
from conformance.api import read_run as read_run
from conformance.api import replay as replay
from conformance.api import run as run

__version__: str
