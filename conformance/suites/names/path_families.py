"""Generated path names (MS-MQMQ 2.1.1)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from conformance.judge.names import PATH_NAME
from conformance.suites.names import spelling as sp
from conformance.suites.names.families import Chapter, Family, Parts

paths = Chapter("2.1.1", PATH_NAME, "path")
BACKSLASHES = "R-MQMQ-computer-alphabet"
UNICODE = "R-MQMQ-queue-name-alphabet"
SUFFIX = "R-MQMQ-suffix-or-subqueue"

Under = Mapping[str, Any]


def _public(computers: SearchStrategy[str], queues: SearchStrategy[str]) -> SearchStrategy[tuple[str, Parts]]:
    return st.builds(
        lambda computer, queue: (
            f"{computer}\\{queue}",
            {"computer": computer, "scope": "public", "queue": queue},
        ),
        computers,
        queues,
    )


def _private(keywords: SearchStrategy[str], queues: SearchStrategy[str]) -> SearchStrategy[tuple[str, Under]]:
    """Generate private path names that are also public ones of an odd computer, if its name may hold separators."""

    def name(computer: str, keyword: str, queue: str) -> tuple[str, Under]:
        private = {"computer": computer, "scope": "private", "queue": queue}
        strange = {"computer": f"{computer}\\{keyword}", "scope": "public", "queue": queue}
        under = {"separators-excluded": private, "any-printable": [private, strange]}
        return f"{computer}\\{keyword}\\{queue}", under

    return st.builds(name, sp.words(), keywords, queues)


def _system(keywords: SearchStrategy[str], queues: SearchStrategy[str]) -> SearchStrategy[tuple[str, Parts]]:
    return st.builds(
        lambda computer, keyword, queue: (
            f"{computer}\\{keyword};{queue}",
            {"computer": computer, "scope": "system", "queue": queue},
        ),
        sp.words(),
        keywords,
        queues,
    )


def _system_or_subqueue(keywords: SearchStrategy[str]) -> SearchStrategy[tuple[str, Under]]:
    """Generate the same from MSMQ 4.0 on, where the grammar as written derives them in two ways."""

    def name(made: tuple[str, Parts]) -> tuple[str, Under]:
        text, parts = made
        keyword = text.partition("\\")[2].partition(";")[0]
        other = {**parts, "scope": "public", "queue": keyword, "subqueue": parts["queue"]}
        return text, {"keyword": parts, "subqueue": [parts, other]}

    return _system(keywords, _system_queues()).map(name)


def _system_queues() -> SearchStrategy[str]:
    return st.sampled_from(sp.SYSTEM_QUEUES).map(str.lower)


def _subqueue(subqueues: SearchStrategy[str]) -> SearchStrategy[tuple[str, Parts]]:
    return st.builds(
        lambda computer, queue, subqueue: (
            f"{computer}\\{queue};{subqueue}",
            {"computer": computer, "scope": "public", "queue": queue, "subqueue": subqueue},
        ),
        sp.words(),
        sp.words(),
        subqueues,
    )


def joined(*pieces: SearchStrategy[str] | str) -> SearchStrategy[str]:
    """Join fixed and generated pieces."""
    return st.tuples(*(st.just(piece) if isinstance(piece, str) else piece for piece in pieces)).map("".join)


def scopes() -> SearchStrategy[str]:
    """Generate the text before the queue name of a refused path name, of a public or a private queue."""
    return st.sampled_from(("", "private$\\"))


def bad_queue(chars: str, version: int) -> SearchStrategy[str]:
    """Generate path names whose queue name has one of these characters."""
    return joined(sp.words(), "\\", scopes(), sp.with_one(chars))


def too_long_queue() -> SearchStrategy[str]:
    """Generate path names whose queue name is longer than 124 characters."""
    return joined(sp.words(), "\\", scopes(), sp.sized(sp.PLAIN, (125, 126, 127, 128, 200, 255, 256, 257)))


def _computer_with_separator() -> SearchStrategy[tuple[str, Under]]:
    def name(computer: str, queue: str) -> tuple[str, Under]:
        parts = {"computer": computer, "scope": "public", "queue": queue}
        return f"{computer}\\{queue}", {"separators-excluded": None, "any-printable": parts}

    return st.builds(name, sp.within(st.sampled_from(",;")), sp.words())


def _queue_with_backslash() -> SearchStrategy[tuple[str, Under]]:
    def name(words: list[str]) -> tuple[str, Under]:
        text = "\\".join(words)
        computer, _, queue = text.rpartition("\\")
        parts = {"computer": computer, "scope": "public", "queue": queue}
        return text, {"separators-excluded": None, "any-printable": parts}

    return st.lists(sp.words(), min_size=3, max_size=5).map(name)


def _beyond_letter() -> SearchStrategy[tuple[str, Under]]:
    between = st.one_of(st.just(" "), sp.letters_beyond_ascii())
    return _public(sp.words(), sp.within(between)).map(lambda made: (made[0], {"unicode": made[1], "letter": None}))


def _delete_character() -> SearchStrategy[tuple[str, Under]]:
    return _public(sp.words(), sp.within(st.just("\x7f"))).map(
        lambda made: (made[0], {"unicode": [None, made[1]], "letter": made[1]})
    )


def _longest_subqueue() -> SearchStrategy[tuple[str, Under]]:
    return _subqueue(sp.sized(sp.PLAIN, (32,))).map(lambda made: (made[0], {"up-to-32": made[1], "up-to-31": None}))


def _unknown_system_queue() -> SearchStrategy[tuple[str, Under]]:
    # Includes names longer than any known one, because a manager may go by the number of characters.
    queues = st.one_of(sp.words(), st.builds("q".__add__, sp.sized(sp.PLAIN, (11, 20, 60))))
    return _system(st.just("system$"), queues).map(lambda made: (made[0], {"three": None, "any": made[1]}))


def _declare() -> None:
    v4, v3 = "msmq-4.0", "msmq-3.0"
    paths.accept("public-path", "QueuePathName", lambda _: _public(sp.words(), sp.words()))
    paths.disputed("private-path", "QueuePathName", BACKSLASHES, lambda _: _private(st.just("private$"), sp.words()))
    paths.accept("system-path", "QueuePathName", lambda _: _system(st.just("system$"), _system_queues()), until=v3)
    paths.disputed("system-path", "QueuePathName", SUFFIX, lambda _: _system_or_subqueue(st.just("system$")), since=v4)
    paths.disputed("keyword-case", "QueuePathName", BACKSLASHES, lambda _: _private(sp.cased("private$"), sp.words()))
    paths.accept("keyword-case", "QueuePathName", lambda _: _system(sp.cased("system$"), _system_queues()), until=v3)
    paths.disputed(
        "keyword-case", "QueuePathName", SUFFIX, lambda _: _system_or_subqueue(sp.cased("system$")), since=v4
    )
    paths.reject("separator", "QueuePathName", lambda _: sp.spelled(sp.PRINTABLE.replace("\\", ""), 24))

    paths.accept(
        "computer-length", "Computer", lambda _: _public(sp.sized(sp.PLAIN, (1, 2, 15, 16, 63, 255, 256)), sp.words())
    )
    too_long = (257, 258, 300, 1000)
    paths.reject("computer-too-long", "Computer", lambda _: joined(sp.sized(sp.PLAIN, too_long), "\\", sp.words()))
    paths.reject("computer-missing", "Computer", lambda _: joined("\\", sp.words()))
    paths.accept("computer-alphabet", "Computer", lambda _: _public(sp.texts(sp.COMPUTER), sp.words()))
    paths.disputed("computer-alphabet", "Computer", BACKSLASHES, lambda _: _computer_with_separator())
    strange = sp.CONTROLS + " \x7f\u00a0ÖхЖ主🖥"
    paths.reject("computer-alphabet-reject", "Computer", lambda _: joined(sp.with_one(strange), "\\", sp.words()))

    boundary = (1, 2, 32, 33, 100, 123, 124)
    paths.accept("queue-name-length", "QueueName", lambda _: _public(sp.words(), sp.sized(sp.PLAIN, boundary)))
    paths.reject("queue-name-too-long", "QueueName", lambda _: too_long_queue())
    paths.reject(
        "queue-name-missing",
        "QueueName",
        lambda _: joined(sp.words(), st.sampled_from(("\\", "\\private$\\", "\\PRIVATE$\\", "\\system$;"))),
    )
    paths.accept(
        "queue-name-alphabet", "QueueName", lambda version: _public(sp.words(), sp.texts(sp.queue_alphabet(version)))
    )
    paths.disputed("queue-name-alphabet", "QueueName", UNICODE, lambda _: _delete_character())
    paths.reject("queue-name-control-reject", "QueueName", lambda version: bad_queue(sp.CONTROLS, version))
    paths.disputed("queue-name-space-reject", "QueueName", UNICODE, lambda _: _beyond_letter())
    paths.disputed("queue-name-backslash-reject", "QueueName", BACKSLASHES, lambda _: _queue_with_backslash())
    paths.reject(
        "queue-name-semicolon-reject",
        "QueueName",
        lambda _: joined(sp.words(), "\\", sp.with_one(";")),
        until=v3,
    )
    paths.accept(
        "queue-name-plus-comma-quote",
        "QueueName",
        lambda _: _public(sp.words(), sp.with_one('+,"')),
        until="msmq-1.0",
    )
    for word, char in (("plus", "+"), ("comma", ","), ("quote", '"')):
        paths.reject(
            f"queue-name-{word}-reject",
            "QueueName",
            partial(bad_queue, char),
            since="msmq-2.0",
        )

    paths.accept("subqueue", "Subqueue", lambda _: _subqueue(sp.texts(sp.SUBQUEUE)), since=v4)
    lengths = (1, 2, 30, 31)
    paths.accept("subqueue-length", "Subqueue", lambda _: _subqueue(sp.sized(sp.PLAIN, lengths)), since=v4)
    paths.disputed("subqueue-length", "Subqueue", "R-MQMQ-subqueue-length", lambda _: _longest_subqueue(), since=v4)
    paths.reject(
        "subqueue-too-long",
        "Subqueue",
        lambda _: joined(sp.words(), "\\", scopes(), sp.words(), ";", sp.sized(sp.PLAIN, (33, 34, 63, 64, 124, 255))),
        since=v4,
    )
    paths.reject(
        "subqueue-missing", "Subqueue", lambda _: joined(sp.words(), "\\", scopes(), sp.words(), ";"), since=v4
    )
    paths.reject(
        "subqueue-alphabet-reject",
        "Subqueue",
        lambda _: joined(sp.words(), "\\", scopes(), sp.words(), ";", sp.with_one(sp.CONTROLS + ';+,"')),
        since=v4,
    )
    paths.disputed(
        "system-queue-unknown", "QueuePathName", "R-MQMQ-system-path", lambda _: _unknown_system_queue(), until=v3
    )


_declare()
PATH_FAMILIES: tuple[Family, ...] = tuple(paths.families)
