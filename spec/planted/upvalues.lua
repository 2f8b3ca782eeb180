-- The verdict must name line 7|8|9, reason closures, holder undo
-- An editor keeps a closure that undoes each change.
local undo = {}
local text = {}

local function change(at, value)
  local before = {at = at, value = text[at] or "", time = at * 2}
  local lines = {before.value, value, at}
  undo[#undo + 1] = function() text[before.at] = lines[1] end
  text[at] = value
end

for i = 1, 40000 do change(i % 100 + 1, "line " .. i % 300) end
print(#undo)
-- The code in the next line removes the leaked reference (bench/proofs).
-- cut: undo = nil
