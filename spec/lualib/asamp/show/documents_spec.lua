-- SPDX-License-Identifier: MIT
-- JSON documents have a limited number of rows. A former bug: for a hostile profile with half a million
-- rows, writing took over a minute.

local documents = require "asamp.show.documents"

-- Returns the table that `asamp diff --json` writes for a comparison with n rows.
local function diff(n, top, functions)
  local rows = {}
  for i = 1, n do rows[i] = {a = i, functions = functions} end
  return documents.diff({path = "a"}, {path = "b"}, {{lines = rows}}, top)
end

describe("a document", function()
  it("has up to 16,384 rows of a list, and the number of the others", function()
    local doc = diff(16384)
    assert.equal(16384, #doc.measures[1].lines)
    assert.is_nil(doc.left)
    doc = diff(20000)
    assert.equal(16384, #doc.measures[1].lines)
    assert.same({what = "rows", limit = 16384, count = 3616,
                 text = "without --top, a list has at most 16,384 rows: 3,616 rows are left out; " ..
                        "--top N lists N rows"}, doc.left[1])
  end)

  it("counts a line with several functions as a row for each", function()
    local doc = diff(10000, nil, {{}, {}, {}, {}})
    assert.equal(4096, #doc.measures[1].lines)
    assert.equal(10000 - 4096, doc.left[1].count)
  end)

  it("has as many rows as --top requests", function()
    local doc = diff(20000, 20000)
    assert.equal(20000, #doc.measures[1].lines)
    assert.is_nil(doc.left)
  end)
end)
