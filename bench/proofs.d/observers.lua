-- SPDX-License-Identifier: MIT
-- Observers are keys of a table, from which they are never removed.
-- cut: subject.observers = nil
local subject = {observers = {}}

local function observe(i)
  local observer = {id = i, seen = {i, i}}
  subject.observers[observer] = true
  return observer
end

local n = 0
for i = 1, 30000 do n = n + observe(i).id end
print(n, next(subject.observers) ~= nil)
