"""Names in bulk: equal to the automaton and to another parser of ABNF, printed back exactly, bounded in time."""

from __future__ import annotations

from functools import cache

import abnf
import pytest
from cases import all_of
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from near_names import Edited, near_misses, with_aliens
from nightly import amount, sample
from queue_formats import to_queue_format

from conformance.grammar.abnf import read
from conformance.grammar.automaton import dfa, difference
from conformance.grammar.bulk import MAX_ALL
from conformance.grammar.names import (
    FORMAT_NAME,
    FORMS,
    MULTIPLE_ELEMENT,
    PATH_NAME,
    NameError_,
    bulk,
)
from conformance.grammar.queue_format import QueueFormatError, from_queue_format
from conformance.grammar.sources import RULES, VERSIONS, load, reading_set
from conformance.grammar.strategies import texts
from conformance.grammar.values import MultipleElementName, QueueName
from conformance.spec.versions import READING_SETS
from tools.abnf_text import to_abnf

# By hypothesis, which is slow and goes for edges; test_grammar_generated.py has the large numbers.
EXAMPLES = amount("grammar.examples")
QUICK = settings(
    database=None,
    deadline=None,
    max_examples=EXAMPLES,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.generate],
)
G = "0123ABCD-4567-89ab-CDEF-0123456789ab"
EACH_WAY = [(version, readings) for version in VERSIONS for readings in READING_SETS]
NEWEST = [one for one in EACH_WAY if VERSIONS[-1] in one or "windows" in one]

GRAMMAR = load("4.0")
NAMES = bulk("4.0")
AUTOMATA = {form: dfa(GRAMMAR, RULES[form]) for form in FORMS}


@cache
def second() -> type[abnf.Rule]:
    """The same grammar in the other parser."""

    class Second(abnf.Rule):
        pass

    Second.load_grammar(to_abnf(GRAMMAR, *RULES.values()))
    return Second


def second_accepts(text: str, form: str) -> bool:
    try:
        second()(RULES[form]).parse_all(text)
    except abnf.ParseError:
        return False
    return True


def bulk_accepts(text: str, form: str) -> bool:
    try:
        name = NAMES.parse(text, form)
    except NameError_:
        return False
    assert str(name) == text
    return True


def valid(form: str) -> st.SearchStrategy[str]:
    return texts(GRAMMAR, RULES[form])


FORM = pytest.mark.parametrize("form", FORMS)


@FORM
def test_what_belongs_is_taken_apart_and_printed_back(form: str) -> None:
    @QUICK
    @given(valid(form))
    def hold(text: str) -> None:
        assert AUTOMATA[form].accepts(text)
        assert second_accepts(text, form)
        name = NAMES.parse(text, form)
        assert str(name) == text
        respelled = NAMES.parse(name.spelled(), form)
        assert plain(respelled) == plain(name)

    hold()


@FORM
def test_near_misses_are_refused(form: str) -> None:
    """The other parser is the proof that they are outside."""

    @QUICK
    @given(near_misses(valid(form), lambda text: not second_accepts(text, form)))
    def hold(miss: Edited) -> None:
        assert not AUTOMATA[form].accepts(miss.text)
        assert not bulk_accepts(miss.text, form)

    hold()


@FORM
def test_aliens_are_judged_alike(form: str) -> None:
    @QUICK
    @given(with_aliens(valid(form)))
    def hold(text: str) -> None:
        assert bulk_accepts(text, form) == AUTOMATA[form].accepts(text) == second_accepts(text, form)

    hold()


@FORM
@settings(QUICK, max_examples=EXAMPLES * 3)
@given(st.text(st.characters(), max_size=40))
def test_any_text_gets_a_verdict(form: str, text: str) -> None:
    assert bulk_accepts(text, form) == AUTOMATA[form].accepts(text)


@QUICK
@given(valid(FORMAT_NAME))
def test_a_name_survives_its_queue_format(text: str) -> None:
    name = NAMES.format_name(text)
    try:
        value = to_queue_format(name)
    except QueueFormatError:
        assert getattr(name, "subqueue", None) and getattr(name, "suffix", None)
        return
    assert plain(from_queue_format(value, NAMES.format_name)) == plain(name)


def plain(name: QueueName) -> object:
    """A name without its spelling."""
    if isinstance(name, MultipleElementName):
        return [plain(element) for element in name.elements]
    return name.kind, name.parts, getattr(name, "suffix", None)


@pytest.mark.parametrize(
    ("text", "kind", "parts"),
    [
        ("DIRECT=OS:h\\q", "direct", {"protocol": "OS", "address": "h", "scope": "public", "queue": "q"}),
        (
            "direct=tcp:10.0.0.1\\private$\\q;s",
            "direct",
            {
                "protocol": "TCP",
                "address": "10.0.0.1",
                "scope": "private",
                "queue": "q",
                "subqueue": "s",
            },
        ),
        (
            "DIRECT=OS:h\\SYSTEM$;DeadXact",
            "direct",
            {"protocol": "OS", "address": "h", "scope": "system", "suffix": "deadxact"},
        ),
        (f"PUBLIC={G};JOURNAL", "public", {"guid": G, "suffix": "journal"}),
        (f"PRIVATE={G}\\0Ff", "private", {"guid": G, "identifier": 255}),
        (f"DL={G}@x", "distribution_list", {"guid": G, "domain": "x"}),
        (f"MACHINE={G};JOURNAL", "machine", {"guid": G, "suffix": "journal"}),
        (f"CONNECTOR={G}", "connector", {"guid": G}),
        (f"CONNECTOR={G};XACTONLY", "connector", {"guid": G, "suffix": "xactonly"}),
        ("MULTICAST=234.1.1.1:80", "multicast", {"address": "234.1.1.1", "port": 80}),
    ],
)
def test_parts_of_format_names(text: str, kind: str, parts: dict[str, object]) -> None:
    name = NAMES.format_name(text)
    assert (name.kind, name.parts, str(name)) == (kind, parts, text)


@pytest.mark.parametrize(
    ("text", "scope", "queue", "subqueue"),
    [
        ("h\\q", "public", "q", None),
        ("h\\PRIVATE$\\q;s", "private", "q", "s"),
        ("h\\System$;journal", "system", "journal", None),
        ("h\\q;s", "public", "q", "s"),
    ],
)
def test_parts_of_path_names(text: str, scope: str, queue: str, subqueue: str | None) -> None:
    wanted = {"computer": "h", "scope": scope, "queue": queue, **({"subqueue": subqueue} if subqueue else {})}
    assert NAMES.path(text).parts == wanted


def test_an_element_that_may_hold_a_comma() -> None:
    loose = {"R-MQMQ-comma": "belongs"}
    names, whole = bulk("4.0", loose), dfa(load("4.0", loose), "MultipleElementName")
    for text in (
        f"DL={G}@a,PUBLIC={G}",
        f"PUBLIC={G},DL={G}@a,b",
        f"DL={G}@{'a' * 255},PUBLIC={G}",
        f"DL={G}@{'a' * 250},DL={G}@{'b' * 250},c",
        f"DL={G}@{'a' * 256},PUBLIC={G}",
        f"DL={G}@a,,PUBLIC={G}",
    ):
        try:
            name = names.multiple(text)
        except NameError_:
            assert not whole.accepts(text)
        else:
            assert whole.accepts(text)
            assert ",".join(element.text for element in name.elements) == text


def test_an_address_that_may_hold_a_comma() -> None:
    """Within brackets a comma separates nothing, where the host may be an address of a version to come."""
    one, other = "DIRECT=HTTP://[v1.a,b]/msmq/q", "DIRECT=HTTP://[v1.a]/msmq/q"
    for alternative, accepted in (("refused", ()), ("no-comma", (other,)), ("any", (one, other))):
        chosen = {"R-MQMQ-http-future-address": alternative}
        names, whole = bulk("4.0", chosen), dfa(load("4.0", chosen), "MultipleElementName")
        for text in (one, other):
            both = f"PUBLIC={G},{text}"
            assert whole.accepts(both) == (text in accepted)
            if text in accepted:
                assert [each.text for each in names.multiple(both).elements] == [f"PUBLIC={G}", text]
            else:
                with pytest.raises(NameError_):
                    names.multiple(both)


@pytest.mark.parametrize(("version", "readings"), sample("grammar.reading-sets-of-older-versions", EACH_WAY, NEWEST))
@pytest.mark.parametrize("form", [PATH_NAME, FORMAT_NAME])
def test_every_version_and_reading_set(version: str, readings: str, form: str) -> None:
    """In bulk and by the automaton: the same texts belong."""
    chosen = reading_set(readings)
    grammar, names = load(version, chosen), bulk(version, chosen)
    automaton = dfa(grammar, RULES[form])
    source = texts(grammar, RULES[form])

    @settings(QUICK, max_examples=max(20, EXAMPLES // 5))
    @given(source | with_aliens(source) | near_misses(source, lambda text: True).map(lambda each: each.text))
    def hold(text: str) -> None:
        try:
            assert str(names.parse(text, form)) == text
        except NameError_:
            assert not automaton.accepts(text)
        else:
            assert automaton.accepts(text)

    hold()


@all_of("form", FORMS)
@all_of(
    "text",
    [
        *("", "\x00", "\ud800", "\n", ",", "\\", "=", "DIRECT=", "DIRECT=OS:", "a" * 10_000_000, "\\" * 10_000_000),
        *("DIRECT=OS:" + "h" * 10_000_000 + "\\q", "DIRECT=OS:h\\" + "q;" * 5_000_000, "a\\" * 5_000_000),
        *("," * 10_000_000, "\ud800" * 10_000_000, "DIRECT=OS:h\\q\n", "h\\q\x00", f"PUBLIC={G}\n"),
    ],
    ids=lambda text: ascii(text[:12]),
)
def test_hostile_texts_are_refused(text: str, form: str) -> None:
    with pytest.raises(NameError_) as caught:
        NAMES.parse(text, form)
    assert len(str(caught.value)) < 1000


def test_very_many_elements_are_taken_up_to_the_bound() -> None:
    text = ",".join([f"PUBLIC={G}"] * 10_000)
    assert len(NAMES.multiple(text).elements) == 10_000
    with pytest.raises(NameError_):
        NAMES.multiple(text * (MAX_ALL // len(text) + 1))


def test_case_is_that_of_ascii() -> None:
    """A long s is no s and the Kelvin sign no k, whatever `re.IGNORECASE` and `str.upper` say."""
    for text in ("DIRECT=O\u017f:h\\q", "DIRECT=OS:h\\\u017fYSTEM$;JOURNAL;JOURNAL", f"D\u0131RECT=OS:h\\q{G}"):
        assert not bulk_accepts(text, FORMAT_NAME)
    assert NAMES.format_name("DIRECT=OS:h\\\u017fYSTEM$;JOURNAL").parts["queue"] == "\u017fYSTEM$"


def test_abnf_text_says_the_same() -> None:
    again = read(to_abnf(GRAMMAR, *RULES.values()), starts=RULES.values())
    for rule in ("PathQueue", "Multicast", "WebLocation", "PublicName"):
        assert difference(dfa(GRAMMAR, rule), dfa(again, rule)) is None


def test_forms_are_known() -> None:
    assert NAMES.parse("h\\q", PATH_NAME).kind == "path"
    assert NAMES.parse(f"PUBLIC={G},PUBLIC={G}", MULTIPLE_ELEMENT).kind == "multiple_element"
    with pytest.raises(KeyError):
        NAMES.parse("h\\q", "name")
