"""Whether a connection that nobody uses still works: as the driver hears it, without asking the server."""

from typing import Any

import psycopg
from psycopg.pq import PipelineStatus, TransactionStatus

__all__ = ["odd_setting", "is_alive", "is_cut_off", "is_idle", "is_piped", "was_closed"]

IDLE = TransactionStatus.IDLE
NOT_PIPED = PipelineStatus.OFF


def is_alive(conn: Any) -> bool:
    """Whether the server is still there, as far as can be known without a trip to it.

    A server says nothing unasked but goodbye. So a connection that was cut, since somebody ended its backend or
    the server was started again, is found before anything is sent, when it is certain that nothing was done.
    """
    if conn.closed:
        return False
    try:
        conn.pgconn.consume_input()  # mostly nothing; a notice, or why it ends
        conn.pgconn.consume_input()  # the end
    except psycopg.OperationalError:
        return False
    return True


_ODD = {
    b"client_encoding": (b"SQL_ASCII", "client_encoding=utf8"),
    b"standard_conforming_strings": (b"off", "options='-c standard_conforming_strings=on'"),
}
"""Settings with which texts would be read as bytes, or bytes written as others; and how to connect without."""


def odd_setting(conn: Any) -> str | None:
    """How to connect instead, if a connection does not hand on texts and bytes as they are."""
    said = conn.pgconn.parameter_status
    return next((instead for name, (odd, instead) in _ODD.items() if said(name) == odd), None)


def was_closed(conn: Any) -> bool:
    """Whether its owner closed a connection, as against losing it."""
    return bool(conn.closed and not conn.broken)


def is_idle(conn: Any) -> bool:
    """Whether nothing is open or under way on a connection."""
    return bool(conn.pgconn.transaction_status == IDLE)


def is_piped(conn: Any) -> bool:
    """Whether its owner has put a connection into pipeline mode, where answers come in batches, when he asks."""
    return bool(not conn.closed and conn.pgconn.pipeline_status != NOT_PIPED)


def is_cut_off(conn: Any) -> bool:
    """Whether what was asked of a connection was left in its middle, so that it takes nothing more."""
    return is_piped(conn) or bool(conn.pgconn.transaction_status == TransactionStatus.ACTIVE)
