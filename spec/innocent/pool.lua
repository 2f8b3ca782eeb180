-- No leak: objects are taken from a pool and returned to it.
local pool = {}
local function take()
  local o = table.remove(pool)
  return o or {buffer = {}}
end
local function give(o) pool[#pool + 1] = o end
local n = 0
for i = 1, 20000 do
  local held = {}
  for k = 1, i % 10 + 1 do
    held[k] = take()
    held[k].buffer[i % 16 + 1] = {i}
  end
  for k = 1, #held do give(held[k]) end
  n = n + #held
end
print(n, #pool)
