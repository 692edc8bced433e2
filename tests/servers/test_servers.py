"""The servers that the tests use are real, answer, survive what tests do to them, and end with the run."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import psutil
import psycopg
import pytest
import redis

TESTS = Path(__file__).parent.parent


def test_each_test_has_a_schema_of_its_own(postgres_url):
    with psycopg.connect(postgres_url, autocommit=True) as conn:
        conn.execute("CREATE TABLE signoff_mine (a INT)")
        assert conn.execute("SELECT count(*) FROM pg_tables WHERE schemaname = current_schema()").fetchone() == (1,)


def test_redis_answers(redis_url, redis_prefix):
    with redis.Redis.from_url(redis_url) as client:
        client.set(f"{redis_prefix}:key", "value")
        assert client.get(f"{redis_prefix}:key") == b"value"


@pytest.mark.parametrize("end", ["stop", "kill"])
def test_a_postgres_of_ones_own_keeps_what_was_committed(own_postgres, end):
    with psycopg.connect(own_postgres.url, autocommit=True) as conn:
        conn.execute(f"CREATE TABLE {end} AS SELECT 1 AS a")
    getattr(own_postgres, end)()
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(own_postgres.url)
    own_postgres.start()
    with psycopg.connect(own_postgres.url) as conn:
        assert conn.execute(f"SELECT a FROM {end}").fetchall() == [(1,)]


@pytest.mark.parametrize("end", ["stop", "kill"])
def test_a_redis_of_ones_own_keeps_what_was_written(own_redis, end):
    with redis.Redis.from_url(own_redis.url) as client:
        client.set(end, "kept")
    getattr(own_redis, end)()
    own_redis.start()
    with redis.Redis.from_url(own_redis.url) as client:
        assert client.get(end) == b"kept"


RUN_THAT_NEEDS_BOTH = """
    import os, pathlib, signal, sys

    def test_both(postgres_url, redis_url, own_redis):
        pathlib.Path(os.environ["SEEN"]).write_text(os.environ["SIGNOFF_TEST_RUN"])
        if os.environ["END"] == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize(("end", "workers"), [("killed", []), ("orderly", ["-p", "xdist", "-n1"])])
def test_nothing_is_left_of_the_servers_when_a_run_is_over(tmp_path, end, workers):
    (tmp_path / "conftest.py").write_text((TESTS / "conftest.py").read_text())
    (tmp_path / "test_it.py").write_text(textwrap.dedent(RUN_THAT_NEEDS_BOTH))
    env = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "SIGNOFF", "COV"))}
    env |= {"PYTHONPATH": str(TESTS), "SEEN": str(tmp_path / "seen"), "END": end}
    env["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *workers, str(tmp_path)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == (0 if end == "orderly" else -signal.SIGKILL), done.stdout + done.stderr
    folder = (tmp_path / "seen").read_text()
    until(lambda: not Path(folder).exists() and not processes_in(folder))


def until(is_true):
    give_up_at = time.monotonic() + 30
    while not is_true():
        assert time.monotonic() < give_up_at, "still not so after 30 s"
        time.sleep(0.01)


def processes_in(folder):
    running = (process.info["cmdline"] or [] for process in psutil.process_iter(["cmdline"]))
    return [words for words in running if any(folder in word for word in words)]
