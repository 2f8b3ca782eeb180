-- expect: 6 quadratic
-- A report is joined line by line.
local function report(rows)
  local out = ""
  for i = 1, rows do
    out = out .. "row " .. i .. ": ok\n"
  end
  return out
end

print(#report(7000))
