"""Creates and opens queues under names that must be refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from conformance.judge.names import NameObservation, judge_left_behind, judge_refused_creation, judge_refused_open
from conformance.spec.catalogue import requirement_id
from conformance.suites.names.checks import observe
from conformance.suites.names.spelling import LONGEST_QUEUE, PLAIN
from conformance.verdict import Outcome, Verdict

if TYPE_CHECKING:
    from conformance.harness.port import Port

Step = Callable[..., None]
PROBE = "mqconform-names"
OPENED = requirement_id("MQDMPR-3.1.7.1.5.success")
_FIXTURE_COMPUTER = "HOST\\"
_PRIVATE = "private$\\"


def local_path(text: str, computer: str) -> str:
    """Make a fixture's path name one of a private queue of `computer`; leave a text without the fixtures' computer.

    Public queues need a directory, and queues of other computers are refused as such, so neither would judge the name.
    """
    if not text.startswith(_FIXTURE_COMPUTER):
        return text
    queue = text.removeprefix(_FIXTURE_COMPUTER).removeprefix(_PRIVATE)
    return f"{computer}\\{_PRIVATE}{queue}"


def probe_queue(mq: Port, *, create: bool) -> bool:
    """Return True if a queue under a valid name can be opened. create: create it first."""
    path_name = f"{mq.hello.computer}\\{_PRIVATE}{PROBE}"
    if create and not mq.call("queues.create", path_name=path_name).ok:
        return False
    opened = mq.call("queues.open", format_name=f"DIRECT=OS:{path_name}", access="receive")
    if not opened.ok:
        return False
    mq.call("queues.close", queue=opened.values["queue"])
    return True


def alive(mq: Port) -> Verdict:
    """Judge that, after hostile names, the valid one still opens its queue."""
    opens = probe_queue(mq, create=False)
    subject = "open a valid name after malformed ones"
    return Verdict(OPENED, Outcome.PASS if opens else Outcome.FAIL, subject, {"accepted": True}, {"accepted": opens})


def create_and_judge(path_name: str, mq: Port, step: Step) -> list[Verdict]:
    """Create a queue under a malformed path name, then try to open queues that the attempt may have left."""
    created = _call(mq, step, f"create {path_name!r}", "queues.create", path_name=path_name)
    name = f"DIRECT=OS:{path_name}"
    opened = _call(mq, step, f"open {name!r}", "queues.open", format_name=name, access="receive")
    verdicts = judge_refused_creation(path_name, created, opened)
    for remnant in remnants(path_name, mq.hello.computer):
        name = f"DIRECT=OS:{remnant}"
        opened = _call(mq, step, f"open {name!r}", "queues.open", format_name=name, access="receive")
        verdicts.append(judge_left_behind(path_name, remnant, opened))
    return verdicts


def remnants(path_name: str, computer: str) -> list[str]:
    """Return the valid path names that a careless implementation may make of a malformed one of a private queue.

    The queue's name is cut at its limit, cut at the first invalid character, or stripped of invalid characters.
    """
    before = f"{computer}\\{_PRIVATE}"
    queue = path_name.removeprefix(before)
    if queue == path_name:
        return []
    plain = "".join(char for char in queue if char in PLAIN)
    first_bad = next((at for at, char in enumerate(queue) if char not in PLAIN), len(queue))
    made = dict.fromkeys((queue[:first_bad][:LONGEST_QUEUE], plain[:LONGEST_QUEUE]))
    return [f"{before}{name}" for name in made if name and name != queue]


def open_and_judge(format_name: str, access: str, demand: str, mq: Port, step: Step) -> list[Verdict]:
    """Open a name that must be refused by the requirement `demand`."""
    told = f"open {format_name!r} for {access}"
    opened = _call(mq, step, told, "queues.open", format_name=format_name, access=access)
    return judge_refused_open(format_name, access, opened, demand)


def _call(mq: Port, step: Step, told: str, method: str, **params: Any) -> NameObservation:
    result = mq.call(method, **params)
    seen = observe(result)
    step(told, {"method": method, "params": params}, seen.to_json())
    if result.ok and "queue" in result.values:
        mq.call("queues.close", queue=result.values["queue"])
    return seen
