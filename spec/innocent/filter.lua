-- No leak: a text filter that parses the fields of each line into a list, and writes some of them at its
-- end.
local out = {}
for i = 1, 40000 do
  local line = ("id=%d;name=user%d;mail=user%d@example.org;age=%d;score=%d"):format(i, i, i % 977, i % 90,
                                                                                    i * 7 % 1000)
  local record = {}
  for key, value in line:gmatch "(%w+)=([^;]+)" do record[key] = tonumber(value) or value end
  if record.score % 2 == 0 then out[#out + 1] = record.name .. "\t" .. record.mail end
end
io.write(table.concat(out, "\n"), "\n")
