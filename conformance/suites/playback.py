"""A tape instead of an implementation: it answers what was asked then as it was answered then, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from conformance.adapter.errors import NotAccepted
from conformance.adapter.hello import Hello
from conformance.adapter.session import Failure, Result
from conformance.spec.catalogue import CatalogueError
from conformance.suites.judging import ConformanceFailure, Judge
from conformance.suites.registry import suites
from conformance.suites.rejudging import EndedEarly, NotRepeatable
from conformance.suites.taping import key

if TYPE_CHECKING:
    from conformance.suites.judging import RunOptions
    from conformance.verdict import Verdict

MAX_AHEAD = 64  # how far a call is looked for behind the one that should come next


class NotStored(NotRepeatable):
    """Judging asks for what nobody asked then, so that no answer is stored."""


class Clock:
    """Time as it passed then. Nothing is waited for."""

    def __init__(self) -> None:
        self._seconds = 0.0

    def monotonic(self) -> float:
        """Seconds since the example began."""
        return self._seconds

    def sleep(self, seconds: float) -> None:
        """Let time pass."""
        self._seconds += seconds


class Outstanding:
    """A call that was not waited for when it was made. See `conformance.adapter.client.Call`."""

    def __init__(self, method: str, number: int) -> None:
        self.method = method
        self.id = number
        self.done = False
        self.blocked = False
        self.indeterminate = False
        self._raw: Any = None

    def end(self, raw: Any) -> None:
        """It was answered so; a text is what could not be asked for."""
        self._raw, self.done = raw, True

    def result(self, within_ms: int | None = None) -> Result:
        """The answer. Raises NotStored where none came."""
        if not self.done:
            raise NotStored(f"{self.method} was not answered then")
        return _result(self._raw)


class Playback:
    """What suites ask of a client, answered from a stored example."""

    def __init__(self, hello: Hello, before: Sequence[Mapping[str, Any]], ops: Sequence[Mapping[str, Any]]) -> None:
        """before, ops: as `conformance.suites.taping.Op` writes them."""
        self.hello = hello
        self.epoch = 1
        self.keeps_state = True
        self.offers = hello.offers
        self.time = Clock()
        self._before = list(before)
        self._ops = list(ops)
        self._open: dict[int, Outstanding] = {}

    def __getattr__(self, name: str) -> Any:
        raise NotStored(f"judging asks for the client's {name}, which no tape has")

    @property
    def over(self) -> bool:
        """Whether all that was asked in the example has been asked again."""
        return not self._ops

    def need(self, kind: str, *names: str) -> None:
        """See `conformance.adapter.client.Client.need`."""
        for name in names:
            if not self.hello.takes(kind, name):
                raise NotAccepted(name, self.hello.name)

    def call(self, method: str, /, **params: Any) -> Result:
        """The answer then. Raises NotStored where this was not asked."""
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
        """The call as it was made then."""
        op = self._next(("start",), method, params)
        if op is None or "refused" in op or "request" not in op:
            raise NotAccepted(str((op or {}).get("refused")), self.hello.name)
        call = Outstanding(method, op["request"])
        self._open[call.id] = call
        self._after(op)
        return call

    def wait_blocked_or_done(self, call: Outstanding, within_ms: int) -> bool:
        """Whether it was."""
        return call.done or call.blocked

    def wait_done(self, call: Outstanding, within_ms: int) -> bool:
        """Whether it was."""
        return call.done

    def poll(self, within_ms: int = 0) -> None:
        """What came is known."""

    def restart(self, *, kill: bool) -> bool:
        """Calls in flight are answered by nobody any more."""
        op = self._next(("restart",), "", {})
        for call in self._open.values():
            call.indeterminate = not call.done
        self._open.clear()
        self.epoch += 1
        return bool((op or {}).get("result"))

    def unique(self) -> str:
        """The word that was used then."""
        return str((self._next(("unique",), "", {}) or {}).get("result", ""))

    def _next(self, kinds: tuple[str, ...], method: str, params: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """The op that was this; None for a reset that needs no answer. Raises NotStored where there was none."""
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
        raise NotStored(f"{method or kinds[0]} was not asked then, or not so")

    def _after(self, op: Mapping[str, Any]) -> None:
        self.time.sleep(op.get("took_ms", 0.0) / 1000)
        for number in op.get("blocked", ()):
            if number in self._open:
                self._open[number].blocked = True
        for number, raw in op.get("ended", ()):
            if number in self._open:
                self._open.pop(number).end(raw)


def judge_example(stored: Mapping[str, Any], hello: Mapping[str, Any], options: RunOptions) -> list[Verdict]:
    """What today's suites say of a stored example (evidence `example` of a run record), each verdict once.

    hello: what the implementation said of itself. Raises NotRepeatable, with the reason, where it cannot be judged.
    """
    counted: dict[Any, Verdict] = {}
    judge = Judge(options, lambda verdict, count: counted.setdefault(key(verdict), verdict))
    try:
        repro = stored["repro"]
        playback = Playback(_hello(hello), stored["before"], stored["ops"])
        for verdict in _verdicts(str(stored["suite"]), repro, playback, options):
            judge.record(verdict)
    except ConformanceFailure as failure:
        judge.flush()
        return [*counted.values(), failure.verdict]
    except EndedEarly as end:
        if not playback.over:  # then it went on
            raise
        judge.record(*end.verdicts)
    except NotAccepted as lacking:
        raise NotRepeatable(f"the implementation could not be asked for {lacking.what}") from None
    except CatalogueError as error:
        raise NotRepeatable(f"the example is of another version: {error}") from None
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        if isinstance(error, NotRepeatable):
            raise
        raise NotRepeatable(f"the stored example is damaged, or of another version ({type(error).__name__})") from None
    judge.flush()
    return list(counted.values())


def _verdicts(suite: str, repro: Mapping[str, Any], client: Any, options: RunOptions) -> Iterator[Verdict]:
    """One by one where the suite can: what comes behind a failure was not asked for then."""
    if suite not in suites():
        raise NotRepeatable(f"there is no suite {suite} in this version")
    module = import_module(f"conformance.suites.{suite}.rejudge")
    each = getattr(module, "each", None) or module.rejudge
    yield from each(repro, client, options)


def _hello(raw: Mapping[str, Any]) -> Hello:
    return Hello.from_json({"protocol": "", **raw})


def _result(raw: Any) -> Result:
    if isinstance(raw, str):
        raise NotAccepted(raw, "the implementation")
    values = dict(raw)
    status, failure = values.pop("status"), values.pop("failure", None)
    return Result(status, values, None if failure is None else Failure(failure["kind"], failure["text"]))
