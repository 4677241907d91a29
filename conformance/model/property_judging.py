"""Creating queues, also with quotas, journals and properties; setting and getting properties, and what answers say."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Final, TypeAlias

from conformance.model import outgoing, queues
from conformance.model.calls import Answer, BadCall, Call
from conformance.model.expected import Either, Expected, Fails, Succeeds
from conformance.model.journal_copies import with_kept
from conformance.model.journals import (
    ELSEWHERE,
    SYSTEM_QUEUES,
    UNLIMITED,
    Keeping,
    attributes_of,
    copy_name,
    is_kept,
    is_remote,
    journal_of,
)
from conformance.model.properties import NO_GUID, ROWS, Problem, PropertyRow, same
from conformance.model.property_refusals import (
    CREATE,
    GET,
    SET,
    by_reading,
    coded,
    demand_of,
    equal,
    must_fail,
    must_succeed,
    problems,
    refusal,
    unknown,
)
from conformance.model.rules import BASE_PRIORITY, SEND_TO_SUBQUEUE, Rules
from conformance.model.state import Handle, Known, Position, Properties, Queue, QueueProperties, State, TimeRanges
from conformance.model.tables import PositionState
from conformance.model.values import replace
from conformance.spec.catalogue import requirement_id
from conformance.spec.constants import hresults
from conformance.verdict import Json, Verdict

_OPEN = "MQDMPR-3.1.7.1.5"


def create(rules: Rules, state: State, call: Call) -> Iterator[Expected]:
    """Create Queue. With journaling or a quota, the model starts to track journals and quotas."""
    for expected in queues.create(rules, state, call):
        queue = expected.next.queues.get(call.queue or "")
        place = journal_of(call.queue or "")
        known = place in expected.next.queues  # of an earlier queue of this name
        if queue is None or isinstance(expected.result, Fails) or (queue.attributes is None and not known):
            yield expected
            continue
        after = replace(expected.next, keeping=expected.next.keeping or Keeping())
        yield replace(expected, next=_with_new_journal(after, place))


def _with_new_journal(state: State, place: str) -> State:
    """Give a new queue a new, empty journal, whatever an earlier queue of its name had in its journal.

    Under the reading that the old journal outlived its queue, no section says what a handle on it is still good for:
    the state drops such handles.
    """
    old = state.queues.get(place)
    if old is None:
        return with_kept(state, place)
    if any(waiter.queue == place for waiter in state.waiters):
        raise BadCall("no section says what becomes of a read that waits on the journal of an earlier queue")
    claim = "MQDMPR-3.1.7.1.3.journal-queue"
    gone = (replace(item, state=PositionState.DELETED, claim=claim, doubtful=False) for item in old.positions)
    handles = {name: handle for name, handle in state.handles.items() if handle.queue != place or handle.lost}
    return replace(state, handles=handles).put(replace(old, exists=True, positions=tuple(gone)))


def open_queue(rules: Rules, state: State, call: Call) -> Iterable[Expected]:
    """Open Queue."""
    name = call.queue or ""
    if "," in name:
        return _open_several(state, call, name.split(","))
    if name == ELSEWHERE:
        return (_open_elsewhere(state, call),)
    if is_remote(name):
        return (outgoing.open_remote(state, call),)
    return _open_kept(rules, state, call, name) if is_kept(name) else queues.open_queue(rules, state, call)


def _open_kept(rules: Rules, state: State, call: Call, name: str) -> Iterator[Expected]:
    base = name.partition(";")[0]
    if name not in SYSTEM_QUEUES and (base not in state.queues or not state.queues[base].exists):
        raise BadCall(f"no queue {base} to have a journal")
    if name in state.queues and state.queues[name].find(copy_name("used", name)) is not None:
        raise BadCall(f"what the harness has left in {name} by using the queue is not known")
    state = with_kept(replace(state, keeping=state.keeping or Keeping()), name)
    if call.access not in ("send", "move"):
        for expected in queues.open_queue(rules, state, call):
            own = isinstance(expected.result, Succeeds) and name not in SYSTEM_QUEUES
            yield replace(expected, requirement="MQDMPR-3.1.7.1.3.journal-queue") if own else expected
        return
    must = f"MQMP-3.1.4.17.{'system' if name in SYSTEM_QUEUES else 'journal'}-send-access"
    for alternative in rules.accepted(state, SEND_TO_SUBQUEUE):
        readings = ((SEND_TO_SUBQUEUE, alternative),)
        if alternative == "refused":
            yield Expected(Fails(must), must, state, readings=readings)
        else:
            opened = state.put(Handle(queues.named(call.name), name, call.access or "send", "deny_none"))
            yield Expected(Succeeds(), must, opened, readings=readings)


def _open_elsewhere(state: State, call: Call) -> Expected:
    """Open a queue of another computer for send, which succeeds even if the computer cannot be reached."""
    if call.access != "send":
        raise BadCall("a queue elsewhere is only sent to")
    state = replace(state, keeping=state.keeping or Keeping())
    state = state.put(Queue(ELSEWHERE, transactional=False)) if ELSEWHERE not in state.queues else state
    opened = state.put(Handle(queues.named(call.name), ELSEWHERE, "send", "deny_none"))
    return Expected(Succeeds(), f"{_OPEN}.success", opened)


def _open_several(state: State, call: Call, names: list[str]) -> Iterator[Expected]:
    """Open a multiple-element name: only for send, only shared, and only if every element can be opened."""
    state = replace(state, keeping=state.keeping or Keeping())
    if call.access != "send":
        must = f"{_OPEN}.multiple-element-access"
        code = (hresults.MQ_ERROR_UNSUPPORTED_FORMATNAME_OPERATION,)
        yield Expected(Fails(must, f"{must}-code", code), must, state)
        return
    if call.share == "deny_receive":
        must = f"{_OPEN}.multiple-element-share"
        code = (hresults.MQ_ERROR_UNSUPPORTED_ACCESS_MODE,)
        yield Expected(Fails(must, f"{must}-code", code), must, state)
        return
    missing = [name for name in names if name not in state.queues or not state.queues[name].exists]
    if missing:
        must = f"{_OPEN}.multiple-element-failed-element"
        code = (hresults.MQ_ERROR_QUEUE_NOT_FOUND,)
        status = f"{_OPEN}.multiple-element-status"
        yield Expected(Fails(must, status, code), must, state)
        return
    whole = ",".join(names)
    transactional = state.queues[names[0]].transactional
    state = state.put(Queue(whole, transactional)).put(Handle(queues.named(call.name), whole, "send", "deny_none"))
    yield Expected(Succeeds(), f"{_OPEN}.multiple-element-success", state)


GET_SUCCEEDS = requirement_id("MQMP-3.1.4.9.get")
SET_SUCCEEDS = requirement_id("MQMP-3.1.4.10.set")
CREATED = requirement_id("MQDMPR-3.1.7.1.3.success")
RETURNED = requirement_id("MQDMPR-3.1.7.1.3.returned")
PRIVATE_TYPE = requirement_id("MQDMPR-3.1.7.1.3.private-type")
PRIVATE_NUMBER = requirement_id("MQDMPR-3.1.7.1.3.private-queue-number")
SCOPE = requirement_id("MQDMPR-3.1.1.2.scope-enterprise")
EXISTS = requirement_id("MQMP-3.1.4.5.queue-exists")
EXISTS_CODE = requirement_id("MQMP-3.1.4.5.queue-exists-code")
UNALTERED = requirement_id("MQMP-3.1.4.5.existing-queue-unaltered")
NO_QUEUE = requirement_id("MQMP-3.1.4.5.refused-no-queue")
NO_QUEUE_TO_GET = requirement_id("MQMP-3.1.4.9.unknown-queue")
NO_QUEUE_TO_SET = requirement_id("MQMP-3.1.4.10.unknown-queue")
EVERY = requirement_id("MQMP-3.1.4.10.every-property")
UNCHANGED = requirement_id("MQMP-3.1.4.10.others-unchanged")
REFUSED_UNCHANGED = requirement_id("MQMP-3.1.4.10.refused-unchanged")
UNSETTABLE = requirement_id("MQMP-3.1.1.12.set-not-applicable-unchanged")
PERSISTENT = requirement_id("MQDMPR-3.1.1.2.private-attributes-persistent")
IDENTIFIER = requirement_id("MQDMPR-3.1.1.identifier-unique")
PATH_NAME = requirement_id("MQDMPR-3.1.7.1.3.attribute-pathname")
QUALIFIED = requirement_id("MQDMPR-3.1.7.1.3.qualified-pathname")
DNS_PATH_NAME = requirement_id("MQMQ-2.3.1.22.path-name")
CREATE_TIME = requirement_id("MQDMPR-3.1.7.1.3.create-time")
NEW_MODIFY_TIME = requirement_id("MQDMPR-3.1.7.1.3.modify-time")
MODIFY_TIME = requirement_id("MQDMPR-3.1.1.2.modify-time")

_DNS_PATH = re.compile(r"[^\W_]([\w-]*\w)?(\.[^\W_]([\w-]*\w)?)*\\(private\$\\)?[^\\;]+\Z", re.IGNORECASE)
_IP_ADDRESS = re.compile(r"\d+(\.\d+){3}\\")
_INSTANCE, _PATHNAME, _QMID = "PROPID_Q_INSTANCE", "PROPID_Q_PATHNAME", "PROPID_Q_QMID"
_TIMES = ("PROPID_Q_CREATE_TIME", "PROPID_Q_MODIFY_TIME")
_COPY = "MQMQ-2.3.1.4.journal-copy"
_JOURNAL, _QUOTA, _JOURNAL_QUOTA = "PROPID_Q_JOURNAL", "PROPID_Q_QUOTA", "PROPID_Q_JOURNAL_QUOTA"
_TRANSACTION = "PROPID_Q_TRANSACTION"
PropertiesJudged: TypeAlias = tuple[State, list[Verdict]]


def written_properties(call: Call) -> dict[str, Json]:
    """The properties that a creation or setting writes."""
    found: dict[str, Json] = {}
    if call.transactional:
        found[_TRANSACTION] = 1
    if call.journaling:
        found[_JOURNAL] = 1
    if call.quota_kb is not None:
        found[_QUOTA] = call.quota_kb
    if call.journal_quota_kb is not None:
        found[_JOURNAL_QUOTA] = call.journal_quota_kb
    return found | dict(call.values or ())


def create_with_properties(rules: Rules, state: State, call: Call) -> Iterable[Expected]:
    """Create Queue: with properties, or where they are judged; any other is left to `create_queue`."""
    if state.properties is None and not call.values:
        return create(rules, state, call)
    watched = _watched(state)
    found = problems(CREATE, written_properties(call))
    there = (call.queue or "") in _slice(watched).queues
    demand = EXISTS if there else demand_of(found) if found else CREATED
    return (Expected(Either(), demand, watched),)


def set_properties(rules: Rules, state: State, call: Call) -> Iterator[Expected]:
    """Set the properties of a queue."""
    if not call.values:
        raise BadCall("no properties to set")
    watched = _watched(state)
    found = problems(SET, written_properties(call))
    there = (call.queue or "") in _slice(watched).queues
    yield Expected(Either(), NO_QUEUE_TO_SET if not there else demand_of(found) if found else SET_SUCCEEDS, watched)


def get_properties(rules: Rules, state: State, call: Call) -> Iterator[Expected]:
    """Get properties of a queue."""
    if not call.names:
        raise BadCall("no properties to get")
    watched = _watched(state)
    properties = _slice(watched)
    queue, lacking = properties.queues.get(call.queue or ""), unknown(call.names)
    if queue is None:
        yield Expected(Either(), properties.gone.get(call.queue or "", NO_QUEUE_TO_GET), watched)
        return
    shows = (
        () if lacking else tuple(dict.fromkeys(queue.known[name].demand for name in call.names if name in queue.known))
    )
    yield Expected(Either(), demand_of(lacking) if lacking else GET_SUCCEEDS, watched, shows)


def watch(rules: Rules, state: State, call: Call) -> Iterator[Expected]:
    """From now on the properties of queues are judged; nothing is asked of the implementation."""
    properties = replace(_slice(_watched(state)), shown=call.names or ())
    yield Expected(Either(), "", replace(state, properties=properties))


def use(rules: Rules, state: State, call: Call) -> Iterator[Expected]:
    """A message is sent to a queue and received. What becomes of it is judged where messages are."""
    queue = state.queues.get(call.queue or "")
    if queue is None or not queue.exists:
        raise BadCall(f"no queue {call.queue} to use")
    if queue.attributes is not None and queue.attributes.journaling:  # the use may have left a copy
        place = journal_of(queue.name)
        copy = copy_name("used", place)
        left = Position(copy, (4, state.events), PositionState.AVAILABLE, _COPY, state.events, False, doubtful=True)
        state = with_kept(replace(state, keeping=state.keeping or Keeping()), place).with_position(place, left)
    yield Expected(Either(), "", state)


def noted(call: Call, expected: Expected) -> Expected:
    """The outcome of any call, with what it does to the properties of queues; they are judged."""
    properties = _slice(expected.next)
    if call.method == "restart":
        after = properties.blaming(PERSISTENT).to_read(*sorted(properties.queues))
    elif call.method == "queues.delete" and not isinstance(expected.result, Fails):
        name = call.queue or ""
        after = properties.without(name, NO_QUEUE_TO_GET).to_read(name)
    else:
        return expected
    return replace(expected, next=replace(expected.next, properties=after))


def properties_judged(rules: Rules, state: State, call: Call, answer: Answer) -> PropertiesJudged:
    """The state after an answer, and the verdicts on it. call: one of TELLING; the properties are judged."""
    return TELLING[call.method](rules, state, call, answer)


def _slice(state: State) -> Properties:
    assert state.properties is not None
    return state.properties


def _watched(state: State) -> State:
    """The state with properties judged, if only from now on: what there is then has what its creation gave it."""
    if state.properties is not None:
        return state
    queues = {
        queue.name: _defaults(_given_before(queue))
        for queue in state.queues.values()
        if queue.exists and queue.parent is None and queue.outgoing is None and not is_kept(queue.name)
    }
    return replace(state, properties=Properties(queues=queues))


def _given_before(queue: Queue) -> dict[str, Json]:
    found: dict[str, Json] = {_TRANSACTION: 1} if queue.transactional else {}
    attributes = queue.attributes
    if attributes is not None:
        found |= {_JOURNAL: 1} if attributes.journaling else {}
        found |= {_QUOTA: attributes.quota // 1024} if attributes.quota is not None else {}
        found |= {_JOURNAL_QUOTA: attributes.journal_quota // 1024} if attributes.journal_quota is not None else {}
    return found


def _defaults(values: Mapping[str, Json]) -> QueueProperties:
    known: dict[str, Known] = {}
    for name, row in ROWS.items():
        if name in values and row.given is not None:
            known[name] = Known(values[name], row.given, values[name])
        elif row.default is not None:
            known[name] = Known(row.default[0], row.default[1], row.default[0])
    return QueueProperties(known, (), (), NEW_MODIFY_TIME)


def _created(rules: Rules, state: State, call: Call, answer: Answer) -> PropertiesJudged:
    name, subject, properties = call.queue or "", f"create {call.queue}", _slice(state).to_read(call.queue or "")
    found = problems(CREATE, written_properties(call))
    verdicts = list(_named(properties, name, answer))
    if name in properties.queues:
        verdicts.append(must_fail(EXISTS, subject, answer))
        if answer.failed and not found:
            verdicts.append(coded(EXISTS_CODE, subject, answer, (hresults.MQ_ERROR_QUEUE_EXISTS,)))
        unaltered = properties.queues[name].blaming(UNALTERED)
        return replace(state, properties=properties.having(name, unaltered)), verdicts
    if found:
        verdicts += refusal(rules, subject, found, answer)
        if answer.failed:
            return replace(state, properties=properties.without(name, NO_QUEUE)), verdicts
    else:
        verdicts.append(must_succeed(CREATED, subject, answer))
    if answer.failed:
        return replace(state, properties=properties), verdicts
    bad = {each for each, _, _ in found}
    values = {each: written for each, written in written_properties(call).items() if each not in bad}
    after = _with_created(rules, replace(state, properties=properties), call, values)
    return replace(after, properties=properties.having(name, _new(properties, values, answer))), verdicts


def _named(properties: Properties, queue: str, answer: Answer) -> Iterator[Verdict]:
    """The name of a new queue: its own, of a private queue, and where it shows a number, with one of its own."""
    name = answer.values.get("format_name")
    if answer.failed or not isinstance(name, str):
        return
    others = [(each.format_name or "").casefold() for other, each in properties.queues.items() if other != queue]
    kind, taken = name.partition("=")[0].casefold(), name.casefold() in others
    demands = {PRIVATE_TYPE: kind != "public", RETURNED: not taken}
    if kind == "private":
        demands = {PRIVATE_TYPE: True, PRIVATE_NUMBER: not taken}
    for demand, holds in demands.items():
        yield equal(demand, f"create {queue}", holds, {"a private queue's own": True}, name)


def _with_created(rules: Rules, state: State, call: Call, values: Mapping[str, Json]) -> State:
    """The state with the queue made, to send to and to receive from as these properties say."""
    quota, journal_quota = values.get(_QUOTA), values.get(_JOURNAL_QUOTA)
    plain = Call(
        CREATE,
        queue=call.queue,
        transactional=values.get(_TRANSACTION) == 1,
        journaling=values.get(_JOURNAL) == 1,
        quota_kb=quota if isinstance(quota, int) and quota != UNLIMITED else None,
        journal_quota_kb=journal_quota if isinstance(journal_quota, int) and journal_quota != UNLIMITED else None,
    )
    return next(iter(create(rules, state, plain))).next


def _new(properties: Properties, values: Mapping[str, Json], answer: Answer) -> QueueProperties:
    made = _defaults(values)
    known = dict(made.known)
    path, name = answer.values.get("path_name"), answer.values.get("format_name")
    if path is not None:
        known[_PATHNAME] = Known(path, PATH_NAME, instead=((_public(str(path)), PRIVATE_TYPE),))
    if properties.queue_manager is not None:
        known[_QMID] = Known(properties.queue_manager, ROWS[_QMID].shown)
    now = _times(answer)
    return replace(made, known=known, created=now, modified=now, format_name=name if isinstance(name, str) else None)


def _public(path: str) -> str:
    """Return the path name that a public queue of this name has."""
    return re.sub(r"\\private\$\\", r"\\", path, flags=re.IGNORECASE)


def _set(rules: Rules, state: State, call: Call, answer: Answer) -> PropertiesJudged:
    values, name = written_properties(call), call.queue or ""
    subject = f"set {', '.join(values)} of {name}"
    properties = _slice(state)
    properties = properties.to_read(name, *sorted(properties.queues))
    queue = properties.queues.get(name)
    if queue is None:
        return replace(state, properties=properties), [must_fail(NO_QUEUE_TO_SET, subject, answer)]
    found = problems(SET, values)
    verdicts = refusal(rules, subject, found, answer) if found else [must_succeed(SET_SUCCEEDS, subject, answer)]
    unsettable = [each for each, problem, _ in found if problem is Problem.NOT_APPLICABLE]
    if answer.failed:
        unchanged = queue.blaming(REFUSED_UNCHANGED).blaming(UNSETTABLE, unsettable)
        return replace(state, properties=properties.having(name, unchanged)), verdicts
    bad = {each for each, _, _ in found}
    written = {each: value for each, value in values.items() if each not in bad}
    after = _written(queue.blaming(UNCHANGED).blaming(UNSETTABLE, unsettable), queue, written, answer)
    others = {other: each.blaming(UNCHANGED) for other, each in properties.queues.items()}
    state = replace(state, properties=replace(properties, queues={**others, name: after}))
    return _with_attributes(state, name, after), verdicts


def _written(
    after: QueueProperties, before: QueueProperties, written: Mapping[str, Json], answer: Answer
) -> QueueProperties:
    known = dict(after.known)
    changed = False
    for name, value in written.items():
        row, old = ROWS[name], before.known[name]
        changed = changed or not same(row, old.value, value)
        known[name] = Known(value, row.blamed(value), value, ((old.value, EVERY),) if len(written) > 1 else ())
    now = _times(answer)
    sure = changed and set(written) - {"PROPID_Q_BASEPRIORITY"}
    modified = now if sure or not now or not before.modified else (*before.modified, *now)
    return replace(after, known=known, modified=modified, timed=MODIFY_TIME)


def _with_attributes(state: State, name: str, queue: QueueProperties) -> State:
    """The state with the journaling and the quotas of a queue as they are now."""
    old = state.queues.get(name)
    known = {each: queue.known[each].value for each in (_JOURNAL, _QUOTA, _JOURNAL_QUOTA)}
    quota, journal_quota = known[_QUOTA], known[_JOURNAL_QUOTA]
    new = attributes_of(
        known[_JOURNAL] == 1,
        quota if isinstance(quota, int) and quota != UNLIMITED else None,
        journal_quota if isinstance(journal_quota, int) and journal_quota != UNLIMITED else None,
    )
    if old is None or new == old.attributes:
        return state
    state = replace(state, keeping=state.keeping or Keeping())
    was, now = (each is not None and each.journaling for each in (old.attributes, new))
    switches = old.switches if was is now else (*old.switches, state.events)
    return with_kept(state.put(replace(old, attributes=new, switches=switches)), journal_of(name))


def _got(rules: Rules, state: State, call: Call, answer: Answer) -> PropertiesJudged:
    name = call.queue or ""
    subject, properties = f"get of {name}", _slice(state)
    queue = properties.queues.get(name)
    if queue is None:
        demand = properties.gone.get(name, NO_QUEUE_TO_GET)
        return replace(state, properties=properties.read(name)), [must_fail(demand, subject, answer)]
    lacking = unknown(call.names or ())
    if lacking:
        return state, refusal(rules, subject, lacking, answer)
    if set(properties.shown) <= set(call.names or ()):
        properties = properties.read(name)
    verdicts = [must_succeed(GET_SUCCEEDS, subject, answer)]
    if answer.failed:
        return replace(state, properties=properties), verdicts
    values = answer.values.get("properties")
    values = values if isinstance(values, dict) else {}
    known = dict(queue.known)
    for each in call.names or ():
        if each not in values:
            verdicts.append(equal(GET_SUCCEEDS, subject, False, {"gives": each}, sorted(values)))
            continue
        verdicts += _value(rules, ROWS[each], queue, f"{each} of {name}", values[each])
        if each == _INSTANCE:
            verdicts.append(_own(properties, name, values[each]))
            verdicts.append(_new_one(properties, name, values[each]))
        known.setdefault(each, Known(values[each], ROWS[each].shown))  # what is the manager's to choose stays so
    return replace(state, properties=properties.having(name, replace(queue, known=known))), verdicts


def _own(properties: Properties, queue: str, value: Json) -> Verdict:
    """The GUID of a queue is no other queue's, unless it has none."""
    others = [
        each.known[_INSTANCE].value
        for name, each in properties.queues.items()
        if name != queue and _INSTANCE in each.known
    ]
    subject, row = f"{_INSTANCE} of {queue}", ROWS[_INSTANCE]
    taken = value != NO_GUID and any(same(row, other, value) for other in others)
    return equal(IDENTIFIER, subject, not taken, "a GUID of its own", value)


def _new_one(properties: Properties, queue: str, value: Json) -> Verdict:
    """The GUID of a queue was no earlier queue's, not of one of its name either."""
    taken = value != NO_GUID and str(value).casefold() in properties.former
    return equal(ROWS[_INSTANCE].shown, f"{_INSTANCE} of {queue}", not taken, "a GUID that no queue had", value)


def _value(rules: Rules, row: PropertyRow, queue: QueueProperties, subject: str, value: Json) -> Iterator[Verdict]:
    fits = row.kind.holds(value) or (value is None and row.nothing)
    yield equal(row.shown, subject, fits, {"type": row.kind.name}, value)
    if row.among is not None:
        yield equal(row.among, subject, value in row.values, {"one of": list(row.values)}, value)
    if row.name in _TIMES:
        created = row.name == _TIMES[0]
        times, demand = (queue.created, CREATE_TIME) if created else (queue.modified, queue.timed)
        if queue.timed == PERSISTENT:
            demand = PERSISTENT
        if times and isinstance(value, int):
            within = any(first <= value <= last for first, last in times)
            yield equal(demand, subject, within, {"seconds": [list(each) for each in times]}, value)
        return
    known = queue.known.get(row.name)
    if row.name == "PROPID_Q_SCOPE":
        yield equal(SCOPE, subject, value == 1, {"value": 1}, value)
    if row.name == "PROPID_Q_PATHNAME_DNS" and _PATHNAME in queue.known:
        path = queue.known[_PATHNAME].value
        yield equal(DNS_PATH_NAME, subject, _dns_path(str(value)), "a path name that begins with a DNS name", value)
        yield equal(QUALIFIED, subject, _qualifies(str(value), str(path)), {"qualifies": path}, value)
    if known is None:
        return
    if row.name == "PROPID_Q_BASEPRIORITY" and known.written != 0:
        allowed: dict[str, Json] = {"ignored": 0, "kept": known.written}
        fits_reading = {name: value == wanted for name, wanted in allowed.items()}
        yield by_reading(rules, known.demand, BASE_PRIORITY, fits_reading, subject, allowed, value)
        return
    holds = same(row, known.value, value)
    for mistaken, demand in known.instead:
        yield equal(demand, subject, holds or not same(row, mistaken, value), {"value": known.value}, value)
    yield equal(known.demand, subject, holds, {"value": known.value}, value)


def _watching(rules: Rules, state: State, call: Call, answer: Answer) -> PropertiesJudged:
    manager = answer.values.get("queue_manager")
    if not isinstance(manager, str):
        return state, []
    return replace(state, properties=replace(_slice(state), queue_manager=manager)), []


def _dns_path(path: str) -> bool:
    return _DNS_PATH.match(path) is not None and not _IP_ADDRESS.match(path)


def _qualifies(qualified: str, path: str) -> bool:
    host, _, rest = path.casefold().partition("\\")
    name, _, tail = qualified.casefold().partition("\\")
    return tail == rest and name.split(".")[0] == host.split(".")[0]


def _times(answer: Answer) -> TimeRanges:
    began, ended = answer.values.get("began_ms"), answer.values.get("ended_ms")
    if not isinstance(began, int) or not isinstance(ended, int):
        return ()
    return ((began // 1000, -(-ended // 1000)),)


TELLING: Final[Mapping[str, Callable[[Rules, State, Call, Answer], PropertiesJudged]]] = MappingProxyType(
    {CREATE: _created, SET: _set, GET: _got, "watch": _watching}
)
"""The calls whose answers are judged here."""
