"""Planning of the histories that meet all situations."""
