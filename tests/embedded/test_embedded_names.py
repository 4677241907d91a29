"""The parser of queue names."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nightly import fewer

from conformance.embedded.entities import MqError
from conformance.embedded.names import NameParser
from conformance.spec.constants.hresults import MQ_ERROR_ILLEGAL_FORMATNAME, MQ_ERROR_ILLEGAL_QUEUE_PATHNAME

GUID = "7a1f3c52-0b6e-4d6f-9a57-6f5b2f3f9a10"
PARSER = NameParser("msmq-4.0")


@pytest.mark.parametrize(
    ("text", "kind", "parts"),
    [
        (
            "DIRECT=OS:HOST\\private$\\orders;JOURNAL",
            "direct",
            {"protocol": "OS", "address": "HOST", "scope": "private", "queue": "orders", "suffix": "journal"},
        ),
        (
            "direct=tcp:10.0.0.1\\q;sub",
            "direct",
            {"protocol": "TCP", "address": "10.0.0.1", "scope": "public", "queue": "q", "subqueue": "sub"},
        ),
        (
            "DIRECT=HTTP://host:8080/msmq/Private$/q",
            "direct",
            {"protocol": "HTTP", "address": "//host:8080/msmq", "scope": "private", "queue": "q"},
        ),
        (
            "DIRECT=HTTPS://host/MSMQ\\my queue",
            "direct",
            {"protocol": "HTTPS", "address": "//host/MSMQ", "scope": "public", "queue": "my queue"},
        ),
        (
            "DIRECT=OS:h\\SYSTEM$;DEADXACT",
            "direct",
            {"protocol": "OS", "address": "h", "scope": "system", "suffix": "deadxact"},
        ),
        (f"PUBLIC={GUID};journal", "public", {"guid": GUID, "suffix": "journal"}),
        (f"PRIVATE={GUID}\\1f", "private", {"guid": GUID, "identifier": 0x1F}),
        (f"DL={GUID}@example.org", "distribution_list", {"guid": GUID, "domain": "example.org"}),
        (f"MACHINE={GUID};DEADLETTER", "machine", {"guid": GUID, "suffix": "deadletter"}),
        (f"CONNECTOR={GUID}", "connector", {"guid": GUID}),
        (f"CONNECTOR={GUID};xactonly", "connector", {"guid": GUID, "suffix": "xactonly"}),
        ("MULTICAST=239.255.0.1:65535", "multicast", {"address": "239.255.0.1", "port": 65535}),
        ("DIRECT=TCP:fe80::1\\q", "direct", {"protocol": "TCP", "address": "fe80::1", "scope": "public", "queue": "q"}),
    ],
)
def test_format_names_and_their_parts(text: str, kind: str, parts: dict[str, object]) -> None:
    name = PARSER.parse(text, "format_name")
    assert (name.kind, name.parts) == (kind, parts)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "DIRECT=",
        "DIRECT=OS:HOST",
        "DIRECT=OS:\\q",
        "DIRECT=UDP:HOST\\q",
        "DIRECT=TCP:HOST\\q",
        "DIRECT=TCP:256.1.1.1\\q",
        "DIRECT=TCP:1.2.3\\q",
        "DIRECT=OS:HOST\\a\\q",
        "DIRECT=OS:HOST\\a+b",
        "DIRECT=OS:HOST\\q;",
        "DIRECT=OS:HOST\\q;DEADXACT",
        "DIRECT=OS:HOST\\q;s;JOURNAL",
        "DIRECT=OS:HOST\\SYSTEM$;OTHER",
        "DIRECT=HTTP:host/msmq/q",
        "DIRECT=HTTP://host/q",
        "DIRECT=HTTP://host:x/msmq/q",
        "DIRECT=HTTP://host:65536/msmq/q",
        f"PUBLIC={{{GUID}}}",
        f"PUBLIC={GUID} ",
        f"PUBLIC={GUID}\n",
        f"PRIVATE={GUID}",
        f"PRIVATE={GUID}\\123456789",
        f"MACHINE={GUID}",
        f"DL={GUID}@",
        f"DL={GUID}@a,b",
        "MULTICAST=223.0.0.1:1",
        "MULTICAST=224.0.0.256:1",
        "MULTICAST=224.0.0.1",
        "MULTICAST=224.0.0.1:65536",
        "MULTICAST=224.0.0.1:080",
        "ＤIRECT=OS:HOST\\q",
        f"PUBLIC={GUID},PUBLIC={GUID}",
        "DIRECT=OS:" + "q\\" * 40_000,
    ],
)
def test_what_is_no_format_name(text: str) -> None:
    with pytest.raises(MqError) as refused:
        PARSER.parse(text, "format_name")
    assert refused.value.status == MQ_ERROR_ILLEGAL_FORMATNAME


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("HOST\\q", {"computer": "HOST", "scope": "public", "queue": "q"}),
        (".\\PRIVATE$\\q;s", {"computer": ".", "scope": "private", "queue": "q", "subqueue": "s"}),
        ("h\\system$;JOURNAL", {"computer": "h", "scope": "system", "queue": "JOURNAL"}),
        ("h\\" + "q" * 124, {"computer": "h", "scope": "public", "queue": "q" * 124}),
        ("h" * 256 + "\\é 名", {"computer": "h" * 256, "scope": "public", "queue": "é 名"}),
    ],
)
def test_path_names(text: str, parts: dict[str, str]) -> None:
    assert PARSER.parse(text, "path_name").parts == parts


@pytest.mark.parametrize(
    "text",
    [
        "q",
        "\\q",
        "HOST\\",
        "HOST\\private$\\",
        "a\\b\\q",
        "h" * 257 + "\\q",
        "h\\" + "q" * 125,
        "h\\q;",
        "h\\q;" + "s" * 33,
    ]
    + [f"h\\a{bad}b" for bad in '+,"\r\n\t\0\x7f']
    + ["h h\\q", "hö\\q", "h;x\\q"],
)
def test_what_is_no_path_name(text: str) -> None:
    with pytest.raises(MqError) as refused:
        PARSER.parse(text, "path_name")
    assert refused.value.status == MQ_ERROR_ILLEGAL_QUEUE_PATHNAME


def test_versions_differ() -> None:
    old = NameParser("msmq-1.0")
    assert old.path("h\\a+b,c").parts["queue"] == "a+b,c"
    for text in ("DIRECT=OS:h\\q;s", "MULTICAST=224.0.0.1:1"):
        with pytest.raises(MqError):
            old.format_name(text)


def test_multiple_elements() -> None:
    text = f"DIRECT=OS:h\\q,PUBLIC={GUID},DL={GUID}@d"
    assert PARSER.parse(text, "multiple_element").parts == {"elements": text.split(",")}
    for bad in (
        f"PUBLIC={GUID}",
        f"PUBLIC={GUID},",
        f",PUBLIC={GUID}",
        f"PUBLIC={GUID},DIRECT=OS:h\\q;JOURNAL",
        text + ";x y",
    ):
        with pytest.raises(MqError):
            PARSER.parse(bad, "multiple_element")


@settings(max_examples=fewer(200), deadline=None, derandomize=True, database=None)
@given(
    st.text(alphabet="DIRECT=OSTCPHprivate$\\;:/.MSMQ,0aJUNL\0é", max_size=60),
    st.sampled_from(["path_name", "format_name", "multiple_element"]),
)
def test_no_text_breaks_the_parser(text: str, form: str) -> None:
    for candidate in (text, "DIRECT=OS:h\\" + text, "DIRECT=HTTP://" + text):
        try:
            assert PARSER.parse(candidate, form).kind
        except MqError as refused:
            assert refused.status in (MQ_ERROR_ILLEGAL_FORMATNAME, MQ_ERROR_ILLEGAL_QUEUE_PATHNAME)
