"""A transaction pooler: it stands between Postgres and its clients, and gives a client another session each time.

What pgbouncer does with pool_mode=transaction, as unkindly as it may: a client keeps a session for one transaction
only, and never has the same one twice in a row. Nothing that a session remembers can be relied on.
"""

import asyncio
import struct
from pathlib import Path
from typing import Any

SYNC, QUERY, FLUSH, TERMINATE, READY = b"S", b"Q", b"H", b"X", b"Z"
IDLE = b"I"


class Session:
    """A connection to the server."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer


class Pooler:
    """Listens in a folder, for a server that listens in another one."""

    def __init__(self, server: Path, folder: Path, sessions: int = 3) -> None:
        self._server, self._folder, self._count = server / ".s.PGSQL.5432", folder, sessions
        self._pools: dict[bytes, asyncio.Queue[Session]] = {}
        self._greetings: dict[bytes, bytes] = {}
        self._clients: set[asyncio.Task[None]] = set()
        self.transactions = 0
        self.sessions = 0

    async def start(self) -> None:
        self._listening = await asyncio.start_unix_server(self._serve, self._folder / ".s.PGSQL.5432")

    async def stop(self) -> None:
        self._listening.close()
        for client in list(self._clients):
            client.cancel()
        await asyncio.gather(*self._clients, return_exceptions=True)
        for pool in self._pools.values():
            while not pool.empty():
                writer = pool.get_nowait().writer
                writer.close()
                await writer.wait_closed()

    # Clients

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._clients.add(task)
        try:
            size = await reader.readexactly(4)
            hello = size + await reader.readexactly(struct.unpack("!I", size)[0] - 4)
            pool = await self._pool(hello)
            writer.write(self._greetings[hello])
            await self._talk(reader, writer, pool)
        except asyncio.IncompleteReadError:
            pass  # the client has left
        finally:
            self._clients.discard(task)
            writer.close()

    async def _talk(self, reader: Any, writer: Any, pool: "asyncio.Queue[Session]") -> None:
        asking = _soon(reader)
        try:
            while not _is_goodbye(await asking):
                session = await pool.get()  # the one that nobody has had for the longest time
                try:
                    asking = await self._transaction(reader, writer, session, asking)
                finally:
                    pool.put_nowait(session)
        finally:
            asking.cancel()

    async def _transaction(self, reader: Any, writer: Any, session: Session, asking: Any) -> Any:
        """Relay until the server is idle and has answered all that it was asked. Returns what the client says next."""
        self.transactions += 1
        owed, is_begun = 0, False
        answering = _soon(session.reader)
        while True:
            await asyncio.wait({asking, answering}, return_when=asyncio.FIRST_COMPLETED)
            if answering.done():
                answer = answering.result()
                writer.write(answer)
                owed -= answer[:1] == READY
                if answer[:1] == READY and answer[5:6] == IDLE and not owed and not is_begun:
                    return asking
                answering = _soon(session.reader)
            elif not _is_goodbye(message := asking.result()):
                session.writer.write(message)
                is_begun = is_begun if message[:1] == FLUSH else message[:1] not in (SYNC, QUERY)
                owed += message[:1] in (SYNC, QUERY)
                asking = _soon(reader)

    # Sessions

    async def _pool(self, hello: bytes) -> asyncio.Queue[Session]:
        """Sessions that were begun as the client wants to begin one."""
        if hello not in self._pools:
            sessions = [await self._begin(hello) for _ in range(self._count)]
            pool = self._pools.setdefault(hello, asyncio.Queue())
            for session in sessions:
                pool.put_nowait(session)
        return self._pools[hello]

    async def _begin(self, hello: bytes) -> Session:
        self.sessions += 1
        reader, writer = await asyncio.open_unix_connection(self._server)
        writer.write(hello)
        greeting = b""
        while not greeting.endswith(READY + b"\0\0\0\5" + IDLE):
            greeting += await _message(reader)
        self._greetings[hello] = greeting
        return Session(reader, writer)


def _soon(reader: asyncio.StreamReader) -> "asyncio.Task[bytes]":
    return asyncio.ensure_future(_message(reader))


def _is_goodbye(message: bytes) -> bool:
    return message[:1] == TERMINATE


async def _message(reader: asyncio.StreamReader) -> bytes:
    head = await reader.readexactly(5)
    return head + await reader.readexactly(struct.unpack("!I", head[1:])[0] - 4)
