"""What everything in Redis stands on: scripts, commands, and who performs them.

A procedure is written once, out of scripts, each of which is one transaction in one trip:

    RENAME = Script("if redis.call('EXISTS', KEYS[1]) == 1 then redis.call('RENAME', KEYS[1], KEYS[2]) end")

    def rename(old: str, new: str) -> Steps[None]:
        yield Run(RENAME, (old, new))

and performed by a shell: `Connection(client).run(rename("a", "b"))`, or `await AsyncConnection(client).run(...)`.
Core commands and Lua only: plain Redis 6 or newer, or Valkey. All keys of a script have one hash tag, so that it
works on a cluster. While a slot is moved there, its keys are with two servers, and a script that makes up names of keys
would not find them. So each of those is told a key that is never there, beside others: then neither server runs it.
"""
