"""The scripts. Each is one transaction, and doing it twice is the same as doing it once.

KEYS are those of one thread: t, c, w, b, q, l, n. What is written is one argument, packed. A row of `c` is
{parent, depth, seal, run, body}, one of `w` a list of {task, index, path, writes}.
"""

from signoff._redis.effects import Script

__all__ = ["APPEND", "CHILDREN", "CLEAN", "COPY", "CROSS_OUT", "DELETE", "DONE", "DOOM", "EVERYTHING", "FETCH", "LOST",
           "MOVED", "NOTE", "NOT_NOTED", "PARTS", "RENEW", "SINGLES", "STALE"]  # fmt: skip

DONE, STALE, MOVED, LOST, NOT_NOTED = range(5)

_WORDS = """
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
local function rewrite(field, parent, body)
    local row = call('HGET', C, field)
    if row then
        local old = unpack_(row)
        call('HSET', C, field, pack_({parent, 0, old[3], old[4] or false, body}))
    end
end
"""

APPEND = Script(
    _WORDS
    + """
local p = unpack_(ARGV[1])
local at = now()
local same = 0
for _, row in ipairs(p.rows) do
    local there = call('HGET', C, row.field)
    if there and unpack_(there)[3] == row.seal then same = same + 1 end
end
if same > 0 and same == #p.rows then return 0 end

-- Unless it was the last of a run, and all of it is there.
local function refused(answer)
    if not p.lease.ends or #p.rows > 0 or #p.writes == 0 then return answer end
    for _, write in ipairs(p.writes) do
        local is_there = false
        for _, old in ipairs(writes_of(write.field)) do
            is_there = is_there or (old[1] == write.task and old[2] == write.idx and old[4] == write.data)
        end
        if not is_there then return answer end
    end
    return 0
end
local is_ours = false
local lease = p.lease
if lease and lease.epoch == 0 then
    local epoch = number('epoch')
    is_ours = not lease.ends and epoch == lease.new_epoch and call('HGET', T, 'holder') == lease.holder
    if not is_ours and (epoch ~= lease.seen_epoch or number('changes') ~= lease.seen_changes) then
        return refused(2)
    end
elseif lease and number('epoch') ~= lease.epoch then
    return refused(3)
end
if call('EXISTS', T) == 0 and not (p.noted and at - p.noted < p.grace / 2) then return 4 end
if #p.asked > 0 and not (p.noted_asking and at - p.noted_asking < p.grace / 2) then return 4 end

local removed, fresh = {}, {}
for _, field in ipairs(p.removed) do removed[field] = true end
for _, row in ipairs(p.rows) do
    if call('HEXISTS', C, row.field) == 1 and not removed[row.field] then return 1 end
    if row.parent_seal and not fresh[row.parent_field] then
        local parent = call('HGET', C, row.parent_field)
        if not parent or unpack_(parent)[3] ~= row.parent_seal then return 1 end
    end
    fresh[row.field] = true
end
for _, write in ipairs(p.writes) do
    if not write.replaces then
        for _, old in ipairs(writes_of(write.field)) do
            if old[1] == write.task and old[2] == write.idx and old[4] ~= write.data then return 1 end
        end
    end
end
local ends = {}
for _, one in ipairs(p.items) do
    local has = ends[one.lineage] or call('LLEN', lineage_key(one.lineage))
    if has ~= one.start then return 1 end
    ends[one.lineage] = has + #one.items
end

if lease and lease.epoch == 0 and not is_ours then
    call('HSET', T, 'epoch', lease.new_epoch)
end
if lease and lease.ends then
    call('HDEL', T, 'holder')
elseif lease and lease.epoch == 0 then
    call('HSET', T, 'holder', lease.holder, 'expires', lease.lease_s and tostring(at + lease.lease_s) or 'inf')
end
if p.closes_all then call('DEL', Q) end
for _, id in ipairs(p.closed) do call('HDEL', Q, id) end
for _, question in ipairs(p.asked) do call('HSETNX', Q, question[1], question[2]) end
for _, one in ipairs(p.rewritten) do rewrite(one.field, one.parent or false, one.body) end
for _, field in ipairs(p.removed) do call('HDEL', C, field) end
for _, blob in ipairs(p.blobs) do call('HSETNX', B, blob[1], blob[2]) end
for _, one in ipairs(p.items) do
    if one.start == 0 then call('SADD', L, one.lineage) end
    for _, item in ipairs(one.items) do call('RPUSH', lineage_key(one.lineage), item) end
end
for _, write in ipairs(p.writes) do
    local kept, is_there = writes_of(write.field), false
    for _, old in ipairs(kept) do
        if old[1] == write.task and old[2] == write.idx then
            old[3], old[4], is_there = write.path, write.data, true
        end
    end
    if not is_there then kept[#kept + 1] = {write.task, write.idx, write.path, write.data} end
    call('HSET', W, write.field, pack_(kept))
end
if #p.writes > 0 then call('HSETNX', T, 'w', 1) end
for _, row in ipairs(p.rows) do
    call('HSET', C, row.field, row.packed)
    local newest = call('HGET', T, 'h' .. row.ns)
    if not newest or is_less(newest, row.id) then call('HSET', T, 'h' .. row.ns, row.id) end
end
call('HINCRBY', T, 'changes', 1)
return 0
"""
)

RENEW = Script(
    _WORDS
    + """
if number('epoch') ~= tonumber(ARGV[1]) then return 3 end
call('HSET', T, 'expires', ARGV[2] ~= '' and tostring(now() + tonumber(ARGV[2])) or 'inf')
return 0
"""
)

# ARGV: namespace as in a field, id (empty for the newest), a seal that is known, whether the standing is wanted.
# A thread is torn if a key of it is gone: `t` knows the newest checkpoints, and whether there is a `w`.
FETCH = Script(
    _WORDS
    + """
local ns, id = ARGV[1], ARGV[2]
local is_head = id == ''
if is_head then id = call('HGET', T, 'h' .. ns) or '' end
local rows, last = {}, nil
local field = ns .. '\\0' .. id
while field do
    local packed = call('HGET', C, field)
    if not packed then break end
    local row = unpack_(packed)
    if last and not (type(row[2]) == 'number' and row[2] < last) then break end
    rows[#rows + 1] = {id, packed}
    last = row[2]
    id = row[1]
    field = type(id) == 'string' and type(last) == 'number' and row[3] ~= ARGV[3] and ns .. '\\0' .. id
end
local writes = rows[1] and call('HGET', W, ns .. '\\0' .. rows[1][1]) or false
local is_torn = is_head and not rows[1] and (id ~= '' or call('EXISTS', T) == 0 and call('EXISTS', C, W, B, Q, L) > 0)
    or not writes and call('HEXISTS', T, 'w') == 1 and call('EXISTS', W) == 0
local standing = false
if ARGV[4] == '1' then
    local holder = call('HGET', T, 'holder')
    local expires = call('HGET', T, 'expires')
    local is_expired = holder and expires and expires ~= 'inf' and tonumber(expires) < now()
    standing = {number('epoch'), number('changes'), holder, is_expired and 1 or 0}
end
return {rows, writes, standing, is_torn and 1 or 0}
"""
)

SINGLES = Script(
    _WORDS
    + """
local found = {}
for i, field in ipairs(ARGV) do found[i] = {call('HGET', C, field), call('HGET', W, field)} end
return found
"""
)

CHILDREN = Script(
    _WORDS
    + """
local found, rows = {}, call('HGETALL', C)
for i = 1, #rows, 2 do
    if unpack_(rows[i + 1])[1] == ARGV[1] then found[#found + 1] = rows[i] end
end
return found
"""
)

# ARGV: how many spans, then lineage, first and end of each, then digests.
PARTS = Script(
    _WORDS
    + """
local items, blobs, count = {}, {}, tonumber(ARGV[1])
for i = 0, count - 1 do
    local lineage, first, last = ARGV[2 + 3 * i], ARGV[3 + 3 * i], tonumber(ARGV[4 + 3 * i]) - 1
    items[i + 1] = call('LRANGE', lineage_key(lineage), first, last)
end
for i = 2 + 3 * count, #ARGV do blobs[#blobs + 1] = call('HGET', B, ARGV[i]) end
return {items, blobs}
"""
)

# ARGV: 1 if all that is in the thread is wanted, to copy it; else only what tidying up has to know.
EVERYTHING = Script(
    _WORDS
    + """
local lineages, blobs = {}, {}
for _, lineage in ipairs(call('SMEMBERS', L)) do
    local items, size = call('LRANGE', lineage_key(lineage), 0, -1), 0
    for _, item in ipairs(items) do size = size + #item end
    lineages[#lineages + 1] = {lineage, #items, size, ARGV[1] == '1' and items or false}
end
for _, digest in ipairs(call('HKEYS', B)) do
    local data = call('HGET', B, digest)
    blobs[#blobs + 1] = {digest, #data, ARGV[1] == '1' and data or false}
end
local asked = ARGV[1] == '1' and call('HGETALL', Q) or false
return {number('changes'), call('HGETALL', C), call('HGETALL', W), lineages, blobs, asked, number('epoch')}
"""
)

CLEAN = Script(
    _WORDS
    + """
local p = unpack_(ARGV[1])
if number('changes') ~= p.changes then return 0 end
if #p.asked > 0 and not (p.noted_asking and now() - p.noted_asking < p.grace / 2) then return 0 end
if p.closes_all then
    call('DEL', Q)
    call('HDEL', T, 'holder')
    call('HINCRBY', T, 'epoch', 1)
end
for _, question in ipairs(p.asked) do call('HSETNX', Q, question[1], question[2]) end
for _, one in ipairs(p.rewritten) do rewrite(one.field, one.parent or false, one.body) end
for _, field in ipairs(p.removed) do call('HDEL', C, field) end
for _, gone in ipairs(p.writes) do
    local kept = {}
    for _, old in ipairs(writes_of(gone[1])) do
        if not (old[1] == gone[2] and old[2] == gone[3]) then kept[#kept + 1] = old end
    end
    if #kept > 0 then call('HSET', W, gone[1], pack_(kept)) else call('HDEL', W, gone[1]) end
end
if call('EXISTS', W) == 0 then call('HDEL', T, 'w') end
for _, lineage in ipairs(p.lineages) do
    call('UNLINK', lineage_key(lineage))
    call('SREM', L, lineage)
end
for _, digest in ipairs(p.blobs) do call('HDEL', B, digest) end
for _, head in ipairs(p.heads) do
    if head[2] then call('HSET', T, 'h' .. head[1], head[2]) else call('HDEL', T, 'h' .. head[1]) end
end
if call('EXISTS', T) == 1 then call('HINCRBY', T, 'changes', 1) end
return 1
"""
)

# ARGV: a token, by which it is known what is to be deleted: not what is begun anew after that.
DOOM = Script(
    _WORDS
    + """
if call('EXISTS', T, C, W, B, Q, L) == 0 then return 0 end
call('HSET', T, 'doomed', ARGV[1])
return 1
"""
)

# ARGV: that token; or how the thread has to stand, epoch and changes, and whether it may ask something.
DELETE = Script(
    _WORDS
    + """
if not ARGV[2] then
    if call('HGET', T, 'doomed') ~= ARGV[1] then return 0 end
else
    local is_as_seen = number('epoch') == tonumber(ARGV[1]) and number('changes') == tonumber(ARGV[2])
    if not is_as_seen or (ARGV[3] == '0' and call('EXISTS', Q) == 1) then return 0 end
end
for _, lineage in ipairs(call('SMEMBERS', L)) do call('UNLINK', lineage_key(lineage)) end
call('UNLINK', T, C, W, B, Q, L)
return 1
"""
)

COPY = Script(
    _WORDS
    + """
local p = unpack_(ARGV[1])
if call('HGET', T, 'copied') == p.token then return 0 end
if call('EXISTS', C, W) > 0 then return 1 end
if call('EXISTS', T) == 0 and not (p.noted and now() - p.noted < p.grace / 2) then return 4 end
for _, one in ipairs(p.rows) do call('HSET', C, one[1], one[2]) end
for _, one in ipairs(p.writes) do call('HSET', W, one[1], one[2]) end
for _, one in ipairs(p.blobs) do call('HSET', B, one[1], one[2]) end
for _, one in ipairs(p.questions) do call('HSET', Q, one[1], one[2]) end
for _, one in ipairs(p.lineages) do
    call('SADD', L, one[1])
    for _, item in ipairs(one[2]) do call('RPUSH', lineage_key(one[1]), item) end
end
for _, head in ipairs(p.heads) do call('HSET', T, 'h' .. head[1], head[2]) end
if #p.writes > 0 then call('HSET', T, 'w', 1) end
call('HSET', T, 'copied', p.token)
call('HINCRBY', T, 'changes', 1)
return 0
"""
)

# KEYS: a list of threads. ARGV: the thread.
NOTE = Script(
    """
local time = redis.call('TIME')
local now = tonumber(time[1]) + tonumber(time[2]) / 1000000
redis.call('ZADD', KEYS[1], now, ARGV[1])
return tostring(now)
"""
)

# ARGV: the grace, then threads that were found to have nothing.
CROSS_OUT = Script(
    """
local time = redis.call('TIME')
local oldest = tonumber(time[1]) - tonumber(ARGV[1])
for i = 2, #ARGV do
    local noted = redis.call('ZSCORE', KEYS[1], ARGV[i])
    if noted and tonumber(noted) < oldest then redis.call('ZREM', KEYS[1], ARGV[i]) end
end
return 1
"""
)
