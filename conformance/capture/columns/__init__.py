"""Reads captures fast: a classic pcap file is walked in place, its TCP reassembled, its packets given by position."""
