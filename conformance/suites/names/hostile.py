"""Texts a driver must survive: as long as a line may be, or with NUL, lone surrogates or every control character.

Each has a name, which the run record and the repro file hold in place of the text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from conformance.judge.names import FORMAT_NAME, MULTIPLE_ELEMENT, PATH_NAME
from conformance.spec.catalogue import requirement_id
from conformance.suites.names.checks import observe
from conformance.verdict import Outcome, Verdict

if TYPE_CHECKING:
    from conformance.harness.port import Port

# A line of the protocol ends at 8 MiB (`ConnectorOptions.max_line_bytes`): this is the longest name that surely
# fits beside the rest of a request. A name of 10 MB cannot be sent to any driver.
LONGEST = (8 << 20) - (1 << 16)
_GUID = "0123ABCD-4567-89ab-CDEF-0123456789ab"
_CONTROLS = "".join(map(chr, range(0x20)))

Made = tuple[str, str, Callable[[], str]]  # form, requirement, the text
HOSTILE: Mapping[str, Made] = MappingProxyType(
    {
        "longest queue": (PATH_NAME, "MQMQ-2.1.1.queue-name-too-long", lambda: "HOST\\" + "q" * LONGEST),
        "longest computer": (PATH_NAME, "MQMQ-2.1.1.computer-too-long", lambda: "h" * LONGEST + "\\q"),
        "longest direct": (FORMAT_NAME, "MQMQ-2.1.2.queue-name-reject", lambda: "DIRECT=OS:HOST\\" + "q" * LONGEST),
        "longest number": (FORMAT_NAME, "MQMQ-2.1.4.number-too-long", lambda: f"PRIVATE={_GUID}\\" + "0" * LONGEST),
        "commas": (MULTIPLE_ELEMENT, "MQMQ-2.1.7.empty-element-reject", lambda: "," * LONGEST),
        "backslashes": (FORMAT_NAME, "MQMQ-2.1.2.queue-name-reject", lambda: "DIRECT=OS:HOST" + "\\" * (LONGEST // 2)),
        "NUL alone": (PATH_NAME, "MQMQ-2.1.1.separator", lambda: "\0"),
        "NUL behind a name": (FORMAT_NAME, "MQMQ-2.1.3.trailing-reject", lambda: f"PUBLIC={_GUID}\0"),
        "NUL in a queue": (PATH_NAME, "MQMQ-2.1.1.queue-name-control-reject", lambda: "HOST\\q\0q"),
        "all controls": (PATH_NAME, "MQMQ-2.1.1.queue-name-control-reject", lambda: f"HOST\\q{_CONTROLS}"),
        "line ends": (FORMAT_NAME, "MQMQ-2.1.3.trailing-reject", lambda: f"PUBLIC={_GUID}\r\n"),
        "lone surrogate in a computer": (PATH_NAME, "MQMQ-2.1.1.computer-alphabet-reject", lambda: "h\ud800\\q"),
        "lone surrogate in a GUID": (FORMAT_NAME, "MQMQ-2.1.3.guid-reject", lambda: f"PUBLIC=\udc00{_GUID}"),
        "surrogates the wrong way round": (
            FORMAT_NAME,
            "MQMQ-2.1.2.prefix-reject",
            lambda: "\udc00\ud800DIRECT=OS:HOST\\q",
        ),
    }
)
REQUIREMENTS = tuple(dict.fromkeys(requirement_id(demand) for _, demand, _ in HOSTILE.values()))


def judge_hostile(name: str, mq: Port) -> tuple[Verdict, dict[str, Any]]:
    """Send one of HOSTILE; return the verdict and the answer for the story. Raises KeyError for another name."""
    form, demand, make = HOSTILE[name]
    seen = observe(mq.call("names.parse", text=make(), form=form))
    told = {"accepted": seen.accepted}
    outcome = Outcome.FAIL if seen.accepted else Outcome.PASS
    return Verdict(requirement_id(demand), outcome, f"hostile {form}: {name}", {"accepted": False}, told), told
