"""Messages that no queue may take: what is wrong with them is told by a code, and nothing of them is there.

MS-MQMQ 2.4, MS-MQDMPR 3.1.1.12 (CorrelationIdentifier).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from conformance.spec.catalogue import requirement_id
from conformance.spec.constants.hresults import MQ_ERROR_ILLEGAL_PROPERTY_SIZE
from conformance.suites.properties.messages import EVERYTHING, Unopened, b64
from conformance.verdict import Json, Outcome, Verdict

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder

SIZE: Final = requirement_id("MQMQ-2.4.mq-error-illegal-property-size")
SIZES: Final = (1, 4, 16, 19, 21, 32, 40)  # bytes; a correlation identifier has 20
_REMOTE: Final = "DIRECT=TCP:192.0.2.7\\private$\\mqconform-refused"  # RFC 5737
_PLAIN: Final[dict[str, Any]] = {"body": b64(b"body")}


def wrong_sizes(mq: Port, judge: Recorder) -> None:
    """A correlation identifier of another size is refused: alone, with all else, in a transaction, and when sent on."""
    for wishes in (_PLAIN, dict(EVERYTHING)):
        _tried(mq, judge, _opened(mq, _created(mq, judge, "plain"), "send"), wishes)
    if mq.offers("transactions.begin"):
        queue = _created(mq, judge, "transactional", PROPID_Q_TRANSACTION=1)
        begun = mq.call("transactions.begin")
        if begun.ok:
            _tried(mq, judge, _opened(mq, queue, "send"), _PLAIN, transaction=begun.values["transaction"])
            mq.call("transactions.abort", transaction=begun.values["transaction"])
    if mq.hello.takes("format_names", "remote"):
        _tried(mq, judge, _opened(mq, _REMOTE, "send"), _PLAIN)


def _tried(mq: Port, judge: Recorder, handle: Any, message: dict[str, Any], **more: Any) -> None:
    right = {**message, "correlation_identifier": b64(bytes(range(20)))}
    if not mq.call("messages.send", queue=handle, message=right, **more).ok:
        raise Unopened("a message that is as it should be is refused")
    for size in SIZES:
        wrong = {**message, "correlation_identifier": b64(bytes(range(size)))}
        sent = mq.call("messages.send", queue=handle, message=wrong, **more)
        judge.step(f"send with a correlation identifier of {size} bytes", {"method": "messages.send"}, _told(sent))
        subject = f"correlation identifier of {size} bytes"
        wanted: Json = {"fails with": f"0x{MQ_ERROR_ILLEGAL_PROPERTY_SIZE:08X}"}
        right_code = not sent.ok and sent.status in (None, MQ_ERROR_ILLEGAL_PROPERTY_SIZE)
        judge.record(Verdict(SIZE, Outcome.PASS if right_code else Outcome.FAIL, subject, wanted, _told(sent)))


def _told(answer: Any) -> Json:
    if answer.status is None:
        return {"fails": not answer.ok}
    return {"fails": not answer.ok, "status": f"0x{answer.status:08X}"}


def _created(mq: Port, judge: Recorder, name: str, **properties: Json) -> str:
    path = f"{mq.hello.computer}\\private$\\mqconform-refused-{name}{mq.unique()}"
    made = mq.call("queues.create", path_name=path, properties=properties)
    judge.step(f"create a queue with {properties}", {"method": "queues.create"}, {"status": made.status})
    if not made.ok:
        raise Unopened("no queue could be created to send messages to")
    return str(made.values["format_name"])


def _opened(mq: Port, queue: str, access: str) -> Any:
    opened = mq.call("queues.open", format_name=queue, access=access)
    if not opened.ok:
        raise Unopened("no queue could be opened to send messages to")
    return opened.values["queue"]
