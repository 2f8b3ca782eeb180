-- Batches are collected, written, and cleared.
local batch, written = {}, 0
for i = 1, 120000 do
  batch[#batch + 1] = {i, "row " .. i}
  if #batch == 2500 then
    for k = 1, #batch do written = written + #batch[k][2] end
    batch = {}
  end
end
print(written)
