-- SPDX-License-Identifier: MIT
-- Computes the cost of one iteration of a loop from the costs of whole runs. No side effects: the caller
-- passes a function that measures a run.

local slope = {}

-- Returns the cost of one iteration: the difference between a long and a short run, divided by the
-- difference in iterations. So the costs of start-up and shutdown cancel out. count(turns) returns the cost
-- of a whole run.
function slope.of(count, short, long)
  local base = count(short)
  return (count(long) - base) / (long - short)
end

-- Returns the costs of an object: allocation, garbage (the additional cost of collections), and both
-- together. 'stopped' and 'running' are the costs per iteration of a loop that creates such objects, with
-- the collector stopped and running. 'control_stopped' and 'control_running' are those of a loop that
-- creates none. Garbage can be negative, because collections let the allocator reuse memory.
function slope.cost(stopped, running, control_stopped, control_running)
  local allocation, both = stopped - control_stopped, running - control_running
  return { allocation = allocation, garbage = both - allocation, both = both }
end

return slope
