-- SPDX-License-Identifier: MIT
-- The sentences of a verdict.

local verdict = require "asamp.show.verdict"

-- Returns the text of a verdict's sentences about its lines and its time. 'facts': fields of
-- asamp.sums.verdict.
local function text(facts)
  local v = {growth = "grows", before = 1 << 20, after = 8 << 20, leaks = {}, lines = {}, maybe = {}}
  for key, value in pairs(facts) do
    v[key] = value
  end
  local list = {}
  for i, sentence in ipairs(verdict.sentences(v, {path = "p"})) do
    list[i] = sentence.text
  end
  return table.concat(list, "\n")
end

local function line(number, fields)
  local row = {file = "a.lua", line = number, name = "f", bytes = 2048, share = 1 / 2, type = "table",
               survived = 0.98}
  for key, value in pairs(fields) do
    row[key] = value
  end
  return row
end

describe("a sentence of the verdict", function()
  it("says of a line that it is part of the leak above, or how much survived", function()
    local kept = line(7, {reason = "kept"})
    local leak = {holder = "_G", kind = "list", bytes = 4096, rows = {line(7, {type = "table"})}}
    assert.matches("a.lua:7 %(f%) allocates 2 KiB, 50%% of all, .* It is part of the likely leak%.",
                   text{leaks = {leak}, lines = {kept}})
    for _, growth in ipairs{"grows", "level"} do
      local out = text{growth = growth, leaks = growth == "level" and {leak} or nil, lines = {kept}}
      assert.matches("98%% of it survived its first garbage collection%.", out)
    end
  end)

  -- Both functions of the library call str_find_aux, which is the symbol in the stack.
  it("names both functions that share the code of a symbol", function()
    local at = {file = "a.lua", line = 9, name = "f", calls = "str_find_aux", share = 0.5}
    local out = text{time = {samples = 20, lua = 0.4, c = 0.6, gc = 0, sort = "c", at = at}}
    assert.matches("50%% in string.find or string.match, called at a.lua:9 %(f%)", out)
  end)
end)
