"""What a run writes, and that it lives; and the list of threads, in which whoever looks for them finds them."""

from signoff._redis.effects import Script
from signoff.checkpoint.redis.scripts.words import WORDS

__all__ = ["APPEND", "CROSS_OUT", "NOTE", "RENEW"]

# The answer is which questions are closed now; or why it was not done, or that it had been done before.
APPEND = Script(
    WORDS
    + """
local p = unpack_(ARGV[1])
local at = now()
local same = 0
for _, row in ipairs(p.rows) do
    local there = call('HGET', C, row.field)
    if there and unpack_(there)[3] == row.seal then same = same + 1 end
end
if same > 0 and same == #p.rows then return 0 end

-- Unless it was the last of this very run, and all of it is there.
local function refused(answer)
    local is_again = p.lease.ends and call('HGET', T, 'ended') == p.lease.holder
    if not is_again or #p.rows > 0 or #p.writes == 0 then return answer end
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

local replaced, fresh = {}, {}
for _, field in ipairs(p.replaced) do replaced[field] = true end
for _, row in ipairs(p.rows) do
    if call('HEXISTS', C, row.field) == 1 and not replaced[row.field] then return 1 end
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

if lease and lease.epoch == 0 then
    local until_ = lease.lease_s and tostring(at + lease.lease_s) or 'inf'
    call('HSET', T, 'epoch', lease.new_epoch, 'expires', until_)
end
if lease and lease.ends then
    call('HDEL', T, 'holder')
    call('HSET', T, 'ended', lease.holder)
elseif lease and lease.epoch == 0 then
    call('HSET', T, 'holder', lease.holder)
end
local closed = close(not p.closes_all and p.closed)
for _, question in ipairs(p.asked) do ask(question[1], question[2], p.noted_asking) end
for _, one in ipairs(p.rewritten) do rewrite(one.field, one.parent or false, one.body) end
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
    local newest = call('HGET', T, '@' .. row.ns)
    if not newest or is_less(newest, row.id) then call('HSET', T, '@' .. row.ns, row.id) end
end
call('HINCRBY', T, 'changes', 1)
return closed
"""
)

RENEW = Script(
    WORDS
    + """
if number('epoch') ~= tonumber(ARGV[1]) then return 3 end
call('HSET', T, 'expires', ARGV[2] ~= '' and tostring(now() + tonumber(ARGV[2])) or 'inf')
return 0
"""
)

# KEYS: the list of threads. ARGV: the thread.
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
