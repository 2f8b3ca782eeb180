-- The verdict must name line 6, reason quadratic
-- A report is a string to which lines are appended, each of which copies the whole string.
local function report(rows)
  local out = ""
  for i = 1, rows do
    out = out .. "row " .. i .. ": ok\n"
  end
  return out
end

print(#report(7000))
