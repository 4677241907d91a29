"""Features: the distinctions that the specification makes when an operation happens, a module for each family.

`table.FEATURES` has them all by method; `constraints.excluded` tells the situations of them that do not count.
"""
