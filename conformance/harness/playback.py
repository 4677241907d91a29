"""Answer the calls of a stored example from its recording, in place of an implementation."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from conformance.adapter.errors import NotAccepted
from conformance.adapter.protocol import Hello
from conformance.adapter.session import Failure, Result
from conformance.harness.recorder import ConformanceFailure, Recorder
from conformance.harness.repro_files import EndedEarly, NotRepeatable, examples_of
from conformance.harness.suite_registry import suites
from conformance.harness.tape import key
from conformance.spec.catalogue import CatalogueError

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import RunOptions
    from conformance.verdict import Verdict

MAX_AHEAD = 64  # how many recorded calls ahead a call is looked for, if it is not the next


class NotStored(NotRepeatable):
    """Judging makes a call that the recording does not have, so there is no answer to it."""


class Clock:
    """Clock that follows the recorded times. Nothing waits for real."""

    def __init__(self) -> None:
        self._seconds = 0.0

    def monotonic(self) -> float:
        """Seconds since the example began."""
        return self._seconds

    def sleep(self, seconds: float) -> None:
        """Let time pass."""
        self._seconds += seconds


class Outstanding:
    """A recorded call that nobody waited for when it was made. See `conformance.harness.port.OpenCall`."""

    def __init__(self, method: str, number: int) -> None:
        self.method = method
        self.id = number
        self.done = False
        self.blocked = False
        self.indeterminate = False
        self._raw: Any = None

    def end(self, raw: Any) -> None:
        """Store the recorded answer. raw: a mapping, or the text of what the driver did not offer."""
        self._raw, self.done = raw, True

    def result(self, within_ms: int | None = None) -> Result:
        """Return the recorded answer. Raises NotStored if there is none."""
        if not self.done:
            raise NotStored(f"the recording has no answer to {self.method}")
        return _result(self._raw)


class Playback:
    """A `harness.port.Port` answered from a stored example."""

    def __init__(self, hello: Hello, before: Sequence[Mapping[str, Any]], ops: Sequence[Mapping[str, Any]]) -> None:
        """before, ops: as `conformance.harness.tape.Op` writes them."""
        self.hello = hello
        self.keeps_state = True
        self.time = Clock()
        self._before = list(before)
        self._ops = list(ops)
        self._open: dict[int, Outstanding] = {}

    @property
    def over(self) -> bool:
        """True once every recorded call has been made again."""
        return not self._ops

    def offers(self, method: str) -> bool:
        """See `conformance.adapter.client.Client.offers`."""
        return self.hello.offers(method)

    def need(self, kind: str, *names: str) -> None:
        """See `conformance.adapter.client.Client.need`."""
        for name in names:
            if not self.hello.takes(kind, name):
                raise NotAccepted(name, self.hello.name)

    def call(self, method: str, /, **params: Any) -> Result:
        """Return the recorded answer. Raises NotStored if this call was not recorded."""
        op = self._next(("call", "start"), method, params)
        if op is None:
            return Result(0, {}, None)
        if "refused" in op:
            raise NotAccepted(op["refused"], self.hello.name)
        if op["what"] == "start":
            call = Outstanding(method, op["request"])
            self._open[call.id] = call
            self._after(op)
            return call.result()
        self._after(op)
        return _result(op.get("result"))

    def start(self, method: str, /, **params: Any) -> Outstanding:
        """Return the recorded call as outstanding. Raises NotStored if it was not recorded, NotAccepted if refused."""
        op = self._next(("start",), method, params)
        if op is None or "refused" in op or "request" not in op:
            raise NotAccepted(str((op or {}).get("refused")), self.hello.name)
        call = Outstanding(method, op["request"])
        self._open[call.id] = call
        self._after(op)
        return call

    def wait_blocked_or_done(self, call: Outstanding, within_ms: int) -> bool:
        """Return True if the recording has the call answered or blocked by now."""
        return call.done or call.blocked

    def wait_done(self, call: Outstanding, within_ms: int) -> bool:
        """Return True if the recording has the call answered by now."""
        return call.done

    def poll(self, within_ms: int = 0) -> None:
        """Do nothing: recorded answers need no polling."""

    def told_events(self, within_ms: int = 0) -> list[dict[str, Any]]:
        """Return the recorded events."""
        return list((self._next(("events",), "", {}) or {}).get("result") or ())

    def directory(self, do: str, /, **params: Any) -> dict[str, Any]:
        """Return what the directory was recorded to have answered."""
        return dict((self._next(("directory",), do, params) or {}).get("result") or {})

    def restart(self, *, kill: bool) -> bool:
        """Return the recorded result of the restart. Calls in flight become indeterminate."""
        op = self._next(("restart",), "", {})
        for call in self._open.values():
            call.indeterminate = not call.done
        self._open.clear()
        return bool((op or {}).get("result"))

    def unique(self) -> str:
        """Return the recorded word."""
        return str((self._next(("unique",), "", {}) or {}).get("result", ""))

    def _next(self, kinds: tuple[str, ...], method: str, params: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """Take the recorded op of this call; None for an unrecorded reset. Raises NotStored for any other call."""
        wanted = json.loads(json.dumps(params))

        def fits(op: Mapping[str, Any]) -> bool:
            same = op["what"] in kinds and op.get("method", "") == method
            return same and op.get("params", {}) == wanted

        if self._ops and fits(self._ops[0]):
            return self._ops.pop(0)
        for number, op in enumerate(self._before):
            if fits(op):
                return self._before.pop(number)
        for number, op in enumerate(self._ops[:MAX_AHEAD]):
            if fits(op):
                return self._ops.pop(number)
        if method == "reset":
            return None
        raise NotStored(f"the recording has no call of {method or kinds[0]} with these parameters")

    def _after(self, op: Mapping[str, Any]) -> None:
        self.time.sleep(op.get("took_ms", 0.0) / 1000)
        for number in op.get("blocked", ()):
            if number in self._open:
                self._open[number].blocked = True
        for number, raw in op.get("ended", ()):
            if number in self._open:
                self._open.pop(number).end(raw)


def judge_example(stored: Mapping[str, Any], hello: Mapping[str, Any], options: RunOptions) -> list[Verdict]:
    """Judge a stored example (evidence `example` of a run record) with today's suites; return each verdict once.

    hello: the recorded hello of the implementation. Raises NotRepeatable, with the reason, if it cannot be judged.
    """
    counted: dict[Any, Verdict] = {}
    judge = Recorder(options, lambda verdict, count: counted.setdefault(key(verdict), verdict))
    try:
        repro = stored["repro"]
        playback = Playback(_hello(hello), stored["before"], stored["ops"])
        for verdict in _verdicts(str(stored["suite"]), repro, playback, options):
            judge.record(verdict)
    except ConformanceFailure as failure:
        judge.flush()
        return [*counted.values(), failure.verdict]
    except EndedEarly as end:
        if not playback.over:  # the recorded run went on from here
            raise
        judge.record(*end.verdicts)
    except NotAccepted as lacking:
        raise NotRepeatable(f"the implementation does not offer {lacking.what}") from None
    except CatalogueError as error:
        raise NotRepeatable(f"the example is of another version: {error}") from None
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        if isinstance(error, NotRepeatable):
            raise
        raise NotRepeatable(f"the stored example is damaged, or of another version ({type(error).__name__})") from None
    judge.flush()
    return list(counted.values())


def _verdicts(suite: str, repro: Mapping[str, Any], client: Port, options: RunOptions) -> Iterator[Verdict]:
    """Yield the verdicts one by one if the suite can: calls after a failure were not recorded."""
    if suite not in suites():
        raise NotRepeatable(f"there is no suite {suite} in this version")
    yield from examples_of(suite)(repro, client, options)


def _hello(raw: Mapping[str, Any]) -> Hello:
    return Hello.from_json({"protocol": "", **raw})


def _result(raw: Any) -> Result:
    if isinstance(raw, str):
        raise NotAccepted(raw, "the implementation")
    values = dict(raw)
    status, failure = values.pop("status"), values.pop("failure", None)
    return Result(status, values, None if failure is None else Failure(failure["kind"], failure["text"]))
