-- SPDX-License-Identifier: MIT
-- Strings of 1 to 32 KiB, next to short-lived tables.
for i = 1, 64 do
  local text = ("0123456789abcdef"):rep(i * 32)
  for j = 1, 20 do assert(#{ text, j } == 2) end
end
