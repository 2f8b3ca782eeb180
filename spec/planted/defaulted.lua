-- The verdict must name line 4, reason quadratic
local log = {}
function log:line(s)
  self.buf = (self.buf or "") .. s .. "\n"
end
for i = 1, 20000 do log:line("line number " .. i) end
print(#log.buf)
