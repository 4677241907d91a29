"""Draw a story as a Mermaid sequence diagram, a text that GitHub and most editors render."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from conformance.runlog.events import StoryStep

MAX_MESSAGES = 200  # a longer diagram is cut in the middle: the end shows the deviation, the beginning its causes
MAX_LABEL = 160
_ENTITIES = str.maketrans({"#": "#35;", ";": "#59;", "<": "#lt;", ">": "#gt;", "%": "#37;"})


def sequence_diagram(story: Sequence[StoryStep], broken: str = "") -> str:
    """Return the diagram of a story. broken: text of a note at its end."""
    drawn = [arrow for step in story for arrow in _arrows(step)]
    if len(drawn) > MAX_MESSAGES:
        half = MAX_MESSAGES // 2
        gap = f"Note over T,Q: {len(drawn) - MAX_MESSAGES} arrows left out"
        drawn = [*drawn[:half], gap, *drawn[-half:]]
    if broken:
        drawn.append(f"Note over T,Q: {_label(broken)}")
    head = ("sequenceDiagram", "    participant T as mqconform", "    participant Q as implementation")
    return "\n".join((*head, *(f"    {arrow}" for arrow in drawn))) + "\n"


def _arrows(step: StoryStep) -> Iterator[str]:
    """Yield the arrows of one line of a story: a call and its answers, or a note for a line without parts."""
    if not step.parts:
        yield f"Note over T,Q: {_label(step.text)}"
        return
    asked, *came = step.parts
    yield f"T->>Q: {_label(asked)}"
    yield from (f"Q-->>T: {_label(one)}" for one in came)


def _label(text: str) -> str:
    """Return one line of bounded length, with the characters special to Mermaid escaped."""
    flat = " ".join(text.split())
    short = flat if len(flat) <= MAX_LABEL else f"{flat[: MAX_LABEL - 1]}…"
    return short.translate(_ENTITIES) or "(nothing)"
