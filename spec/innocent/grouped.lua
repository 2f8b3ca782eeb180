-- No leak: loads records, then groups them, which creates temporary strings.
local rows = {}
for i = 1, 60000 do rows[#rows + 1] = ("%d,%s,%d"):format(i, "user" .. i % 300, i * 31 % 977) end
local groups = {}
for _, r in ipairs(rows) do
  local user, v = r:match("^%d+,(%w+),(%d+)$")
  local g = groups[user]
  if not g then g = {n = 0, sum = 0}; groups[user] = g end
  g.n, g.sum = g.n + 1, g.sum + tonumber(v)
end
local n = 0
for _, g in pairs(groups) do n = n + g.sum / g.n end
print(n)
