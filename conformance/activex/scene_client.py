"""The scene of plans about what a client makes: queue infos, transactions, queue properties of messages.

All other members of these objects are judged by their tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from conformance.activex import message_queues, queue_info, sending, transactions
from conformance.activex.expected import Held, Invoke, Readings, Seen, refusing
from conformance.activex.plans import Act
from conformance.activex.queue_store import Info, Store
from conformance.activex.reference_answers import ideal as ideal_of_table
from conformance.activex.scenes import COMPUTER, MANAGER, Place
from conformance.activex.sending import Posts
from conformance.activex.step import Choice, allowed, choice_verdicts, new, reference_answer, step
from conformance.activex.step import one as one_choice
from conformance.activex.tables import CLASSES, OPENED, RECEIVED
from conformance.activex.tables_queue_info import COCLASS
from conformance.activex.transactions import DISPENSER, TRANSACTION, Transactions
from conformance.activex.values import S_OK, text
from conformance.verdict import Outcome, Verdict


@dataclass(slots=True)
class ClientObjects:
    """Objects of a plan by their names. classes: name to class. held: those that their tables alone tell of.

    renewed: message object to the attributes that were put since it was sent or received.
    """

    readings: Readings
    store: Store
    classes: dict[str, str] = field(default_factory=dict)
    infos: dict[str, Info] = field(default_factory=dict)
    messages: message_queues.Messages = field(default_factory=dict)
    transactions: Transactions = field(default_factory=Transactions)
    posts: Posts = field(default_factory=Posts)
    held: dict[str, Held] = field(default_factory=dict)
    renewed: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def do(self, act: Act, seen: Seen | None) -> tuple[Verdict, ...]:
        """Judge the answer to an act, and keep what it leads to."""
        if act.call is None or seen is None:
            self._made(act.object, act.coclass or "")
            return ()
        told = self._wanted(act.object, act.call)
        if told is None:
            before = self.held[act.object]
            self.held[act.object], verdicts = step(before, act.call, seen, self.readings)
            if act.call.kind == "get" and before.coclass == message_queues.COCLASS and before.state != RECEIVED:
                self._looked(before, act.call.member, verdicts)
            self._stepped(act.object, act.call, seen)
            return verdicts
        verdicts = tuple(choice_verdicts(self.classes[act.object], act.call, told, seen))
        self._after(act, act.call, seen)
        return verdicts

    def _looked(self, held: Held, member: str, verdicts: Iterable[Verdict]) -> None:
        put = CLASSES[held.coclass][member].kept_as in held.values
        if put and all(one.outcome is not Outcome.FAIL for one in verdicts):
            self.posts = replace(self.posts, right=self.posts.right | {member})

    def copy(self) -> ClientObjects:
        """Return a scene that goes on from here by itself."""
        return replace(self, classes=dict(self.classes), infos=dict(self.infos), held=dict(self.held))

    def knows(self, name: str) -> bool:
        """Tell whether the plan has an object of this name by now."""
        return name in self.classes

    def ideal(self, act: Act) -> Seen:
        """Return an answer that the text allows."""
        assert act.call is not None
        told = self._wanted(act.object, act.call)
        if told is None:
            return ideal_of_table(self.held[act.object], act.call, self.readings)
        return reference_answer(told)

    def is_open(self, act: Act) -> bool:
        """Tell whether a call may succeed and may fail: nothing decides it, or the accepted readings differ."""
        assert act.call is not None
        told = self._wanted(act.object, act.call)
        return told is not None and all(len({one.status == S_OK for one in choice}) > 1 for choice in told)

    def _made(self, name: str, coclass: str) -> None:
        self.classes[name] = coclass
        if coclass in CLASSES:
            self.held[name] = new(coclass)
        if coclass == COCLASS:
            self.infos[name] = message_queues.new_info()

    def _wanted(self, name: str, call: Invoke) -> list[Choice] | None:
        """Return what the answer has to be; None for what the tables tell."""
        coclass = self.classes[name]
        if coclass == message_queues.DESTINATION:
            return list(_destination(self.infos.get(name), call))
        if CLASSES[coclass][call.member].unimplemented:
            return None
        told: Iterable[Choice]
        if coclass == COCLASS:
            told = queue_info.demands(self.infos[name], self.store, call, self.readings)
        elif coclass in (TRANSACTION, DISPENSER):
            told = transactions.demands(name, self.transactions, call, self._known(), self.readings)
        elif coclass == "MSMQQueue" and call.member in sending.READS:
            told = sending.receiving(name, self.posts, call, self._known())
        elif coclass == "MSMQQueue" and self._reads_elsewhere(name, call):
            told = ()
        elif coclass != message_queues.COCLASS:
            return None
        elif call.member in message_queues.NAMED_QUEUE_MEMBERS:
            told = message_queues.wanted_queue(name, self.messages, self.store, call, self._known(), self.readings)
        elif call.member == "Send":
            told = sending.send_demands(name, self.posts, self.store, self.held, self.transactions, call)
        elif call.kind == "get" and self._is_sent(name) and not self._is_put_since(name, call.member):
            told = self._shown(name, call.member)
        else:
            return None
        return [allowed(choice, self.readings) for choice in told]

    def _is_sent(self, name: str) -> bool:
        return name in self.posts.received or name in self.posts.sent

    def _is_put_since(self, name: str, member: str) -> bool:
        """Tell whether a client has put a property of a message after that was sent or received: its table tells it."""
        return CLASSES[message_queues.COCLASS][member].kept_as in self.renewed.get(name, frozenset())

    def _reads_elsewhere(self, name: str, call: Invoke) -> bool:
        """Tell whether a call reads at a cursor or by an identifier: the scene does not follow what it finds there."""
        row = CLASSES["MSMQQueue"][call.member]
        reads = row.event is not None and row.event.call.startswith("messages.")
        return reads and refusing(row, self.held[name], call) is None

    def _shown(self, name: str, member: str) -> Iterator[Choice]:
        received = name in self.posts.received
        post = self.posts.received[name] if received else self.posts.sent[name]
        row = CLASSES[message_queues.COCLASS][member]
        if post.report is not None:
            return sending.acknowledgment_demands(row, post, self.posts)
        return sending.sent_shown(row, post, self.posts, self.store, self.readings, received=received)

    def _stepped(self, name: str, call: Invoke, seen: Seen) -> None:
        """Keep what a call leads to that its table judges."""
        if seen.status != S_OK:
            return
        if call.member == "Close":
            self.store = message_queues.closed(self.store, name)
        elif call.member == "Purge" and name in self.posts.opened:
            self.posts = self.posts.forgotten(self.posts.opened[name][0])
        elif call.member.startswith("AttachCurrentSecurityContext"):
            self.posts = replace(self.posts, attached=self.posts.attached | {name})
        elif call.kind == "put" and self.classes[name] == message_queues.COCLASS:
            attribute = CLASSES[message_queues.COCLASS][call.member].kept_as or ""
            self.posts = self.posts.with_put(name, attribute)
            if self._is_sent(name):
                self.renewed = {**self.renewed, name: self.renewed.get(name, frozenset()) | {attribute}}

    def _known(self) -> tuple[str, ...]:
        return (*self.classes, *self.transactions.handles)

    def _after(self, act: Act, call: Invoke, seen: Seen) -> None:
        name, coclass = act.object, self.classes[act.object]
        handed = act.gives is not None and seen.status == S_OK
        if coclass == COCLASS:
            if call.member == "Delete" and seen.status == S_OK:
                self.posts = self.posts.forgotten(self.store.target(self.infos[name]).key)
            after = message_queues.after(self.infos[name], self.store, call, seen, self.readings, act.gives)
            self.infos[name], self.store = after
            if handed and call.member == "Open":
                self._hold(act.gives, "MSMQQueue", OPENED)
                key = self.store.target(self.infos[name]).key
                opened = {**self.posts.opened, act.gives or "": (key, int(call.arguments[0].value))}
                self.posts = replace(self.posts, opened=opened)
        elif coclass == "MSMQQueue" and call.member in sending.READS:
            self._received(name, call, act.gives if handed and seen.gives else None, seen)
        elif coclass == "MSMQQueue":
            self._has_read(name, call.member, act.gives, seen)
        elif coclass in (TRANSACTION, DISPENSER):
            if call.member in ("Commit", "Abort") and seen.status == S_OK:
                self.posts = sending.ended(self.posts, self.transactions, name, call.member)
            self.transactions = transactions.after(name, self.transactions, call, seen, act.gives)
            if handed and call.member == "BeginTransaction":
                self._hold(act.gives, TRANSACTION, "Attached")
        elif coclass == message_queues.DESTINATION:
            if call.kind == "put" and seen.status == S_OK:
                self.infos[name] = Info(format=call.arguments[0].value)
        elif call.member == "Send":
            self._sent(name, call, seen)
        elif call.member not in message_queues.NAMED_QUEUE_MEMBERS:
            self._got(name, call, seen)
        elif call.kind == "putref" and seen.status == S_OK:
            info = self.infos.get(call.arguments[0].value or "")
            self.messages = message_queues.put(name, self.messages, call, info)
        elif handed and seen.gives:
            info = message_queues.info_of(name, self.messages, self.store, call)
            self.messages = message_queues.reported(name, self.messages, call)
            if act.gives is not None:
                self.infos[act.gives] = info
                kind = message_queues.DESTINATION if call.member == "ResponseDestination" else COCLASS
                self._hold(act.gives, kind, "Refreshed")

    def _sent(self, name: str, call: Invoke, seen: Seen) -> None:
        to = str(call.arguments[0].value)
        target = self.posts.opened.get(to)
        queue = self.store.queues.get(target[0]) if target is not None else None
        if self.classes.get(to) == message_queues.DESTINATION:
            queue = self.store.queue(self.store.target(self.infos[to])) if to in self.infos else None
        own = None
        if queue is not None:
            info = Info(path=queue.path, resolved=True)
            own = message_queues.Kept(info, sending.cell("sets:DestinationQueueFormatName"))
        after = sending.after(name, self.posts, self.held, self.messages, self.transactions, call, seen, own)
        if seen.status == S_OK and target is not None:
            after = sending.reported(after, after.sent[name], self.store, sending.ARRIVAL)
        self.posts = after
        if seen.status == S_OK:
            self.renewed = {one: put for one, put in self.renewed.items() if one != name}
        if own is not None and seen.status == S_OK:
            self.messages = {**self.messages, (name, "DestinationQueueFormatName"): own}

    def _received(self, queue: str, call: Invoke, gives: str | None, seen: Seen) -> None:
        target = self.posts.opened.get(queue)
        post = None if target is None else self.posts.first(target[0])
        first = call.arguments[0].vt if call.arguments else ""
        part_of_transaction = call.member == "Receive" and first in ("DISPATCH", "UNKNOWN")
        if target is None or post is None or part_of_transaction or not seen.gives:
            self._has_read(queue, call.member, gives, seen)
            return
        stays = call.member == sending.PEEK
        self.posts = self.posts.with_received(target[0], gives, stays=stays)
        if not stays:
            self.posts = sending.reported(self.posts, post, self.store, sending.RECEIVE)
        if gives is not None:
            self._hold(gives, message_queues.COCLASS, RECEIVED)
            self.messages = {**self.messages, **{(gives, attribute): kept for attribute, kept in post.queues.items()}}

    def _has_read(self, queue: str, member: str, gives: str | None, seen: Seen) -> None:
        """Keep a message of which only its class is known. One that was received is missing in its queue."""
        if not seen.gives:
            return
        target = self.posts.opened.get(queue)
        if target is not None and not member.startswith(sending.PEEK):
            self.posts = self.posts.forgotten(target[0])
        if gives is not None:
            self._hold(gives, message_queues.COCLASS, RECEIVED)

    def _got(self, name: str, call: Invoke, seen: Seen) -> None:
        post = self.posts.received.get(name) or self.posts.sent.get(name)
        attribute = CLASSES[message_queues.COCLASS][call.member].kept_as or ""
        if post is not None and seen.value is not None and attribute in sending.BOUND:
            at = (post.number, attribute)
            self.posts = replace(self.posts, seen={at: seen.value, **self.posts.seen})

    def _hold(self, name: str | None, coclass: str, state: str) -> None:
        assert name is not None
        self.classes[name] = coclass
        self.held[name] = Held(coclass, state)


def _destination(info: Info | None, call: Invoke) -> Iterator[Choice]:
    if call.kind == "get" and call.member == "FormatName" and info is not None and info.named:
        yield one_choice(info.named, S_OK, text(info.format or ""))


def client_objects(readings: Readings, place: Place) -> ClientObjects:
    """Return the scene before the first act of a plan."""
    return ClientObjects(readings, Store(place.texts[COMPUTER], place.texts[MANAGER], place.now))
