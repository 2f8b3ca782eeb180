-- The verdict must name line 12|13, reason list|keys|chain, holder log
-- The program creates and drops many objects, and keeps one small record in fifty requests.
local audit = {log = {}}

local function work(i)
  local rows = {}
  for k = 1, 10 do rows[k] = {k, i, k * i} end
  return rows
end

local function record(i)
  local entry = {at = i, who = "worker", what = {i, i}}
  audit.log[#audit.log + 1] = entry
end

local n = 0
for i = 1, 60000 do
  n = n + #work(i)
  if i % 12 == 0 then record(i) end
end
print(n)
-- The code in the next line removes the leaked reference (bench/proofs).
-- cut: audit.log = nil
