-- No leak: reads records until the program ends, which creates temporary strings, and prints one number.
local function rows(n)
  local i = 0
  return function()
    i = i + 1
    if i <= n then
      return ("%d;name %d;%d;city%d"):format(i, i, i * 3, i % 100)
    end
  end
end
local people = {}
for line in rows(60000) do
  local id, name, score, city = line:match "^(%d+);([^;]*);(%d+);(.*)$"
  people[#people + 1] = {id = tonumber(id), name = name, score = tonumber(score), city = city}
end
print(#people)
