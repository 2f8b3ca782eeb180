-- SPDX-License-Identifier: MIT
-- Costs of one turn of a loop from counts of whole runs. Pure: the counting is a
-- function that the caller gives.

local slope = {}

-- The cost of one turn: what the turns beyond 'short' add to a run, so that
-- start-up and shutdown cancel out. count(turns) -> the whole run's count.
function slope.of(count, short, long)
  local base = count(short)
  return (count(long) - base) / (long - short)
end

-- What an object costs whose loop costs 'stopped' a turn without collections and
-- 'running' with them, when a loop that makes none costs 'control_stopped' and
-- 'control_running': { allocation, garbage, both }. Garbage is all that collections
-- add, less what reuse of memory saves the allocator.
function slope.cost(stopped, running, control_stopped, control_running)
  local allocation, both = stopped - control_stopped, running - control_running
  return { allocation = allocation, garbage = both - allocation, both = both }
end

return slope
