-- SPDX-License-Identifier: MIT
-- Strings of 1 to 32 KiB are created, with short-lived tables between.
for i = 1, 64 do
  local text = ("0123456789abcdef"):rep(i * 32)
  for j = 1, 20 do assert(#{ text, j } == 2) end
end
