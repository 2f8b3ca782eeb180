-- SPDX-License-Identifier: MIT
-- The page that the servers of bench/servers create: page(n) returns a text of n records that depends only
-- on n.

return function(n)
  local records, lines = {}, {}
  for i = 1, n do
    records[i] = { id = i * 7919 % 1009, name = "name " .. i, tags = { "a" .. i % 7, "b" .. i % 5 } }
  end
  table.sort(records, function(a, b) return a.id < b.id or a.id == b.id and a.name < b.name end)
  for i, record in ipairs(records) do
    lines[i] = ("%04d %s [%s]"):format(record.id, record.name, table.concat(record.tags, ","))
  end
  return table.concat(lines, "\n") .. "\n"
end
