-- SPDX-License-Identifier: MIT
-- A large live heap and short-lived data: an array of records, which are replaced at random. A record has a
-- name and a list of links to other records. 'size' is the number of replacements; a quarter as many
-- records are alive.

local function record(id, pool)
  local links = {}
  for i = 1, 3 do links[i] = pool[math.random(#pool)] and math.random(#pool) end
  return { id = id, name = "record " .. id % 5000, links = links, hits = 0 }
end

local function run(replacements)
  local pool = {}
  for i = 1, replacements // 4 + 1 do pool[i] = record(i, { 1, 2, 3 }) end
  for i = 1, replacements do
    local fresh = record(#pool + i, pool)
    pool[math.random(#pool)] = fresh
    for _, link in ipairs(fresh.links) do
      local other = pool[link]
      other.hits = other.hits + 1
    end
  end
  local ids, hits, letters = 0, 0, 0
  for _, each in ipairs(pool) do
    ids, hits, letters = ids + each.id, hits + each.hits, letters + #each.name
  end
  return ("%d live, ids %d, hits %d, letters %d"):format(#pool, ids, hits, letters)
end

return {
  about = "large live heap, records replaced at random",
  size = 300000, small = 20000, tiny = 100,
  run = run,
}
