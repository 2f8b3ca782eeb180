-- The verdict must name line 5|7|8, reason chain|list|keys, holder history
-- Each state of the application keeps the previous one.
local app = {}

local function step(i)
  app.history = {
    before = app.history,
    values = {i, i + 1, i + 2, "state"},
  }
end

for i = 1, 40000 do step(i) end
print(app.history.values[1])
