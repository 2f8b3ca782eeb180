-- No leak: listeners are removed when their connection closes.
local listeners, n = {}, 0
local function on(f) listeners[f] = true return f end
local function off(f) listeners[f] = nil end
local open = {}
for i = 1, 40000 do
  local state = {id = i, data = {i, i}}
  open[#open + 1] = on(function() return state.id end)
  if #open > 300 then
    for _ = 1, 150 do off(table.remove(open)) end
  end
  n = n + (next(listeners) and state.id % 2 or 0)
end
print(n)
