"""Whether a connection that nobody uses still works: asked of the socket, not of the server."""

import select
from typing import Any

import psycopg
from psycopg.pq import TransactionStatus

__all__ = ["is_alive", "is_idle", "was_closed"]

IDLE = TransactionStatus.IDLE


def is_alive(conn: Any) -> bool:
    """Whether the server is still there, as far as can be known without a trip to it.

    A server says nothing unasked but goodbye. So a connection that was cut, since somebody ended its backend or
    the server was started again, is found before anything is sent, when it is certain that nothing was done.
    """
    if conn.closed:
        return False
    if not _has_something_to_say(conn):
        return True
    try:
        conn.pgconn.consume_input()  # perhaps only a notice
    except psycopg.OperationalError:
        return False
    return not _has_something_to_say(conn)


def was_closed(conn: Any) -> bool:
    """Whether its owner closed a connection, as against losing it."""
    return bool(conn.closed and not conn.broken)


def is_idle(conn: Any) -> bool:
    """Whether nothing is open or under way on a connection."""
    return bool(conn.pgconn.transaction_status == IDLE)


def _has_something_to_say(conn: Any) -> bool:
    if hasattr(select, "poll"):
        poll = select.poll()
        poll.register(conn.pgconn.socket, select.POLLIN)
        return bool(poll.poll(0))
    return bool(select.select([conn.pgconn.socket], [], [], 0)[0])
