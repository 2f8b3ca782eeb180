-- The verdict must name line 12|13|14|5|6|7, reason coroutines, holder waiting
-- Each task waits for an answer that never comes, and stays in a list.
local waiting = {}

local function task(id)
  local request = {id = id, headers = {"a", "b"}}
  local answer = coroutine.yield(request)
  return answer.id
end

local function spawn(id)
  local co = coroutine.create(task)
  coroutine.resume(co, id)
  waiting[#waiting + 1] = co
end

for i = 1, 12000 do spawn(i) end
print(#waiting)
-- The code in the next line removes the leaked reference (bench/proofs).
-- cut: waiting = nil
