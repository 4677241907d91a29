"""Features: the distinctions that the specification makes when an operation happens, a module for each family."""
