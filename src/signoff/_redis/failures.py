"""Errors of the driver, told apart by what can be done about them."""

import redis
import redis.exceptions
from redis.exceptions import MasterDownError

from signoff.errors import InvalidInput, SaverUnavailable, Undecodable

__all__ = [
    "CLUSTER",
    "NOT_THERE",
    "closed_client",
    "cluster_unavailable",
    "is_read_only",
    "not_a_client",
    "not_an_address",
    "translated",
    "unavailable",
]

NOT_THERE = (redis.ConnectionError, redis.TimeoutError)
"""What every command fails with if there is no server. A server that is still loading its data is one of them."""

CLUSTER = (redis.exceptions.ClusterError, redis.exceptions.RedisClusterException, redis.exceptions.TryAgainError)
"""What a cluster fails with that has lost a server, or is just giving some of what it has to another one."""

DOES_NOT = (redis.exceptions.NoPermissionError,)
REFUSES = ("NOREPLICAS", "MISCONF", "BUSY ", "OOM command")
"""What a server says that works, and does not take writes just now, or not from this user; older ones inside of what
they say of a script."""

NOT_ALLOWED = ("ACL failure", "can't run this command", "nknown command", "nknown Redis command")
"""What a server says of a command that it does not know, or of one inside of a script that this user may not run."""


def unavailable(error: Exception) -> SaverUnavailable:
    """The error for a server that is not there, or that the client has no connection left to."""
    if isinstance(error, redis.exceptions.MaxConnectionsError):
        return SaverUnavailable(
            f"All connections of the Redis client are in use ({error}), and nothing was written. Allow it more with "
            "max_connections, or give it a BlockingConnectionPool, where it waits for one."
        )
    return SaverUnavailable(
        f"Redis cannot be reached ({error}). See that the server runs and that the address is right, then try again: "
        "what was to be written was written whole or not at all, and may be repeated safely."
    )


def closed_client() -> InvalidInput:
    """The error for a client that was made of an address, and that was closed."""
    return InvalidInput(
        "The connection to Redis is closed. Keep it open as long as graphs use it: inside of the `with` block of "
        "from_conn_string(...), read a stream to its end."
    )


def is_read_only(error: redis.ResponseError) -> bool:
    """Whether the server at the other end is a replica, and nothing was written."""
    return isinstance(error, (redis.exceptions.ReadOnlyError, MasterDownError)) or "READONLY You" in str(error)


def cluster_unavailable(error: Exception) -> SaverUnavailable:
    """The error for a cluster of which nobody answers for what is asked for."""
    if isinstance(error, MasterDownError):  # which redis-py takes for one of a cluster
        return SaverUnavailable(
            f"This Redis is a replica that has lost its master, and answers nothing ({error}). Nothing was written: "
            "give the address of the master, or try again when the replica has found it."
        )
    return SaverUnavailable(
        f"The Redis cluster does not answer ({error}): it has lost a server, or is moving what is asked for to another "
        "one. Try again when it is whole: what was to be written was written whole or not at all, and may be repeated "
        "safely."
    )


def translated(error: redis.ResponseError) -> Exception:
    """The error as what a user can act on; itself if it has nothing to do with the user."""
    if isinstance(error, redis.exceptions.OutOfMemoryError):
        return SaverUnavailable("Redis is out of memory (maxmemory): nothing was written. Give it more, or delete.")
    if is_read_only(error):
        return SaverUnavailable("This Redis is a replica, which takes no writes: give the address of its master.")
    if isinstance(error, DOES_NOT) or any(word in str(error) for word in REFUSES):
        return SaverUnavailable(
            f"Redis does not do what it is asked ({error}). Nothing was written. Mend that at the server, or give this "
            "user the right to it, then try again."
        )
    if any(word in str(error) for word in NOT_ALLOWED):
        return SaverUnavailable(
            f"Redis does not let this user do all that is needed, or has renamed a command ({error}). Mend that at the "
            "server, then try again."
        )
    if "user_script" in str(error):
        return Undecodable(f"What is stored in Redis is broken or was changed: a script stumbled over it ({error}).")
    return error


def not_a_client(client: object, kind: str) -> InvalidInput:
    """The error for something that no command can be given to."""
    return InvalidInput(
        f"{client!r} is no way to Redis: give a {kind} client, or an address such as redis://host:6379."
    )


def not_an_address(error: ValueError) -> InvalidInput:
    """The error for an address that cannot be read; it is not shown itself, as it may have a password in it."""
    return InvalidInput(f"The address of Redis cannot be read ({error}). Write redis://host:6379.")
