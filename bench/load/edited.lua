-- SPDX-License-Identifier: MIT
-- Host: a large text is edited beside a heap of small objects, as editors and builders of pages
-- do: each edit makes three strings of some hundred kilobytes and drops them. What comes from
-- malloc beside a mapped heap, and what a collection that meets the text costs, is all there is.
-- size is the number of edits.

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
  about = "a large text, edited beside small objects",
  size = 20000, small = 600, tiny = 20,
  run = run,
}
