-- SPDX-License-Identifier: MIT
-- A workload that is hard for some collectors: a linked queue. New nodes are added at its end, and old ones
-- are removed from its front. A removed node that was tenured still refers to the next node. A generational
-- collector keeps that node alive until a major collection, tenures it as well, and so tenures every node
-- of the program. 'size' is the number of nodes.

local LENGTH = 2000

local function run(count)
  local first = { 0 }
  local last = first
  local sum = 0
  for i = 1, count do
    local node = { i }
    last.next, last = node, node
    if i > LENGTH then
      sum = sum + first[1] % 1000
      first = first.next
    end
  end
  local left = 0
  while first do
    left, first = left + 1, first.next
  end
  return ("%d left, sum %d"):format(left, sum)
end

return {
  about = "linked queue: dropped old nodes refer to newer ones",
  size = 3000000, small = 100000, tiny = 3000,
  run = run,
}
