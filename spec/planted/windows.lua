-- The verdict must name line 8, reason list, holder history
-- Each window is an array of 1,000 numbers, and stays in the history. Few of these tables have samples
-- themselves.
local history = {}

local function window(k)
  local w = {}
  for i = 1, 1000 do w[i] = (i * k) % 97 end
  return w
end

local s = 0
for k = 1, 4000 do
  local w = window(k)
  history[#history + 1] = w
  s = s + w[500]
end
print(s, #history)
-- The code in the next line removes the leaked reference (bench/proofs).
-- cut: history = nil
