"""The same commands on servers: the address says which database it is."""

import subprocess
import sys
from urllib.parse import quote, urlencode

import pytest
from psycopg.conninfo import conninfo_to_dict

from signoff.checkpoint.redis import RedisSaver
from signoff.cli.codes import ALREADY_ANSWERED, DONE, PAUSED, USAGE

APP = "flows.py:app"


@pytest.fixture(params=["sqlite", "postgres", "redis"])
def db(request, tmp_path):
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'app.db'}"
    elif request.param == "postgres":
        yield as_address(request.getfixturevalue("postgres_url"))
    else:
        url = request.getfixturevalue("redis_url")
        yield url
        with RedisSaver.from_conn_string(url) as saver:
            saver.delete_thread("of-the-databases")


def as_address(conninfo: str) -> str:
    """The words of a connection as an address."""
    return f"postgresql://?{urlencode(conninfo_to_dict(conninfo), quote_via=quote)}"


def test_a_thread_is_run_listed_answered_and_read(signoff, db):
    thread = "of-the-databases"
    done = signoff("run", APP, '{"amount": 4}', "--thread", thread, "--db", db, "--json")
    assert done.code == PAUSED
    (question,) = signoff("inbox", "--thread", thread, "--db", db, "--json").json["questions"]
    assert signoff("approve", question["id"], "--by", "ben", "--app", APP, "--db", db).code == DONE
    assert signoff("reject", question["id"], "--db", db).code == ALREADY_ANSWERED
    assert signoff("state", thread, "--db", db, "--json").json["values"] == {"amount": 0, "said": True}
    kinds = [event["kind"] for event in signoff("history", thread, "--db", db, "--json").json["events"]]
    assert kinds == ["input", "ran", "asked", "answered", "ran", "ran"]


def test_an_address_that_is_none_says_what_one_looks_like(signoff):
    done = signoff("threads", "--db", "app.db")
    assert done.code == USAGE
    assert "sqlite:///app.db" in done.err


@pytest.mark.parametrize(("scheme", "package"), [("postgresql", "psycopg"), ("redis", "redis")])
def test_a_server_without_its_package_says_what_to_install_and_tells_no_password(scheme, package, tmp_path):
    look = ["threads", "--db", f"{scheme}://ana:secret@localhost/app"]
    without = f"import sys\nsys.modules[{package!r}] = None\nfrom signoff.cli.app import app\napp({look!r})"
    done = subprocess.run([sys.executable, "-c", without], capture_output=True, text=True, cwd=tmp_path, timeout=60)
    assert done.returncode == USAGE
    assert "secret" not in done.stderr
    assert f"needs the package {package}" in done.stderr
    assert 'pip install "signoff[' in done.stderr
