-- SPDX-License-Identifier: MIT
-- What is made of collections and markers.

local events = require "asamp.events"

local function profileof(list)
  local p = {collections = {}, minors = #list, majors = 0, marks = {}}
  for i, c in ipairs(list) do
    p.collections[i] = {time = c[1], duration = c[2], inuse = c[3],
                        held = 2 * c[3], rss = 3 * c[3], tenured = 10}
  end
  return p
end

describe("collections", function()
  it("of none are nothing", function()
    assert.is_nil(events.collections(profileof{}))
  end)

  it("have start, peak and end, and their pauses in order of size", function()
    local list = {}
    for i = 1, 200 do
      list[i] = {i * 1000, (i * 77) % 200 + 1, i == 120 and 900 or i}
    end
    local sum = events.collections(profileof(list))
    assert.same({start = 1, peak = 900, stop = 200}, sum.inuse)
    assert.same({start = 3, peak = 2700, stop = 600}, sum.rss)
    assert.equal(2000, sum.tenured)
    -- 1 to 200, each once
    assert.same({n = 200, total = 20100, median = 100, p99 = 198,
                 longest = 200, at = 187000}, sum.pauses)
  end)

  it("have no pauses where the file tells none", function()
    local p = profileof{{1, 0, 5}, {2, 0, 6}}
    assert.is_nil(events.collections(p).pauses)
    p.collections[1].duration, p.collections[1].tenured = nil, nil
    assert.equal(10, events.collections(p).tenured)
  end)

  it("show the heap's course, also through gaps", function()
    local p = profileof{{10, 0, 5}, {20, 0, 9}, {22, 0, 2}, {100, 0, 4}}
    assert.same({5, 9, 2, 2, 2, 2, 2, 2, 2, 4}, events.heap(p, 10))
  end)
end)

describe("markers", function()
  it("are summed up by name, numbers as numbers", function()
    local rows = events.marks{marks = {
      {time = 5, name = "n", value = "3"}, {time = 6, name = "s", value = "x"},
      {time = 7, name = "n", value = "-1.5"}, {time = 8, name = "s", value = "4"},
      {time = 9, name = "e", value = ""}}}
    assert.same({
      {name = "n", count = 2, first = 5, last = 7, value = "-1.5", least = -1.5,
       most = 3, mean = 0.75},
      {name = "s", count = 2, first = 6, last = 8, value = "4"},
      {name = "e", count = 1, first = 9, last = 9, value = ""}}, rows)
    assert.same({}, events.marks{})
  end)
end)
