-- SPDX-License-Identifier: MIT
-- Collections and markers in the reader's results and in reports (asamp.sums.events).

local events = require "asamp.sums.events"
local gen = require "profilegen"
local profiles = require "spec.support.profiles"
local reader = require "profiler.reader"

local MS = 1000000

-- Writes a profile with these collections, {time, duration, inuse} in ms and bytes, and these marks, {name,
-- value}. Returns the profile as read.
local function read(list, marks)
  local path = os.tmpname()
  local p = assert(gen.open{path = path, plain = true})
  local start = gen.now()
  for _, c in ipairs(list or {}) do
    p:collection{time = start + c[1] * MS, duration = c[2] * 1000, inuse = c[3],
                 held = 2 * c[3], rss = 3 * c[3] << 10, tenured = 10, major = c[4]}
  end
  for i, m in ipairs(marks or {}) do
    p:mark(m[1], m[2], start + i * MS)
  end
  assert(p:close())
  local profile = assert(reader.read(path))
  return profile
end

describe("collections", function()
  it("of none are nothing", function()
    local profile = read()
    assert.is_nil(events.collections(profile))
    assert.same({}, profile.left)
  end)

  it("have start, peak and end, and their pauses in order of size", function()
    local list = {}
    for i = 1, 200 do
      list[i] = {i * 1000, (i * 77) % 200 + 1, i == 120 and 900 or i}
    end
    local sum = events.collections(read(list))
    assert.same({start = 1, peak = 900, stop = 200}, sum.inuse)
    assert.same({start = 3 << 10, peak = 2700 << 10, stop = 600 << 10}, sum.rss)
    assert.equal(2000, sum.tenured)
    sum.pauses.at = sum.pauses.at // 1000000
    -- the pauses are the numbers from 1 to 200, each once
    assert.same({n = 200, total = 20100, median = 100, p99 = 198,
                 longest = 200, at = 187}, sum.pauses)
  end)

  it("have no pauses if the file has none", function()
    assert.is_nil(events.collections(read{{1, 0, 5}, {2, 0, 6}}).pauses)
  end)

  it("show the heap's course, also through gaps", function()
    local p = {collections = {}, marks = {}}
    for i, c in ipairs{{10, 5}, {20, 9}, {22, 2}, {100, 4}} do
      p.collections[i] = {time = c[1], inuse = c[2]}
    end
    assert.same({5, 9, 2, 2, 2, 2, 2, 2, 2, 4}, events.heap(profiles.summed(p), 10))
  end)

  -- The sums must include many more collections than 8,192. The timeline has fewer points than that, with
  -- the same sum. Long pauses are accurate to 1 part in 512.
  it("of a long run are all in the sums, and on the timeline in groups", function()
    local list, fates = {}, 0
    for i = 1, 40000 do
      list[i] = {i * 10, (i * 7919) % 40000 + (i == 31234 and 90000 or 1),
                 1000 + (i * 31) % 5000, i % 40 == 0}
    end
    local profile = read(list)
    local truth = {collections = {}, marks = {}}
    for i, c in ipairs(list) do
      truth.collections[i] = {time = c[1] * 1000, duration = c[2], inuse = c[3],
        held = 2 * c[3], rss = 3 * c[3] << 10, tenured = 10, major = c[4]}
    end
    local course, exact = profile.course, profiles.summed(truth).course
    assert.is_true(math.abs(course.pauses.median / exact.pauses.median - 1) < 1 / 512)
    assert.is_true(math.abs(course.pauses.p99 / exact.pauses.p99 - 1) < 1 / 512)
    for _, key in ipairs{"n", "total", "longest"} do
      assert.equal(exact.pauses[key], course.pauses[key])
    end
    for _, key in ipairs{"n", "tenured", "first", "last", "peak"} do
      assert.same(exact[key], course[key])
    end
    assert.equal(39000, profile.minors)
    assert.equal(1000, profile.majors)
    local n, duration, least, inuse, major = 0, 0, math.huge, 0, 0
    for _, span in ipairs(profile.collections) do
      n, duration = n + span.n, duration + span.duration
      least, inuse = math.min(least, span.least), math.max(inuse, span.inuse)
      major = math.max(major, span.majorpause or 0)
      fates = fates + span.tenured
    end
    assert.same({40000, exact.pauses.total, 1000, exact.peak.inuse, 400000},
                {n, duration, least, inuse, fates})
    assert.equal(39961, major)
    assert.is_true(#profile.collections <= 8192 and #profile.collections > 4096)
    assert.same({{what = "collections", limit = 8192, count = 40000,
      text = "the limit of 8,192 collections in the timeline was reached, so 40,000 are combined " ..
             "there with the next ones; counts, pauses and sums include all collections"}}, profile.left)
  end)
end)

describe("markers", function()
  it("are summed up by name, numbers as numbers", function()
    local profile = read({}, {{"n", "3"}, {"s", "x"}, {"n", "-1.5"}, {"s", "4"},
                              {"e", ""}, {"i", "7"}, {"i", " 5 "}})
    local rows = events.marks(profile)
    assert.equal(2000, rows[1].last - rows[1].first)
    for _, row in ipairs(rows) do row.first, row.last = nil, nil end
    assert.same({
      {name = "n", count = 2, value = "-1.5", least = -1.5, most = 3.0, mean = 0.75},
      {name = "s", count = 2, value = "4"}, {name = "e", count = 1, value = ""},
      {name = "i", count = 2, value = " 5 ", least = 5, most = 7, mean = 6.0}}, rows)
    assert.equal("integer", math.type(rows[4].least))
    assert.equal(7, #profile.marks)
    assert.same({}, events.marks{})
  end)

  it("of a long run are all in the sums, and some on the timeline", function()
    local marks = {}
    for i = 1, 20000 do
      marks[i] = {i > 19000 and "n" .. i or "request", ("%d"):format(i)}
    end
    for i = 20001, 29000 do
      marks[i] = {"x" .. i % 5000, "v" .. i}
    end
    local profile = read({}, marks)
    local rows = profile.marknames
    assert.same({4096, "request", 19000, 1, 19000, 9500.5},
                {#rows, rows[1].name, rows[1].count, rows[1].least, rows[1].most,
                 rows[1].mean})
    assert.equal("(other marks)", rows[4096].name)
    local all = 0
    for _, row in ipairs(rows) do all = all + row.count end
    assert.equal(29000, all)
    -- the timeline has every fourth mark
    assert.equal(29000 // 4, #profile.marks)
    assert.same({"1", "5", "9"}, {profile.marks[1].value, profile.marks[2].value,
                                  profile.marks[3].value})
    assert.same({"marks", 29000 - 7250, "marknames", rows[4096].count},
                {profile.left[1].what, profile.left[1].count, profile.left[2].what,
                 profile.left[2].count})
  end)
end)
