-- SPDX-License-Identifier: MIT
-- Trees are built in two ways while a tree and an array of floats stay alive. Top-down: an old parent may
-- refer to a young child, so that the write barrier has work. Bottom-up: children are created before their
-- parents, so that it has none. 'size' is the depth of the live tree.

local function populate(node, depth)
  if depth == 0 then return end
  node.left, node.right = { tag = depth }, { tag = depth }
  populate(node.left, depth - 1)
  populate(node.right, depth - 1)
end

local function build(depth)
  if depth == 0 then return { tag = 0 } end
  return { left = build(depth - 1), right = build(depth - 1), tag = depth }
end

local function weigh(node)
  if not node.left then return node.tag + 1 end
  return node.tag + 1 + weigh(node.left) + weigh(node.right)
end

local function run(depth)
  local kept = { tag = depth }
  populate(kept, depth)
  local floats = {}
  for i = 1, 1 << depth do floats[i] = 1.0 / i end

  local total = 0
  for level = 2, depth - 2, 2 do
    for _ = 1, 1 << (depth - level) do
      local top = { tag = level }
      populate(top, level)
      total = total + weigh(top) + weigh(build(level))
    end
  end
  return ("%d weight, %d kept, %.9f"):format(total, weigh(kept), floats[#floats])
end

return {
  about = "trees built top-down and bottom-up, with a live tree and array",
  size = 17, small = 12, tiny = 4,
  run = run,
}
