"""The index of open questions, over all threads: each is in it twice, by the time when it was asked and by its id."""

from signoff._redis.effects import Script

__all__ = ["CROSS_OUT_ASKED", "NOTE_ASKED"]

_NOW = """
local call = redis.call
local time = call('TIME')
local now = tonumber(time[1]) + tonumber(time[2]) / 1000000
"""

# KEYS: the index, and when what is in it was noted down. ARGV: of each question its two members.
NOTE_ASKED = Script(
    _NOW
    + """
for i = 1, #ARGV, 2 do
    call('ZADD', KEYS[1], 0, ARGV[i], 0, ARGV[i + 1])
    call('HSET', KEYS[2], ARGV[i + 1], ('%.6f'):format(now))
end
return ('%.6f'):format(now)
"""
)

# ARGV: a grace; and of each question that is not open how its members by id begin, and when it was noted down, empty if
# that is not known. What was noted down since is for the next one.
CROSS_OUT_ASKED = Script(
    _NOW
    + """
for i = 2, #ARGV, 2 do
    local last = tonumber(ARGV[i + 1]) or now - tonumber(ARGV[1])
    for _, member in ipairs(call('ZRANGEBYLEX', KEYS[1], '[' .. ARGV[i], '(' .. ARGV[i] .. '\\255')) do
        local noted = call('HGET', KEYS[2], member)
        if not noted or tonumber(noted) <= last then
            local question, asked_at = member:match('^i(.*)%z(.-)$')
            call('ZREM', KEYS[1], member, 't' .. asked_at .. '\\0' .. question)
            call('HDEL', KEYS[2], member)
        end
    end
end
return 1
"""
)
