"""Grammars of the documents: reads ABNF; makes automata, Lark grammars and queue names."""
