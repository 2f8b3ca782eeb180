-- SPDX-License-Identifier: MIT
-- Binary trees: complete trees of growing depth are created and dropped, while one tree stays alive during
-- the whole run. Leaves are empty tables, inner nodes are arrays of two elements. 'size' is the depth of
-- the largest trees. The result is the number of nodes of all trees.

local function grow(depth)
  if depth == 0 then return {} end
  return { grow(depth - 1), grow(depth - 1) }
end

local function count(node)
  local left, right = node[1], node[2]
  if not left then return 1 end
  return 1 + count(left) + count(right)
end

local function run(depth)
  local kept = grow(depth)
  local total = 0
  for level = 4, depth, 4 do
    for _ = 1, 1 << (depth - level + 4) do
      total = total + count(grow(level))
    end
  end
  return ("%d nodes, %d kept"):format(total, count(kept))
end

return {
  about = "complete binary trees, dropped at once",
  size = 16, small = 11, tiny = 4,
  run = run,
}
