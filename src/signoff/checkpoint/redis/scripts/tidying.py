"""What of a thread goes, and what is copied."""

from signoff._redis.effects import Script
from signoff.checkpoint.redis.scripts.words import WORDS

__all__ = ["CLEAN", "COPY", "DELETE", "DOOM"]

CLEAN = Script(
    WORDS
    + """
local p = unpack_(ARGV[1])
if number('changes') ~= p.changes then return 0 end
if #p.asked > 0 and not (p.noted_asking and now() - p.noted_asking < p.grace / 2) then return 0 end
if p.closes_all then
    close()
    call('HDEL', T, 'holder')
    call('HINCRBY', T, 'epoch', 1)
end
for _, question in ipairs(p.asked) do ask(question[1], question[2], p.noted_asking) end
for _, one in ipairs(p.rewritten) do rewrite(one.field, one.parent or false, one.body) end
for _, field in ipairs(p.removed) do call('HDEL', C, field) end
for _, field in ipairs(p.writes) do call('HDEL', W, field) end
if call('EXISTS', W) == 0 then call('HDEL', T, 'w') end
for _, lineage in ipairs(p.lineages) do
    call('UNLINK', lineage_key(lineage))
    call('SREM', L, lineage)
end
for _, digest in ipairs(p.blobs) do call('HDEL', B, digest) end
for _, head in ipairs(p.heads) do
    if head[2] then call('HSET', T, '@' .. head[1], head[2]) else call('HDEL', T, '@' .. head[1]) end
end
if call('EXISTS', T) == 1 then call('HINCRBY', T, 'changes', 1) end
return 1
"""
)

# ARGV: a token, by which it is known what is to be deleted: not what is begun anew after that. Returns that of whoever
# came first: several may delete a thread at once, and it is gone for each of them.
DOOM = Script(
    WORDS
    + """
if call('EXISTS', T, C, W, B, Q, L) == 0 then return 0 end
call('HSETNX', T, 'doomed', ARGV[1])
return call('HGET', T, 'doomed')
"""
)

# ARGV: that token; or how the thread has to stand, epoch and changes, and whether it may ask something.
DELETE = Script(
    WORDS
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
    WORDS
    + """
local p = unpack_(ARGV[1])
if call('HGET', T, 'copied') == p.token then return 0 end
if call('EXISTS', C, W) > 0 then return 1 end
if call('EXISTS', T) == 0 and not (now() - p.noted < p.grace / 2) then return 4 end
if #p.questions > 0 and not (now() - p.noted_asking < p.grace / 2) then return 4 end
for _, one in ipairs(p.rows) do call('HSET', C, one[1], one[2]) end
for _, one in ipairs(p.writes) do call('HSET', W, one[1], one[2]) end
for _, one in ipairs(p.blobs) do call('HSET', B, one[1], one[2]) end
for _, one in ipairs(p.questions) do ask(one[1], one[2], p.noted_asking) end
for _, one in ipairs(p.lineages) do
    call('SADD', L, one[1])
    for _, item in ipairs(one[2]) do call('RPUSH', lineage_key(one[1]), item) end
end
for _, head in ipairs(p.heads) do call('HSET', T, '@' .. head[1], head[2]) end
if #p.writes > 0 then call('HSET', T, 'w', 1) end
call('HSET', T, 'copied', p.token)
call('HINCRBY', T, 'changes', 1)
return 0
"""
)
