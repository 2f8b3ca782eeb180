-- SPDX-License-Identifier: MIT
-- The progress bar that a command prints during long work.

local progress = require "asamp.cli.progress"

local function bar(columns, label)
  local written, now = {}, 0
  local show, finish = progress.bar(label or "reading x", function(s)
    written[#written + 1] = s
  end, columns or 80, function() return now end)
  return show, finish, written, function(t) now = t end
end

describe("the bar", function()
  it("does not show for work that is done within a moment", function()
    local show, finish, written, at = bar()
    for i = 0, 10 do
      at(i / 100)
      show(i / 10)
    end
    finish()
    assert.same({}, written)
  end)

  it("shows how far the work is, and is gone at the end", function()
    local show, finish, written, at = bar()
    at(1)
    show(0.5)
    show(0.501)
    show(0.75)
    show(7)
    finish()
    assert.same({"\rreading x [############            ]  50%",
                 "\rreading x [##################      ]  75%",
                 "\rreading x [########################] 100%",
                 "\r\27[K"}, written)
  end)

  it("writes no line that the terminal would break", function()
    local show, _, written, at = bar(20)
    at(1)
    show(0.5)
    assert.same({}, written)
  end)

  it("measures its text in columns, not in bytes", function()
    for label, columns in pairs{["ä"] = 34, ["日"] = 35} do
      for missing = 0, 1 do
        local show, _, written, at = bar(columns - missing, label)
        at(1)
        show(0.5)
        assert.equal(1 - missing, #written, label)
      end
    end
  end)
end)
