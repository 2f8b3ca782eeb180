-- SPDX-License-Identifier: MIT
-- Computes the cost of one iteration of a loop from counts of whole runs. No side effects: the caller passes
-- a function that counts.

local slope = {}

-- Returns the cost of one iteration, from the difference between two runs, so that start-up and shutdown
-- have no effect. count(turns) returns the count of a whole run.
function slope.of(count, short, long)
  local base = count(short)
  return (count(long) - base) / (long - short)
end

-- Returns the cost of an object, { allocation, garbage, both }. Arguments: the costs of an iteration of the
-- object's loop without collections ('stopped') and with them ('running'), and the same costs of a loop
-- that creates no object ('control_stopped', 'control_running'). Garbage is the cost that collections add,
-- minus the savings of the allocator by reuse of memory.
function slope.cost(stopped, running, control_stopped, control_running)
  local allocation, both = stopped - control_stopped, running - control_running
  return { allocation = allocation, garbage = both - allocation, both = both }
end

return slope
