-- SPDX-License-Identifier: MIT
-- A subject keeps its observers as keys of a table. They are never removed.
local subject = {observers = {}}

local function observe(i)
  local observer = {id = i, seen = {i, i}}
  subject.observers[observer] = true
  return observer
end

local n = 0
for i = 1, 30000 do n = n + observe(i).id end
print(n, next(subject.observers) ~= nil)
