"""A story as a Mermaid sequence diagram: text that GitHub and most editors draw."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

MAX_MESSAGES = 200  # a longer diagram is cut in the middle: its end is what matters, its beginning how it came there
MAX_LABEL = 160
_ENTITIES = str.maketrans({"#": "#35;", ";": "#59;", "<": "#lt;", ">": "#gt;", "%": "#37;"})


def sequence_diagram(story: Sequence[str], broken: str = "") -> str:
    """The diagram of a story told in lines of `what was asked -> what came of it`. broken: a note at its end."""
    drawn = [arrow for line in story for arrow in _arrows(line)]
    if len(drawn) > MAX_MESSAGES:
        half = MAX_MESSAGES // 2
        gap = f"Note over T,Q: {len(drawn) - MAX_MESSAGES} arrows left out"
        drawn = [*drawn[:half], gap, *drawn[-half:]]
    if broken:
        drawn.append(f"Note over T,Q: {_label(broken)}")
    head = ("sequenceDiagram", "    participant T as mqconform", "    participant Q as implementation")
    return "\n".join((*head, *(f"    {arrow}" for arrow in drawn))) + "\n"


def _arrows(line: str) -> Iterator[str]:
    """What one line of a story draws: a question and its answers, or a note for a line that is neither."""
    asked, arrow, rest = line.partition(" -> ")
    asked, *ended = asked.split("; the waiting ") if not arrow else [asked]
    answer, *later = rest.split("; the waiting ")
    if not arrow and not ended:
        yield f"Note over T,Q: {_label(asked)}"
        return
    yield f"T->>Q: {_label(asked)}"
    if arrow:
        yield f"Q-->>T: {_label(answer)}"
    for one in (*ended, *later):
        yield f"Q-->>T: {_label('the waiting ' + one)}"


def _label(text: str) -> str:
    """One line that means nothing to Mermaid."""
    flat = " ".join(text.split())
    short = flat if len(flat) <= MAX_LABEL else f"{flat[: MAX_LABEL - 1]}…"
    return short.translate(_ENTITIES) or "(nothing)"
