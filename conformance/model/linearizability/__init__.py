"""Linearizability: search an order in which one queue manager, doing one call at a time, gives a history's answers."""
