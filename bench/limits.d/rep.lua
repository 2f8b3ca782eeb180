-- SPDX-License-Identifier: MIT
-- Strings of 0.5 to 32 KiB are created, and 20 short-lived tables after each string.
for i = 1, 64 do
  local text = ("0123456789abcdef"):rep(i * 32)
  for j = 1, 20 do assert(#{ text, j } == 2) end
end
