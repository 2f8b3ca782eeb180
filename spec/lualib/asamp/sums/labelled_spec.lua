-- SPDX-License-Identifier: MIT
-- Totals by label, for label sets with known numbers.

local labelled = require "asamp.sums.labelled"

local function set(labels, n, exact)
  return {labels = labels, samples = n, bytes = 100 * n, survivedbytes = 10 * n, laterbytes = n,
          undecidedbytes = 0, timesamples = n, ns = n * 1000000000, minors = n, majors = 1,
          pause = 500000 * n, exact = exact}
end

local function row(value, n, sets, exact)
  return {value = value, samples = n, bytes = 100 * n, alive = 0, time = n / 1, collections = n + sets,
          pause = n / 2, exact = exact}
end

describe("totals by label", function()
  it("have a row for samples without the label, and quote a value of its name", function()
    local profile = {labels = {set({a = "x", b = "y"}, 1, 7), set({a = "x"}, 2, 8),
                               set({b = "(none)"}, 4, 6), set({}, 8, 9)}}
    assert.same({row("(none)", 12, 2, 15), row("x", 3, 2, 15)}, labelled.rows(profile, "a"))
    assert.same({row("(none)", 10, 2, 17), row("y", 1, 1, 7), row('"(none)"', 4, 1, 6)},
                labelled.rows(profile, "b"))
    assert.same({row("(none)", 15, 4, 30)}, labelled.rows(profile, "c"))
  end)

  it("omit rows without costs", function()
    local free = set({a = "x"}, 0)
    free.majors = 0
    assert.same({}, labelled.rows({labels = {free}}, "a"))
    assert.same({}, labelled.rows({}, "a"))
  end)

  -- A former fault: the time was the number of label names times the number of sets.
  it("of all names take a time in proportion to the labels", function()
    local profile, n = {labels = {}}, 3000
    for i = 1, n do
      profile.labels[i] = set({["name" .. i] = "x"}, i)
    end
    local thousands = 0
    debug.sethook(function() thousands = thousands + 1 end, "", 1000)
    local all = labelled.all(profile)
    debug.sethook()
    assert.equal(n * (n + 1) // 2, all.name7[1].samples + all.name7[2].samples)
    assert.truthy(thousands < n, thousands .. " thousand instructions")
  end)
end)
