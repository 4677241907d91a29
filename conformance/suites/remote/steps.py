"""Steps of a story on a server of RPC: what is called, and what must come back. A table of stories is made of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from conformance.net.rpc.remote_read import PEEK_ACCESS, RECEIVE_ACCESS, Action
from conformance.spec.catalogue import catalogue
from conformance.suites.remote.calls import LOOKUPS, Calls

ANY, OK, FAILS, THROWS, GIVES = "", "ok", "fails", "throws", "gives"
"""The results a step must bring: anything, success, a failure or fault, a fault, a message."""
WORDS: Final[Mapping[int, str]] = {
    Action.RECEIVE: "receive",
    Action.PEEK_CURRENT: "peek-current",
    Action.PEEK_NEXT: "peek-next",
    Action.LOOKUP_PEEK_CURRENT: "lookup-peek-current",
    Action.LOOKUP_PEEK_NEXT: "lookup-peek-next",
    Action.LOOKUP_PEEK_PREV: "lookup-peek-previous",
    Action.LOOKUP_RECEIVE_CURRENT: "lookup-receive-current",
    Action.LOOKUP_RECEIVE_NEXT: "lookup-receive-next",
    Action.LOOKUP_RECEIVE_PREV: "lookup-receive-previous",
}
"""The demand that a read of this action keeps when it gives the right message."""
HEADERS: Final = tuple(
    f"MQRR-2.2.5.{name}"
    for name in (
        "order", "1.address-length", "1.address-scope", "1.address-type", "1.time-to-reach-queue",
        "2.dead-letter-flag", "2.dead-letter-invalid-flag", "2.extended-address-flag", "2.header-size",
        "2.remaining-headers-size", "2.subqueue-flag", "3.acknowledgement-class", "3.header-size",
        "3.last-move-time-never", "3.subqueue-name", "3.target-subqueue-name", "3.tm", "5.address",
        "5.address-length", "5.address-scope", "5.address-type", "5.header-size",
    )
)  # fmt: skip
"""The rules on the headers of a packet that the look at all of it goes by, for any message that is in a queue."""


@dataclass(frozen=True, slots=True)
class Step:
    """One call, or what else a story does. who: the queue of the story by which it is made.

    words: the demands that `want` shows, the first one blamed. A word is one of the method's section, `verb:word` of
    another method's, a section and a word, or a rule of MS-MQMQ. code: the status that the documents name. looks:
    further demands on the answer. gate: where it is not as it should be, the story ends without a judgement.
    """

    verb: str
    who: str = "h"
    args: Mapping[str, Any] = field(default_factory=dict)
    want: str = ANY
    letter: str = ""
    words: tuple[str, ...] = ()
    code: int = 0
    looks: tuple[str, ...] = ()
    gate: bool = False

    def ok(self, *words: str) -> Step:
        """Return the step that must succeed."""
        return replace(self, want=OK, words=words or self.words)

    def gives(self, letter: str, *words: str) -> Step:
        """Return the step that must give this message."""
        return replace(self, want=GIVES, letter=letter, words=words)

    def fails(self, *words: str, code: int = 0) -> Step:
        """Return the step that must fail."""
        return replace(self, want=FAILS, words=words, code=code)

    def throws(self, *words: str, code: int = 0) -> Step:
        """Return the step that must end as a fault."""
        return replace(self, want=THROWS, words=words, code=code)

    def shows(self, *looks: str) -> Step:
        """Return the step with these demands on its answer."""
        return replace(self, looks=looks)

    def gated(self) -> Step:
        """Return the step without which the story has nothing to say."""
        return replace(self, gate=True)

    @property
    def read_verb(self) -> str:
        """`read` or `lookup` for a read, else the verb."""
        if self.verb not in ("read", "answer"):
            return self.verb
        return "lookup" if self.args.get("action", 0) & LOOKUPS else "read"

    @property
    def default(self) -> str:
        """The demand that is blamed where the step names none."""
        if self.verb in ("read", "answer") and self.want == GIVES:
            return WORDS.get(self.args.get("action", 0), "success")
        if self.verb.startswith("open") and self.want == OK:
            return "handle"
        return "fails" if self.want in (FAILS, THROWS) else "success"


@dataclass(frozen=True, slots=True)
class Story:
    """A story. given: the messages in the queue, a letter each. uses: the clients that tell it, by `Calls.uses`."""

    name: str
    given: str
    steps: tuple[Step, ...]
    uses: tuple[str, ...] = ()


def story(name: str, given: str, *steps: Step, uses: str = "", opened: str = "h") -> Story:
    """Return a story that begins with queues open to receive, a letter each."""
    return Story(name, given, (*(open_(who) for who in opened), *steps), tuple(uses.split()))


def open_(
    who: str = "h", queue: str = "q", *, access: int = RECEIVE_ACCESS, share: int = 0, via: str = "1", **peculiar: Any
) -> Step:
    """Open a queue as `who` on a connection of its own name."""
    return Step("open", who, {"queue": queue, "access": access, "share": share, "via": via, **peculiar}, OK)


def peek_open(who: str = "p", **args: Any) -> Step:
    """Open a queue to peek."""
    return open_(who, access=PEEK_ACCESS, **args)


def read(action: int, request: int = 1, who: str = "h", **args: Any) -> Step:
    """Peek or begin to receive. lookup: a letter; cursor: a name."""
    return Step("read", who, {"action": action, "request": request, **args})


def peek(who: str = "h", request: int = 90, **args: Any) -> Step:
    """Peek at the first message, or at that of a cursor."""
    return read(Action.PEEK_CURRENT, request, who, **args)


def receive(request: int = 1, who: str = "h", **args: Any) -> Step:
    """Begin to receive."""
    return read(Action.RECEIVE, request, who, **args)


def begin(step: Step, name: str = "w") -> Step:
    """Begin a read that waits, and go on."""
    return replace(step, verb="begin", args={**step.args, "name": name})


def answer(step: Step, name: str = "w") -> Step:
    """Wait for the answer of the read that was begun so."""
    return replace(step, verb="answer", args={**step.args, "name": name})


def end(request: int = 1, who: str = "h", *, acknowledge: bool = True, **args: Any) -> Step:
    """End a receive."""
    return Step("end", who, {"request": request, "acknowledge": acknowledge, **args})


def do(verb: str, who: str = "h", **args: Any) -> Step:
    """Make any other call."""
    return Step(verb, who, args)


def identify(calls: Calls, verb: str, word: str) -> str | None:
    """Return the requirement of a word; None where the document has none that a run can check."""
    known = catalogue().requirements
    if ":" in word:
        verb, _, word = word.partition(":")
    if word.startswith("MQMQ-"):
        name = word
    elif word[0].isdigit():
        name = f"{calls.document}-{word}"
    else:
        own = verb if verb in calls.verbs else "read" if verb == "lookup" else verb
        section = calls.verbs[own][0] if own in calls.verbs else ""
        if own == "lookup":
            word = word.removeprefix("lookup-")
        name = f"{calls.document}-{section}.{word}"
        alike = section == "3.1.4.13" and f"MQRR-3.1.4.7.{word}" in known
        if name not in known and alike and not word.endswith("-code"):
            name = f"MQRR-3.1.4.13.{'peeks' if 'peek' in word else 'no-transaction'}"
    found = known.get(name)
    return name if found is not None and found.checkable and found.needs is None else None


def demands(step: Step, calls: Calls) -> list[str]:
    """Return the requirements that a step judges, the one to blame first."""
    if step.want == ANY and not step.looks:
        return []
    verb = step.read_verb
    words = [*(step.words or ((step.default,) if step.want else ())), *step.looks]
    if step.want in (OK, GIVES):
        words.append("success")
    if step.want == FAILS:
        words.append("fails")
    if step.code:
        words.insert(1, f"{(step.words or (step.default,))[0]}-code")
    found = [identify(calls, verb, word) for word in words]
    found += HEADERS if "whole-buffer" in step.looks else ()
    return list(dict.fromkeys(each for each in found if each is not None))
