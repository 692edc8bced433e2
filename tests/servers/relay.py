"""A relay: it stands between a client and a server, and loses an answer when it is told to."""

import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from servers.postgres import PostgresServer
from servers.redis import RedisServer

CHUNK = 1 << 16

AnyRelay = TypeVar("AnyRelay", bound="Relay")


class Relay:
    """Passes on what a client and a server at a socket say to each other."""

    def __init__(self, target: Path) -> None:
        self._target = target
        self._words: bytes | None = None
        self._stays_away = False
        self._meanwhile: Callable[[], object] = bool
        self.is_away = False
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        self._open: set[socket.socket] = set()
        self._closing = threading.Lock()
        self._accepting = threading.Thread(target=self._accept, daemon=True)
        self._accepting.start()

    def lose_answer_to(
        self, words: bytes, *, and_stay_away: bool = False, meanwhile: Callable[[], object] = bool
    ) -> None:
        """Pass on the next thing that has these words in it, and cut the connection when the server has answered.

        meanwhile: what others do before the client hears of it.
        """
        self._words, self._stays_away, self._meanwhile = words, and_stay_away, meanwhile

    @property
    def has_lost(self) -> bool:
        """Whether the answer was lost."""
        return self._words is None

    def lead_to(self, server: RedisServer) -> None:
        """Take those who connect from now on to another server."""
        self._target = server.folder / "socket"

    def go_away(self) -> None:
        """Cut every connection, and refuse others."""
        self.is_away = True
        self._end(*self._open)

    def come_back(self) -> None:
        self.is_away = False

    def close(self) -> None:
        self._listening.shutdown(socket.SHUT_RDWR)  # which wakes the one who accepts; to close would not
        self._accepting.join()
        self._listening.close()
        self._end(*self._open)

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listening.accept()
            except OSError:
                return
            with self._closing:
                if self.is_away:
                    client.close()
                    continue
                server = socket.socket(socket.AF_UNIX)
                server.connect(str(self._target))
                self._open |= {client, server}
            threading.Thread(target=self._serve, args=(client, server), daemon=True).start()

    def _serve(self, client: socket.socket, server: socket.socket) -> None:
        """Both directions. A socket is closed when nobody reads it any more: its number is the next connection's."""
        loses = threading.Event()
        asking = threading.Thread(target=self._ask, args=(client, server, loses), daemon=True)
        asking.start()
        with suppress(OSError):  # one of the two has gone
            self._answer(client, server, loses)
        self._end(client, server)
        asking.join()
        with self._closing:
            self._open -= {client, server}
            client.close()
            server.close()

    def _end(self, *ones: socket.socket) -> None:
        """Whoever reads them hears no more."""
        with self._closing:
            for one in self._open.intersection(ones):
                with suppress(OSError):  # it has ended already
                    one.shutdown(socket.SHUT_RDWR)

    def _ask(self, client: socket.socket, server: socket.socket, loses: threading.Event) -> None:
        with suppress(OSError):
            while chunk := client.recv(CHUNK):
                if self._words is not None and self._words in chunk:
                    self.is_away, self._words = self._stays_away, None
                    loses.set()
                server.sendall(chunk)
        self._end(server)

    def _answer(self, client: socket.socket, server: socket.socket, loses: threading.Event) -> None:
        while (chunk := server.recv(CHUNK)) and not loses.is_set():
            client.sendall(chunk)
        if loses.is_set():
            self._meanwhile()


class Farewell(Relay):
    """Before a Postgres. An answer ends after some messages with what the server says to a session that is ended."""

    passed = 0
    """How many messages of the answer are passed on."""
    are_more = False
    """Whether the answer had more of them."""

    def say_goodbye_in_answer_to(self, words: bytes, *, after: int) -> None:
        self.passed = after
        self.lose_answer_to(words)

    def _answer(self, client: socket.socket, server: socket.socket, loses: threading.Event) -> None:
        while (chunk := server.recv(CHUNK)) and not loses.is_set():
            client.sendall(chunk)
        if not loses.is_set():
            return
        while not chunk[:-1].endswith(READY):
            chunk += server.recv(CHUNK)
        messages = _messages(chunk)
        self.are_more = self.passed < len(messages) - 1
        client.sendall(b"".join(messages[: self.passed]) + GOODBYE)


READY = b"Z\0\0\0\5"
REASON = b"SFATAL\0C57P01\0Mterminating connection due to administrator command\0\0"
GOODBYE = b"E" + struct.pack("!I", len(REASON) + 4) + REASON


def _messages(answer: bytes) -> list[bytes]:
    found = []
    while answer:
        end = 1 + struct.unpack("!I", answer[1:5])[0]
        found.append(answer[:end])
        answer = answer[end:]
    return found


@contextmanager
def relayed(server: PostgresServer | RedisServer, kind: type[AnyRelay] = Relay) -> Iterator[tuple[AnyRelay, str]]:
    """A relay before a server, and the address there."""
    is_redis = isinstance(server, RedisServer)
    relay = kind(server.folder / ("socket" if is_redis else ".s.PGSQL.5432"))
    place = f"127.0.0.1:{relay.port}"
    try:
        yield (
            relay,
            f"redis://{place}"
            if is_redis
            else f"postgresql://postgres@{place}/postgres?sslmode=disable&gssencmode=disable",
        )
    finally:
        relay.close()
