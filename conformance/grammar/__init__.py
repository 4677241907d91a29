"""Grammars of the documents: ABNF in; automata, Lark grammars and queue names out."""
