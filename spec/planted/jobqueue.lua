-- The verdict must name line 8|29, reason list|keys|chain, holder jobs
-- The producer of a queue is faster than its consumer, so that the queue grows.
local Queue = {}
Queue.__index = Queue
function Queue.new() return setmetatable({first = 1, last = 0, jobs = {}}, Queue) end
function Queue:push(job)
  self.last = self.last + 1
  self.jobs[self.last] = job
end
function Queue:pop()
  if self.first > self.last then return nil end
  local job = self.jobs[self.first]
  self.jobs[self.first] = nil
  self.first = self.first + 1
  return job
end

local function encode(job)
  local parts = {}
  for k, v in pairs(job) do parts[#parts + 1] = k .. "=" .. tostring(v) end
  table.sort(parts)
  return table.concat(parts, "&")
end

local queue = Queue.new()
local sent = 0
for round = 1, 12000 do
  for i = 1, 4 do
    queue:push{id = round * 4 + i, kind = "mail", to = "user" .. round % 50, tries = 0}
  end
  for _ = 1, 3 do
    local job = queue:pop()
    if job then sent = sent + #encode(job) end
  end
end
print(sent, queue.last - queue.first)
