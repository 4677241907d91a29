"""A grammar back as ABNF text, for another parser of ABNF to be asked the same questions."""

from __future__ import annotations

from conformance.grammar.tree import CORE, Alt, Chars, Grammar, Lit, Node, Prose, Ref, Rep, Seq


def to_abnf(grammar: Grammar, *starts: str) -> str:
    """The rules the starts need, one a line, lines ending in CR LF.

    Core rules are left out, those the grammar has itself too: they can be nothing else, and other parsers refuse them.
    """
    reached = grammar.reachable(*(starts or tuple(rule.name for rule in grammar.rules.values())))
    lines = [f"{rule.name} = {written(rule.node)}" for key, rule in reached.items() if key not in CORE]
    return "".join(f"{line}\r\n" for line in lines)


def written(node: Node, *, inside: bool = False) -> str:
    """A node as ABNF; inside: in brackets where it is more than one element."""
    match node:
        case Lit(text, sensitive):
            return _literal(text, sensitive)
        case Chars(ranges):
            spans = [f"%x{low:X}" if low == high else f"%x{low:X}-{high:X}" for low, high in ranges]
            return f"({' / '.join(spans)})" if len(spans) != 1 else spans[0]
        case Seq(items):
            joined = " ".join(written(each, inside=True) for each in items)
            return f"({joined})" if inside else joined
        case Alt(items):
            joined = " / ".join(written(each) for each in items)
            return f"({joined})" if inside else joined
        case Rep(0, 1):
            return f"[{written(node.node)}]"
        case Rep(least, most):
            times = f"{least}" if least == most else f"{least or ''}*{'' if most is None else most}"
            inner = written(node.node, inside=True)
            return times + (f"({inner})" if isinstance(node.node, Rep) else inner)
        case Ref(name):
            return name
        case Prose(text):
            return f"<{text}>"


def _literal(text: str, sensitive: bool) -> str:
    if not text:
        return '""'
    if all("\x20" <= char <= "\x7e" and char != '"' for char in text):
        return f'%s"{text}"' if sensitive and any(char.isalpha() for char in text) else f'"{text}"'
    return "%x" + ".".join(f"{ord(char):X}" for char in text)
