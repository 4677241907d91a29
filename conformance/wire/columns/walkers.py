"""Emits a walker per section, which finds the section's length and notes the places of its parts.

`walk_NAME(p, at, end, o)` returns the offset behind the section, or -1 where `dissect` would note trouble. p: address
of the packet. at, end: offsets in it. o: address of the slots.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from conformance.wire.columns.lists import list_block
from conformance.wire.columns.shapes import (
    NotEmpty,
    Place,
    Presence,
    Shapes,
    Sort,
    UnknownShapeError,
    is_among,
    number,
)
from conformance.wire.decode import FILLED
from conformance.wire.layout import Blob, Branch, Condition, Padding, Run, Section, Step, steps_of

TEXT_FACTS = ("Terminated", "Inner", "Odd")


@dataclass(slots=True)
class _Walker:
    """The walker of one section, while it is being written."""

    section: Section
    shapes: Shapes
    lines: list[str] = field(default_factory=list)
    anchored: bool = False

    def put(self, line: str, depth: int) -> None:
        self.lines.append("    " * depth + line)

    def steps(self, steps: tuple[Step, ...], given: tuple[Presence, ...], depth: int) -> None:
        for step in steps:
            match step:
                case Run():
                    self.run(step, given, depth)
                case Blob():
                    self.blob(step, given, depth)
                case Padding():
                    self.padding(step, given, depth)
                case Branch():
                    self.branch(step, given, depth)
                case _:
                    raise UnknownShapeError(f"no code for {step!r}")

    def run(self, step: Run, given: tuple[Presence, ...], depth: int) -> None:
        first = not self.anchored and not given
        self.anchored = True
        self.put(f"if at + {step.struct.size} > end:", depth)
        self.put("return -1", depth + 1)
        if given:
            self.apart(step, given, depth)
        else:
            name = self.section.name if first else f"{self.section.name}@{step.fields[0][0]}"
            anchor = self.shapes.slot(name)
            if not first:
                self.put(f"note(o, {anchor}, at)", depth)
            self.put(f"a{anchor} = p + at", depth)
            for key, offset, width, is_guid in step.fields:
                self.field(key, given, anchor, offset, width, is_guid, step)
        self.put(f"at += {step.struct.size}", depth)

    def apart(self, step: Run, given: tuple[Presence, ...], depth: int) -> None:
        """Give each field under a condition an anchor of its own: another condition may put it at another place."""
        for key, offset, width, is_guid in step.fields:
            anchor = self.shapes.slot(f"{key}@")
            self.put(f"note(o, {anchor}, at + {offset})", depth)
            self.put(f"a{anchor} = p + at + {offset}", depth)
            self.field(key, given, anchor, 0, width, is_guid, step)

    def field(
        self, key: str, given: tuple[Presence, ...], anchor: int, offset: int, width: int, is_guid: bool, step: Run
    ) -> None:
        name, sort = self.section.name, Sort.GUID if is_guid else Sort.NUMBER
        self.add(Place(key, name, sort, given, anchor, offset, width, size=16 if is_guid else 0))
        for bit_key, word, low, mask in step.bits:
            if word == key:
                self.add(Place(bit_key, name, Sort.NUMBER, given, anchor, offset, width, low, mask))

    def add(self, place: Place) -> None:
        self.shapes.add(place)

    def value(self, key: str) -> str:
        """Return the value of a number of this section that was walked over before."""
        return number(self.shapes.place(key))

    def blob(self, step: Blob, given: tuple[Presence, ...], depth: int) -> None:
        anchor, name = self.shapes.slot(f"{step.key}@"), self.section.name
        if step.of:
            length = self.shapes.slot(f"{step.key}#")
            times = f" * {step.length.times}" if step.length.times != 1 else ""
            minus = f" - {step.length.minus}" if step.length.minus else ""
            self.put(f"n{length} = {self.value(step.of)}{times}{minus}", depth)
            if minus:
                self.put(f"if n{length} < 0:", depth)
                self.put("return -1", depth + 1)
            size, there = f"n{length}", (*given, NotEmpty(length))
            place = Place(step.key, name, Sort.BYTES, there, anchor, length=length)
        else:
            size, there = str(step.length.fixed), given
            place = Place(step.key, name, Sort.BYTES, there, anchor, size=step.length.fixed)
        self.put(f"if at + {size} > end:", depth)
        self.put("return -1", depth + 1)
        self.put(f"note(o, {anchor}, at)", depth)
        if step.of:
            self.put(f"note(o, {place.length}, {size})", depth)
        if step.elements is not None:
            block = list_block(self.shapes, step.key, name, given, step.elements)
            count = self.value(step.count)
            self.put(f"list_facts(p + at, {size}, at - start, {count}, o, {block})", depth)
        self.put(f"at += {size}", depth)
        if not step.text:
            self.add(place)
            self.facts(step.key, place, FILLED if step.filled else ())
            return
        self.add(replace(place, sort=Sort.TEXT))
        self.facts(step.key, place, TEXT_FACTS)

    def facts(self, key: str, of: Place, facts: tuple[str, ...]) -> None:
        """Add the places of facts about a field of text."""
        for fact in facts:
            sort = Sort.NUMBER if fact == "Behind" else Sort.FLAG
            self.add(replace(of, key=f"{key}.{fact}", sort=sort, fact=fact))

    def padding(self, step: Padding, given: tuple[Presence, ...], depth: int) -> None:
        if step.to & (step.to - 1):
            raise UnknownShapeError(f"{step.key} aligns to {step.to}, no power of two")
        anchor, need = self.shapes.slot(f"{step.key}@"), self.shapes.slot(f"{step.key}!")
        length, complete = self.shapes.slot(f"{step.key}#"), self.shapes.slot(f"{step.key}.Complete")
        self.put(f"n{need} = (start - at) & {step.to - 1}", depth)
        self.put(f"n{length} = min(n{need}, end - at)", depth)
        self.put(f"note(o, {anchor}, at)", depth)
        self.put(f"note(o, {need}, n{need})", depth)
        self.put(f"note(o, {length}, n{length})", depth)
        self.put(f"note(o, {complete}, 1 if n{need} == n{length} else 0)", depth)
        self.put(f"at += n{length}", depth)
        name = self.section.name
        self.add(Place(step.key, name, Sort.BYTES, (*given, NotEmpty(need)), anchor, length=length))
        self.add(Place(f"{step.key}.Complete", name, Sort.FLAG, given, complete, fact="slot"))

    def branch(self, step: Branch, given: tuple[Presence, ...], depth: int) -> None:
        if step.condition is not None:
            self.put(f"if {met(self.value(step.condition.key), step.condition)} != 0:", depth)
            self.inside(step.options[1], (*given, step.condition), depth)
            return
        self.put(f"by = {self.value(step.by)}", depth)
        word = "if"
        for selector, steps in step.options.items():
            self.put(f"{word} by == {selector}:", depth)
            self.inside(steps, (*given, Condition(step.by, (selector,))), depth)
            word = "elif"
        self.put("else:", depth)
        self.put("return -1", depth + 1)

    def inside(self, steps: tuple[Step, ...], given: tuple[Presence, ...], depth: int) -> None:
        if not steps:
            self.put("pass", depth + 1)
        self.steps(steps, given, depth + 1)


def met(value: str, condition: Condition) -> str:
    """Emit whether a value meets a condition: 0 or 1."""
    among = is_among(value, condition.values)
    return f"(1 - {among})" if condition.negate else among


def function_of(section: Section) -> str:
    """Return the name of a section's walker."""
    return f"walk_{section.name}"


def walker(section: Section, shapes: Shapes) -> str:
    """Emit a section's walker; its places are added to `shapes`."""
    shapes.bit(section.name)
    one = _Walker(section, shapes)
    one.steps(steps_of(section), (), 1)
    if f"{section.name}" not in shapes.slots:
        raise UnknownShapeError(f"{section.name} does not begin with fields of fixed width")
    head = [
        f"def {function_of(section)}(p, at, end, o):",
        f'    """{section.source}"""',
        "    start = at",
        f"    note(o, {shapes.slots[section.name]}, at)",
    ]
    return "\n".join([*head, *one.lines, "    return at"]) + "\n"
