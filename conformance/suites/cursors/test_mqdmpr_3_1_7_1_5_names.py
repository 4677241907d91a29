"""Opening a queue by name: the names that must be refused, with their status (MS-MQDMPR 3.1.7.1.5)."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any, Final

import pytest

from conformance.histories.examples import NEEDS, begin, peek, receive, send
from conformance.model import Call
from conformance.spec.constants import hresults
from conformance.suites.cursors.rejudge import ELSEWHERE, KIND, SECTION, holds_or_fails, judge_open, opened

_OPERATION = hresults.MQ_ERROR_UNSUPPORTED_FORMATNAME_OPERATION
_MISSING = hresults.MQ_ERROR_QUEUE_NOT_FOUND


@dataclass(frozen=True)
class Refused:
    """An open that must fail. name: may hold `{computer}` and `{manager}`, replaced by the implementation's own."""

    name: str
    access: str
    word: str
    code: int

    @property
    def kind(self) -> str | None:
        """The kind of format name that a driver must accept; None if all drivers do."""
        start = self.name.partition("=")[0].lower()
        if start == "direct":
            return "http" if "HTTP" in self.name else None
        return start


REFUSED: Final = (
    Refused("DIRECT=HTTP://{computer}/msmq/private$/mqconform-q1", "receive", "http-access", _OPERATION),
    Refused("DIRECT=HTTP://{computer}/msmq/private$/mqconform-q1", "peek", "http-access", _OPERATION),
    Refused("DIRECT=HTTPS://{computer}/msmq/private$/mqconform-q1", "receive", "http-access", _OPERATION),
    Refused("MACHINE={manager};JOURNAL", "send", "machine-access", _OPERATION),
    Refused("MACHINE={manager};DEADLETTER", "send", "machine-access", _OPERATION),
    Refused("MULTICAST=234.1.1.1:8001", "receive", "multicast-access", _OPERATION),
    Refused("MULTICAST=234.1.1.1:8001", "peek", "multicast-access", _OPERATION),
    Refused("DIRECT=OS:{computer}\\private$\\mqconform-none", "send", "not-found-send", _MISSING),
    Refused("DIRECT=OS:{computer}\\private$\\mqconform-none", "receive", "not-found", _MISSING),
    Refused("DIRECT=OS:{computer}\\private$\\mqconform-none", "peek", "not-found", _MISSING),
    Refused("PRIVATE={manager}\\0fffffff", "send", "private-not-found", _MISSING),
    Refused("PRIVATE={manager}\\0fffffff", "receive", "private-not-found", _MISSING),
)


def _param(case: Refused) -> Any:
    mark = pytest.mark.requirement(f"{SECTION}.{case.word}", f"{SECTION}.{case.word}-code")
    return pytest.param(case, marks=mark, id=f"{case.word}-{case.access}-{case.name.partition('=')[0]}")


@pytest.mark.parametrize("case", [_param(case) for case in REFUSED])
def test_a_name_that_cannot_be_opened_so(mq: Any, judge: Any, mq_need: Any, case: Refused) -> None:
    mq_need("queues.open")
    if "{manager}" in case.name and not mq.hello.queue_manager:
        pytest.skip("the driver does not tell the identifier of its queue manager")
    if case.kind is not None:
        mq.need("format_names", case.kind)
    example = {"name": case.name, "access": case.access, "word": case.word, "code": case.code}
    judge.begin_example(KIND, example)
    for verdict in judge_open(mq, judge.step, example, judge.readings):
        judge.record(verdict)


@pytest.mark.requirement("MQDMPR-3.1.7.1.5.remote-send")
def test_a_queue_of_another_computer_is_opened_without_asking(mq: Any, judge: Any, mq_need: Any) -> None:
    mq_need("queues.open")
    mq.need("format_names", "remote")
    example = {"name": ELSEWHERE, "access": "send"}
    judge.begin_example(KIND, example)
    judge.record(*judge_open(mq, judge.step, example, judge.readings))


@pytest.mark.parametrize("spelling", ["DIRECT=OS:", "direct=os:", "Direct=Os:"])
@pytest.mark.requirement("MQDMPR-3.1.7.1.5.format-name-matches")
def test_every_spelling_of_a_name_opens_the_same_queue(mq: Any, judge: Any, mq_need: Any, spelling: str) -> None:
    mq_need(*NEEDS)
    history = begin(mq, judge, mq_need)
    name = f"{spelling}{mq.hello.computer}\\private$\\mqconform-q1{history.driving.handles.own}"
    history.run(send("a"))
    judge.untold()
    result = opened(mq, judge.step, name, "receive")
    seen = None
    if result.ok:
        read = mq.call("messages.receive", queue=result.values["queue"], timeout_ms=0)
        seen = base64.b64decode((read.values.get("message") or {}).get("body", "")).decode("ascii", "replace")
    judge.record(holds_or_fails(f"{SECTION}.format-name-matches", seen == "a", "message 'a'", seen))


@pytest.mark.requirement(f"{SECTION}.not-found", f"{SECTION}.not-found-code")
def test_a_name_that_continues_another_one(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need, "queues.delete")
    history.run(Call("queues.open", name="h1", queue="q1x", access="receive"))
    history.run(Call("queues.create", queue="q1x"), Call("queues.delete", queue="q1"))
    history.run(Call("queues.open", name="h2", queue="q1", access="receive"))
    history.run(Call("queues.open", name="h3", queue="q1x", access="receive"))


@pytest.mark.requirement(
    "MQDMPR-3.1.7.1.5.exclusive-peek-then-receive", "MQDMPR-3.1.7.1.5.exclusive-peek-then-receive-code"
)
def test_a_peek_for_oneself_keeps_receivers_away(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need, "queues.close", "messages.peek")
    history.run(
        Call("queues.close", handle="r"), Call("queues.open", name="x", queue="q1", access="peek", share="deny_receive")
    )
    history.run(Call("queues.open", name="h1", queue="q1", access="receive"), Call("queues.close", handle="x"))
    history.run(Call("queues.open", name="h2", queue="q1", access="receive", share="deny_receive"))


@pytest.mark.requirement(
    "MQDMPR-3.1.1.17.peek-access-no-send",
    "MQDMPR-3.1.1.17.peek-access-no-purge",
    "MQDMPR-3.1.1.17.send-access-no-purge",
)
def test_what_a_handle_is_not_for(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need, "messages.peek", "queues.purge")
    history.run(Call("queues.open", name="p", queue="q1", access="peek"), send("a"))
    history.run(Call("messages.peek", handle="p"), Call("messages.send", message="b", handle="p"), peek(), peek())
    history.run(Call("queues.purge", handle="p"), Call("queues.purge", handle="s"), peek(), receive(), receive())


@pytest.mark.requirement("MQDMPR-3.1.7.1.7.other-queues-kept")
def test_a_purge_leaves_other_queues_alone(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need, "messages.peek", "queues.purge")
    history.run(Call("queues.create", queue="q2"), Call("queues.open", name="r2", queue="q2", access="receive"))
    history.run(send("a"), peek(), peek(), Call("queues.purge", handle="r2"), receive())


@pytest.mark.requirement("MQDMPR-3.1.7.1.6.deleted-queue")
def test_closing_a_handle_whose_queue_is_gone(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need, "messages.peek", "queues.delete", "queues.close")
    history.run(Call("queues.create", queue="q2"), Call("queues.open", name="r2", queue="q2", access="receive"))
    history.run(send("a"), peek(), peek(), Call("queues.delete", queue="q2"))
    history.run(Call("queues.close", handle="r2"), receive())
