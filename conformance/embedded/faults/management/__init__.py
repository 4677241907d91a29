"""Faults of management: properties, actions, and transfers that an administrator follows."""
