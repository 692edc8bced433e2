"""The store in Lua. A batch is one call of one script, so nobody sees half of it.

All keys begin with KEYS[1], which is a hash tag: a store is in one place of a cluster. There is no key of that name, so
no script runs while a cluster moves the store, see _redis. After it comes

    :version           KEYS[2], what the keys look like
    :names, :ranks     the namespaces: by name, and by the order of their first put
    :keys:<ns>         the keys of a namespace, by the order of their first put
    :ends:<ns>         the keys of a namespace, by when they expire (inf for those that do not)
    :expiry            everything that expires, by when
    :item:<place>      an item: v value, c created, u updated, t ttl in minutes, n count of vectors, x1... vectors
    :lane:<name>       for a while, the number of the last call of a lane that changed something, and what it answered:
                       one that is sent a second time is not done again

where a place is the length of a namespace, a colon, the namespace and the key. Times are texts as Python wrote
them: Lua would round them.
"""

from signoff._redis.effects import Script

__all__ = ["BATCH", "SET_UP", "VERSION"]

VERSION = 1
"""What the keys look like. It is raised when they change, and what is older is then brought up to date."""

SET_UP = Script(
    """
local version = redis.call('GET', KEYS[2])
if not version then
    redis.call('SET', KEYS[2], ARGV[1])
    return tonumber(ARGV[1])
end
return tonumber(version)
"""
)

BATCH = Script(
    """
local base, seen_after, number = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[3])
local at = 3

local lane = ARGV[2] ~= '' and base .. ':lane:' .. ARGV[2]
local known = lane and redis.call('GET', lane)
if known then
    local last, answers = cmsgpack.unpack(known)
    if number <= last then
        return answers
    end
end

local function take()
    at = at + 1
    return ARGV[at]
end

local function place(ns, key)
    return #ns .. ':' .. ns .. key
end

local function item_at(ns, key)
    return base .. ':item:' .. place(ns, key)
end

local function is_seen(ns, key)
    local ends = redis.call('ZSCORE', base .. ':ends:' .. ns, key)
    return ends and (ends == 'inf' or tonumber(ends) > seen_after)
end

local function under(prefix)
    if prefix == '' then
        return redis.call('ZRANGE', base .. ':names', 0, -1)
    end
    local names = redis.call('ZRANGEBYLEX', base .. ':names', '[' .. prefix .. '.', '(' .. prefix .. '/')
    if redis.call('ZSCORE', base .. ':names', prefix) then
        table.insert(names, prefix)
    end
    return names
end

local function in_order(names)
    local ranks = {}
    for _, ns in ipairs(names) do
        ranks[ns] = tonumber(redis.call('ZSCORE', base .. ':ranks', ns))
    end
    table.sort(names, function(one, other) return ranks[one] < ranks[other] end)
    return names
end

local function shown(ns, key, with_vectors)
    local item = item_at(ns, key)
    local found = redis.call('HMGET', item, 'v', 'c', 'u', 't', 'n')
    local vectors = {}
    if with_vectors then
        for number = 1, tonumber(found[5] or 0) do
            vectors[number] = redis.call('HGET', item, 'x' .. number)
        end
    end
    return {ns, key, found[1], found[2], found[3], found[4], vectors}
end

local function end_at(ns, key, expires)
    redis.call('ZADD', base .. ':ends:' .. ns, expires == '' and '+inf' or expires, key)
    if expires == '' then
        redis.call('ZREM', base .. ':expiry', place(ns, key))
    else
        redis.call('ZADD', base .. ':expiry', expires, place(ns, key))
    end
end

local function remove(ns, key)
    redis.call('DEL', item_at(ns, key))
    redis.call('ZREM', base .. ':keys:' .. ns, key)
    redis.call('ZREM', base .. ':ends:' .. ns, key)
    redis.call('ZREM', base .. ':expiry', place(ns, key))
    if redis.call('ZCARD', base .. ':keys:' .. ns) == 0 then
        redis.call('ZREM', base .. ':names', ns)
        redis.call('ZREM', base .. ':ranks', ns)
    end
end

local function find_place(ns, key)
    if not redis.call('ZSCORE', base .. ':ranks', ns) then
        redis.call('ZADD', base .. ':ranks', redis.call('INCR', base .. ':last_rank'), ns)
        redis.call('ZADD', base .. ':names', 0, ns)
    end
    if not redis.call('ZSCORE', base .. ':keys:' .. ns, key) then
        redis.call('ZADD', base .. ':keys:' .. ns, redis.call('INCR', base .. ':last_id'), key)
    end
end

local perform = {}

function perform.get()
    local ns, key = take(), take()
    return is_seen(ns, key) and shown(ns, key, false) or false
end

function perform.search()
    local prefix, offset, limit = take(), tonumber(take()), tonumber(take())
    local with_vectors = take() == '1'
    local found, passed = {}, 0
    for _, ns in ipairs(in_order(under(prefix))) do
        for _, key in ipairs(redis.call('ZRANGE', base .. ':keys:' .. ns, 0, -1)) do
            if limit >= 0 and #found >= limit then
                return found
            end
            if is_seen(ns, key) then
                passed = passed + 1
                if passed > offset then
                    table.insert(found, shown(ns, key, with_vectors))
                end
            end
        end
    end
    return found
end

function perform.list()
    local found = {}
    for _, ns in ipairs(under(take())) do
        if redis.call('ZCOUNT', base .. ':ends:' .. ns, '(' .. ARGV[1], '+inf') > 0 then
            table.insert(found, ns)
        end
    end
    return found
end

function perform.put()
    local ns, key, value, now, ttl, expires = take(), take(), take(), take(), take(), take()
    local item = item_at(ns, key)
    local born = is_seen(ns, key) and redis.call('HGET', item, 'c') or now
    local count = tonumber(take())
    redis.call('DEL', item)
    redis.call('HSET', item, 'v', value, 'c', born, 'u', now, 't', ttl, 'n', count)
    for number = 1, count do
        redis.call('HSET', item, 'x' .. number, take())
    end
    find_place(ns, key)
    end_at(ns, key, expires)
    return false
end

function perform.delete()
    local ns, key = take(), take()
    remove(ns, key)
    return false
end

function perform.refresh()
    local ns, key, now = take(), take(), tonumber(take())
    local ttl = redis.call('HGET', item_at(ns, key), 't')
    if ttl and ttl ~= '' then
        local before = tonumber(redis.call('ZSCORE', base .. ':ends:' .. ns, key))
        end_at(ns, key, string.format('%.17g', math.max(before, now + tonumber(ttl) * 60)))
    end
    return false
end

function perform.sweep()
    local expired = redis.call('ZRANGEBYSCORE', base .. ':expiry', '-inf', take())
    for _, one in ipairs(expired) do
        local colon = string.find(one, ':', 1, true)
        local length = tonumber(string.sub(one, 1, colon - 1))
        remove(string.sub(one, colon + 1, colon + length), string.sub(one, colon + length + 1))
    end
    return #expired
end

local results = {}
while at < #ARGV do
    table.insert(results, perform[take()]())
end
if lane then
    redis.call('SET', lane, cmsgpack.pack(number, results), 'EX', 600)
end
return results
"""
)
