-- SPDX-License-Identifier: MIT
-- A large text is edited while the heap contains many small objects, as in an editor. Each edit creates
-- three strings of up to 390 KB and drops them. Such strings come from malloc. The workload stresses
-- malloc, and the collections that run while the text is alive. 'size' is the number of edits.

local OTHERS, LINES = 20000, 26000

local function run(size)
  local others, text, sum = {}, ("some text here\n"):rep(LINES), 0
  for i = 1, OTHERS do others[i] = { i } end
  for i = 1, size do
    local at = i * 104729 % (#text - 1)
    text = text:sub(1, at) .. i % 10 .. text:sub(at + 2)
    sum = (sum + text:byte(at + 1) + others[i % OTHERS + 1][1]) % 1000003
  end
  return sum + #text
end

return {
  about = "a large text, edited, with small live objects",
  size = 20000, small = 600, tiny = 20,
  run = run,
}
