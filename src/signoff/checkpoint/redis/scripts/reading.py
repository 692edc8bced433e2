"""What is read of a thread."""

from signoff._redis.effects import Script
from signoff.checkpoint.redis.scripts.words import WORDS

__all__ = ["CHILDREN", "EVERYTHING", "FETCH", "PARTS", "SINGLES"]

# ARGV: namespace as in a field, id (empty for the newest), a seal that is known, whether the standing is wanted.
# A thread is torn if a key of it is gone: `t` knows the newest checkpoints, and whether there is a `w`.
FETCH = Script(
    WORDS
    + """
local ns, id = ARGV[1], ARGV[2]
local is_head = id == ''
if is_head then id = call('HGET', T, '@' .. ns) or '' end
local rows, last = {}, nil
local field = ns .. '\\0' .. id
while field do
    local packed = call('HGET', C, field)
    if not packed then break end
    local row = unpack_(packed)
    if last and not (type(row[2]) == 'number' and row[2] < last) then break end
    rows[#rows + 1] = {id, packed}
    last = row[2]
    id = type(row[1]) == 'string' and in_field(row[1])
    field = id and type(last) == 'number' and row[3] ~= ARGV[3] and ns .. '\\0' .. id
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
    WORDS
    + """
local found = {}
for i, field in ipairs(ARGV) do found[i] = {call('HGET', C, field), call('HGET', W, field)} end
return found
"""
)

CHILDREN = Script(
    WORDS
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
    WORDS
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
    WORDS
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
