"""Situations: an operation with the values of two or three of its features, and histories that meet them."""
