"""Histories, that is sequences of calls: drive them, generate them by walks, shrink, describe and rejudge them."""
