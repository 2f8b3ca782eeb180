-- The verdict must name line 7, reason strings
-- The same long key is formatted again for each lookup.
local prices = {}
local names = {"apples", "pears", "plums", "cherries"}

local function price(name, day)
  local key = string.format("price of %s on the day %06d in the year 2026, in euro and cents", name, day)
  return prices[key] or 1
end

local sum = 0
for day = 1, 60000 do sum = sum + price(names[day % 4 + 1], day) end
print(sum)
