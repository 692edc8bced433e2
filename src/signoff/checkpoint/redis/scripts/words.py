"""What the scripts have in common: the keys of a thread, and what an answer means."""

__all__ = ["DONE", "LOST", "MOVED", "NOT_NOTED", "STALE", "WORDS"]

DONE, STALE, MOVED, LOST, NOT_NOTED = range(5)

WORDS = """
local T, C, W, B, Q, L = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local call, unpack_, pack_ = redis.call, cmsgpack.unpack, cmsgpack.pack
local function now()
    local time = call('TIME')
    return tonumber(time[1]) + tonumber(time[2]) / 1000000
end
-- By bytes: Lua itself would ask the locale.
local function is_less(a, b)
    for i = 1, math.min(#a, #b) do
        local x, y = a:byte(i), b:byte(i)
        if x ~= y then return x < y end
    end
    return #a < #b
end
-- An id as it is in a field.
local function in_field(id)
    return (id:gsub('\\1', '\\1\\2'):gsub('%z', '\\1\\1'))
end
local function number(field)
    return tonumber(call('HGET', T, field) or '0')
end
local function lineage_key(lineage)
    return L .. ':' .. lineage
end
local function writes_of(field)
    local kept = call('HGET', W, field)
    return kept and unpack_(kept) or {}
end
-- A question; what it was noted down as, is known as long as it is open.
local function ask(id, packed, noted)
    call('HSETNX', Q, id, packed)
    call('HSET', T, '?' .. id, ('%.6f'):format(noted))
end
-- Close questions, or all: those that were open, each with what it was noted down as.
local function close(ids)
    local closed = {}
    for _, id in ipairs(ids or call('HKEYS', Q)) do
        if call('HDEL', Q, id) == 1 then
            closed[#closed + 1] = id
            closed[#closed + 1] = call('HGET', T, '?' .. id) or ''
            call('HDEL', T, '?' .. id)
        end
    end
    return closed
end
local function rewrite(field, parent, body)
    local row = call('HGET', C, field)
    if row then
        local old = unpack_(row)
        call('HSET', C, field, pack_({parent, 0, old[3], old[4] or false, body}))
    end
end
"""
