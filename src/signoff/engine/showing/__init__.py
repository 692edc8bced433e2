"""What streams and snapshots show of a run."""
