-- Which of the commands that workers need this user may not use, or the server does not have. It runs none of
-- them. KEYS[1]: the guard. ARGV: the layout, a counter's key, the SHA-1 of a script.
if not redis.acl_check_cmd then
  return false
end
local key, counter, sha = KEYS[1], ARGV[2], ARGV[3]
local needed = {
  { 'EVALSHA', sha, '1', key },
  { 'TIME' },
  { 'INFO', 'replication' },
  { 'GET', key },
  { 'HGET', key, 'group' },
}
if ARGV[1] == 'slots' then
  needed[6] = { 'HMGET', key, 'group' }
  needed[7] = { 'HSET', key, 'group', '' }
  needed[8] = { 'HDEL', key, 'group' }
  needed[9] = { 'PEXPIRE', key, '1' }
else
  needed[6] = { 'GET', counter }
  needed[7] = { 'SET', counter, '0', 'PX', '1', 'NX' }
  needed[8] = { 'SET', key, '', 'PX', '1' }
  needed[9] = { 'INCR', counter }
  needed[10] = { 'PEXPIRE', counter, '1' }
end
local refused = {}
for _, command in ipairs(needed) do
  local known, allowed = pcall(redis.acl_check_cmd, unpack(command))
  if not (known and allowed) then
    refused[#refused + 1] = command[1]
  end
end
return refused
