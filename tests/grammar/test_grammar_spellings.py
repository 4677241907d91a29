"""A text that is nearly a queue name is told for what it is, with the name to write instead."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.grammar.automaton import Dfa, dfa
from conformance.grammar.sources import RULES, load, reading_set
from conformance.grammar.spellings import MAX_TEXT, Spelling, spelling

Q = r"DIRECT=OS:h\private$\q"
ADDRESS = r"DIRECT=TCP:192.0.2.7\private$\q"


@cache
def names(form: str) -> Dfa:
    return dfa(load("4.0", reading_set("windows")), RULES[form])


def hint(text: str, form: str = "format_name") -> Spelling | None:
    return spelling(text, form, lambda other: names(form).stuck(other) is None)


@pytest.mark.parametrize(
    ("text", "write", "says"),
    [
        (f"FormatName:{ADDRESS}", ADDRESS, ".NET"),
        (rf"FORMATNAME:{Q}", Q, ".NET"),
        (f"msmq.formatname:{Q}", Q, "WCF"),
        (r"h\private$\q", Q, "path name"),
        (r".\private$\q", r"DIRECT=OS:.\private$\q", "path name"),
        (r"private$\q", r"DIRECT=OS:.\private$\q", "dot"),
        ("h/private$/q", Q, "backslash"),
        ("DIRECT=OS:h/private$/q", Q, "backslash"),
        (r"h\\private$\\q", Q, "twice"),
        (r"\\h\private$\q", Q, "share"),
        (rf"\\?\{Q}", Q, "devices"),
        (f'"{Q}"', Q, "quotation"),
        (f"“{Q}”", Q, "typographic"),
        (f"  {Q}\n", Q, "blanks"),
        (f"{Q}\0", Q, "NUL"),
        (f"\ufeff{Q}", Q, "byte order mark"),
        (r"DIRECT=OS: h\private$\q", Q, "':'"),
        (r"DIRECT:OS:h\private$\q", Q, "equals sign"),
        (r"OS:h\private$\q", Q, "missing"),
        (r"DIRECT=OS:h\private\q", Q, "dollar"),
        (r"DIRECT=OS:h\private%24\q", Q, "percent"),
        (r"DIRECT=TCP:host\private$\q", r"DIRECT=OS:host\private$\q", "'OS:'"),
        (r"DIRECT=TCP:[2001:db8::1]\q", r"DIRECT=TCP:2001:db8::1\q", "brackets"),
        ("net.msmq://localhost/private/q", r"DIRECT=OS:.\private$\q", "WCF"),
        ("msmq://h/private$/q", Q, "WCF"),
        ("q@h", Q, "NServiceBus"),
        ("q@FormatName:Direct=TCP:192.0.2.7", ADDRESS, "NServiceBus"),
        ("PUBLIC={7a1f3c52-0b6e-4d6f-9a57-6f5b2f3f9a10}", "PUBLIC=7a1f3c52-0b6e-4d6f-9a57-6f5b2f3f9a10", "braces"),
        (f"{Q};", Q, "subqueue"),
        ("MULTICAST=234.001.1.1:8001", "MULTICAST=234.1.1.1:8001", "zeros"),
        (f" 'FormatName:{Q}' ", Q, "blanks around it; it has quotation marks around it; 'FormatName:'"),
    ],
)
def test_the_name_to_write_is_told(text: str, write: str, says: str) -> None:
    found = hint(text)
    assert found is not None and says in found.says
    assert found.write is not None and found.write.lower() == write.lower() and found.sentence.endswith(found.write)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("LABEL:orders", "label"), ("MULTICAST=192.0.2.1:8001", "224.0.0.0"), ("MULTICAST=234.1.1.1", "port"),
        (f"{Q};retry;poison", "subqueues"), (f"{Q},DIRECT=OS:b\\q", "multiple_element"), ("DIRECT=OS:h", "missing"),
        ("DIRECT=OS:h\\" + 125 * "a", "124"), ("orders", "computer"),
    ],
)  # fmt: skip
def test_what_nobody_can_mend_is_named(text: str, says: str) -> None:
    found = hint(text)
    assert found is not None and says in found.says and found.write is None


@pytest.mark.parametrize(
    ("text", "write"),
    [(Q, r"h\private$\q"), (f"FormatName:{Q}", r"h\private$\q"), ("h/private$/q", r"h\private$\q"), (r"\\h\q", r"h\q")],
)
def test_a_path_name_that_looks_like_a_format_name(text: str, write: str) -> None:
    found = hint(text, "path_name")
    assert found is not None and found.write == write


@pytest.mark.parametrize("text", ["DIRECT=OS:a\\q; DIRECT=OS:b\\q", "DIRECT=OS:a\\q,DIRECT=OS:b\\q,"])
def test_a_list_is_mended(text: str) -> None:
    found = hint(text, "multiple_element")
    assert found is not None and (found.write or "DIRECT=OS:a\\q,DIRECT=OS:b\\q") == "DIRECT=OS:a\\q,DIRECT=OS:b\\q"


def test_a_name_needs_no_hint_and_an_endless_text_gets_none() -> None:
    assert hint(Q) is None and hint(r"h\private$\q", "path_name") is None
    assert hint("FormatName:" + "x" * MAX_TEXT) is None


@given(st.text(st.sampled_from("DIRECTOSFormatName=:/\\$;,@{}\"' \0.1aq"), max_size=60))
def test_what_it_says_to_write_is_a_name(text: str) -> None:
    found = hint(text)
    assert found is None or found.write is None or names("format_name").stuck(found.write) is None
