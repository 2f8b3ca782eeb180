-- SPDX-License-Identifier: MIT
-- Objects that are hard for collectors, for bench/pauses --trap: young objects are stored at random in an
-- array of ten million slots, which is created before the measurement. An object dies when another one
-- replaces it; they are never dropped all at once.

local SLOTS <const> = 10000000

local slots, x = {}, 1
for i = 1, SLOTS do slots[i] = false end

return {
  held = slots,
  build = function(i, n)
    for k = i, i + n - 1 do
      x = (x * 1103515245 + 12345) & 0x7FFFFFFF
      slots[(x >> 3) % SLOTS + 1] = { k }
    end
  end,
  drop = function() end,
}
