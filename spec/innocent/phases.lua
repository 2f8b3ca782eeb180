-- No leak: three phases, each of which drops the objects of the previous one.
local n = 0
for phase = 1, 3 do
  local all = {}
  for i = 1, 20000 do all[i] = {phase, i, "x" .. i} end
  for i = 1, #all do n = n + #all[i][3] end
end
print(n)
