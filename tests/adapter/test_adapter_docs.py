"""The page about the protocol is made from the schemas, and is the one in the repository."""

from __future__ import annotations

import re

from conformance.adapter import protocol
from tools.protocol_page import PAGE, page


def test_the_page_is_not_stale() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run python -m tools.protocol_page"


def test_every_method_has_its_section_and_every_link_its_heading() -> None:
    text = page()
    for name in protocol.methods():
        assert f"\n#### {name}\n" in text
    headings = {
        re.sub(r"[^a-z0-9_-]", "", heading.lower().replace(" ", "-"))
        for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    }
    links = set(re.findall(r"\]\(#([^)]*)\)", text))
    anchors = set(re.findall(r'<a id="([^"]+)"></a>', text))
    assert links and anchors and links <= headings | anchors


def test_the_examples_of_the_introduction_name_real_methods() -> None:
    named = set(re.findall(r'"method":"([^"]+)"', page()))
    assert named - {"pending", "event"} <= set(protocol.methods())
