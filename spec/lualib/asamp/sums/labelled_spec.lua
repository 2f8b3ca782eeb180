-- SPDX-License-Identifier: MIT
-- Totals by label (asamp.sums.labelled), for sets of labels with known numbers.

local apart = require "asamp.show.page.apart"
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

  it("name the labels with most bytes if there are many", function()
    local profile = {labels = {set({a = "x", b = "y", d = "z"}, 1), set({c = "x", b = "x"}, 2)}}
    assert.same({{"a", "b", "c", "d"}, 0}, {labelled.names(profile)})
    assert.same({{"b", "c"}, 2}, {labelled.names(profile, 2)})
    assert.same({{"a", "b", "c"}, 1}, {labelled.names(profile, 3)})
    local ok, wrong = labelled.check(profile, "e")
    assert.same({nil, "the profile has no label named e (known: a, b, c, d)"}, {ok, wrong})
  end)

  it("have a limited number of rows", function()
    local profile = {labels = {set({a = "x", b = "y"}, 1), set({a = "y", c = "x"}, 2), set({a = "z"}, 9)}}
    local function rows(top, most)
      local all, left = labelled.all(profile, top, most)
      return {all.a and #all.a, all.b and #all.b, all.c and #all.c, left}
    end
    assert.same({3, 2, 2, 0}, rows(nil, 9))
    assert.same({3, 2, 0, 2}, rows(nil, 5))
    assert.same({2, nil, 0, 4}, rows(nil, 2))
    assert.same({1, 1, 1, 0}, rows(1, 5))
    assert.same({nil, 0}, {labelled.all({}, nil, 5)})
  end)

  -- A former bug: for a profile with 3,000 labels, the page of `asamp view` had 36 MiB.
  it("have tables only for 64 labels, with a note", function()
    local profile, omitted = {labels = {}}, {}
    for i = 1, 3000 do
      profile.labels[i] = set({["name" .. i] = "x"}, i)
    end
    local tables = apart.of(profile, omitted).labels
    assert.equal(64, #tables)
    assert.equal("By label name2937", tables[1].title)
    assert.same({"The page has tables for 64 of 3,000 labels, those with most bytes; " ..
                 "asamp report --by-label NAME shows any other."}, omitted)
    local _, wrong = labelled.check(profile, "e")
    assert.truthy(wrong:find(", name2999, name3000, and 2936 more)", 1, true), wrong)
    omitted = {}
    profile.labels = {profile.labels[1]}
    assert.same({1, {}}, {#apart.of(profile, omitted).labels, omitted})
  end)

  -- A former bug: the time was proportional to the number of label names times the number of label sets.
  it("of all names take a time in proportion to the labels", function()
    local profile, n = {labels = {}}, 3000
    for i = 1, n do
      profile.labels[i] = set({["name" .. i] = "x"}, i)
    end
    local thousands = 0
    debug.sethook(function() thousands = thousands + 1 end, "", 1000)
    local all = labelled.all(profile, nil, 1 << 14)
    debug.sethook()
    assert.equal(n * (n + 1) // 2, all.name7[1].samples + all.name7[2].samples)
    assert.truthy(thousands < n, thousands .. " thousand instructions")
  end)
end)
