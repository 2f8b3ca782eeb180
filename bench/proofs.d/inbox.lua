-- SPDX-License-Identifier: MIT
-- A coroutine collects messages in a local variable, and never finishes.
local task = coroutine.create(function()
  local inbox = {}
  while true do
    local message = coroutine.yield(#inbox)
    inbox[#inbox + 1] = {text = message, parts = {message}}
  end
end)

coroutine.resume(task)
for i = 1, 40000 do coroutine.resume(task, i) end
print(select(2, coroutine.resume(task, 0)))
