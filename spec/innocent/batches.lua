-- No leak: rows are collected in a list, which is written and cleared when it has 2,500 rows.
local batch, written = {}, 0
for i = 1, 120000 do
  batch[#batch + 1] = {i, "row " .. i}
  if #batch == 2500 then
    for k = 1, #batch do written = written + #batch[k][2] end
    batch = {}
  end
end
print(written)
