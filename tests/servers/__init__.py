"""Real servers for tests, on a fresh machine and without root: see postgres.py and redis.py."""
