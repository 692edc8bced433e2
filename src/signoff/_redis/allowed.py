"""Whether a server lets its user run all of a script, and keeps what it is told. It is asked once, before the first."""

import warnings
from typing import Any

from signoff._redis.effects import Run, Script
from signoff.errors import LimitedSaver, SaverUnavailable

__all__ = ["asking", "heard"]

# ARGV: commands. What of them is not there, or not allowed (a server before 7 cannot be asked that), and its memory.
_ASK = Script("""
local lacking = {}
for _, name in ipairs(ARGV) do
    local is_known, is_allowed = true, true
    if redis.acl_check_cmd then
        is_known, is_allowed = pcall(redis.acl_check_cmd, name, KEYS[1], KEYS[1], KEYS[1])
    else
        local answer = redis.pcall(name)
        is_known = not (type(answer) == 'table' and answer.err and string.find(answer.err, 'nknown'))
    end
    if not (is_known and is_allowed) then lacking[#lacking + 1] = name end
end
local memory = redis.pcall('INFO', 'memory')
return {lacking, type(memory) == 'string' and memory or ''}
""")


def asking(effect: Run) -> Run:
    """What to ask before a script is run."""
    return Run(_ASK, effect.keys, effect.script.commands)


def heard(answer: Any) -> None:
    """Refuse to go on without a right, and tell of a server that forgets."""
    lacking, memory = answer
    if lacking:
        names = [name.decode() for name in lacking]
        raise SaverUnavailable(
            f"Redis does not let this user run {', '.join(names)}, or has renamed it: a step would be cut off in its "
            "middle. Nothing was written. Give the user the right "
            f"(ACL SETUSER ... {' '.join(f'+{name.lower()}' for name in names)}), then try again."
        )
    said = dict(line.split(b":", 1) for line in memory.splitlines() if b":" in line)
    policy = said.get(b"maxmemory_policy", b"").decode()
    if policy.startswith("allkeys") and said.get(b"maxmemory") != b"0":
        warnings.warn(
            f"This Redis removes keys to make room (maxmemory-policy {policy}): a thread, a question or an item can be "
            "lost at any time. Set maxmemory-policy to noeviction, or to one of the volatile ones.",
            LimitedSaver,
            stacklevel=2,
        )
