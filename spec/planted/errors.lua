-- The verdict must name line 11|12, reason list, holder errors
-- The program loads items and checks them in rounds; the list of errors grows in each round.
local items = {}
for i = 1, 30000 do items[i] = {id = i, name = "item" .. i} end

local errors = {}

local function check(item, round)
  local text = item.name .. round
  if item.id % 10 == 3 then
    local e = {message = text, where = item.id}
    errors[#errors + 1] = e
  end
  return {text, #text}
end

local n = 0
for round = 1, 20 do
  for i = 1, #items do n = n + #check(items[i], round) end
end
print(n)
-- The code in the next line removes the leaked reference (bench/proofs).
-- cut: errors = nil
