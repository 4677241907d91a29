"""Captures read fast: a classic pcap file walked in place, its TCP put in order, its packets told by where they are."""
