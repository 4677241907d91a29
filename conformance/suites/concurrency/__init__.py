"""Many clients at once: what they saw must be what one client at a time could have seen, MS-MQDMPR 3.1.7."""
