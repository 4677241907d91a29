"""Print a grammar as ABNF text, for a second ABNF parser to read."""

from __future__ import annotations

from conformance.grammar.abnf import CORE, Alt, Chars, Grammar, Lit, Node, Prose, Ref, Rep, Seq


def to_abnf(grammar: Grammar, *starts: str) -> str:
    """The definitions as one text, a line each, which ends in CR LF."""
    return "".join(f"{line}\r\n" for line in definitions(grammar, *starts).values())


def definitions(grammar: Grammar, *starts: str) -> dict[str, str]:
    """Rule name to definition (`name = ...`, one line) for the rules the starts need, without the core rules and
    those that repeat one.

    The empty text is written as an empty string, which RFC 5234 allows. Raises AbnfError for a missing rule.
    """
    return {
        rule.name: f"{rule.name} = {_node(rule.node, top=True)}"
        for key, rule in grammar.reachable(*starts).items()
        if key not in CORE
    }


def _node(node: Node, *, top: bool = False) -> str:
    match node:
        case Alt(items):
            text = " / ".join(map(_part, items)) or '""'
            return text if top else f"({text})"
        case Seq(items):
            text = " ".join(map(_node, items)) or '""'
            return text if top or len(items) < 2 else f"({text})"
        case Rep(0, 1):
            return f"[{_node(node.node, top=True)}]"
        case Rep(least, most):
            bounds = f"{least}" if least == most else f"{least or ''}*{'' if most is None else most}"
            inner = _node(node.node)
            return f"{bounds}({inner})" if isinstance(node.node, Rep) else f"{bounds}{inner}"
        case Lit(text, sensitive):
            return _literal(text, sensitive)
        case Chars(ranges):
            spans = [f"%x{low:X}" if low == high else f"%x{low:X}-{high:X}" for low, high in ranges]
            return spans[0] if len(spans) == 1 else f"({' / '.join(spans)})"
        case Ref(name):
            return name
        case Prose(text):
            return f"<{text}>"


def _part(node: Node) -> str:
    return _node(node, top=isinstance(node, Seq))


def _literal(text: str, sensitive: bool) -> str:
    if all(0x20 <= ord(char) <= 0x7E and char != '"' for char in text):
        # Without a letter the two kinds of strings are one, and the older notation is read by more tools.
        return f'%s"{text}"' if sensitive and any(char.isalpha() for char in text) else f'"{text}"'
    return f"%x{'.'.join(f'{ord(char):X}' for char in text)}"
