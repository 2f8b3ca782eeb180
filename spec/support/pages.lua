-- SPDX-License-Identifier: MIT
-- Profiles for the specs of `asamp view`, which contain data of all kinds and names that look like HTML;
-- and functions that run the command in this process.

local assert = require "luassert"
local browser = require "spec.support.browser"
local busted = require "busted"
local commands = require "spec.support.commands"
local gen = require "profilegen"
local shell = require "spec.support.shell"
local view = require "asamp.commands.view"

local M = {}

-- A name that looks like HTML and must be displayed as text.
M.HOSTILE = '</script><img src=x onerror="window.hacked=1"><b>&amp;'

-- Runs `asamp view`. Returns its exit code, stdout and stderr.
M.run = commands.of(view)

-- Sets up a browser for a block of specs, and checks after each spec that no page reported an error. If
-- 'make' is given, make(path, folder) is called once to write a profile in a new folder. Its results are
-- additional arguments for asamp view, and each spec starts at the page of this profile. Returns browser,
-- path and folder.
function M.browse(make, width, height)
  local b, folder = browser.new(), shell.folder()
  local path = folder .. "/app.vmprof"
  busted.setup(function()
    b:open()
    if make then assert.equal(0, (M.run(path, make(path, folder)))) end
  end)
  busted.teardown(function()
    b:close()
    shell.remove(folder)
  end)
  busted.before_each(function()
    b:look(width or 1280, height or 1000)
    if make then b:visit(path .. ".html") end
  end)
  busted.after_each(function() assert.same({}, b.errors) end)
  return b, path, folder
end

local MS = 1000000

-- Writes a profile of two seconds to 'path'. 'source' is the file of its functions. Each sample represents
-- 1 MiB.
-- Second 1: the function 'load' allocates strings (30 samples).
-- Second 2: 'work' and functions that it calls allocate tables of two classes. 'work' has 20 samples: 10
-- survived, and 4 of these, all of the class Point, are alive at the end. 'helper' has 10, a function with
-- a hostile name 5, and a C function 5.
-- Time samples: load 400 ms, work 300 ms, helper 300 ms. Both seconds have collections and marks.
function M.profile(path, source)
  local t0 = gen.now()
  local p = assert(gen.open{path = path, period = 1 << 20, timeperiod = 10 * MS, followed = 100,
                            command = "lua app.lua " .. M.HOSTILE})
  p:name(8, "main chunk", 0, "@" .. source)
  p:name(16, "load", 2, "@" .. source)
  p:name(24, "work", 4, "@" .. source)
  p:name(32, "helper", 6, "@" .. source)
  p:name(40, M.HOSTILE, 8, "@/nowhere/" .. M.HOSTILE .. ".lua")
  p:class(1, "Point")
  p:class(2, M.HOSTILE)
  local events = {}
  local function add(ms, method, ...)
    events[#events + 1] = {time = t0 + ms * MS // 1, n = #events, method, ...}
  end
  -- Writes n samples at equal distances over 900 ms. The first one is at 'first' ms after the start.
  local function spread(first, n, method, sample)
    for i = 1, n do
      local s = table.move(sample, 1, #sample, 1, {kind = sample.kind, size = sample.size})
      add(first + i * 900 / n, method, s)
    end
  end
  add(1, "mark", "phase", "load")
  spread(10, 30, "sample", {16, 3, 8, 10, kind = 3, size = 64})
  spread(10, 40, "time", {16, 3, 8, 10})
  add(990, "collection", {inuse = 8 << 20, held = 12 << 20, rss = 16 << 20, duration = 2 * MS,
                          fates = ("0"):rep(30)})
  add(1000, "mark", "phase", M.HOSTILE)
  spread(1050, 20, "sample", {24, 5, 8, 11, kind = 0})
  spread(1050, 10, "sample", {32, 7, 24, 5, 8, 11, kind = 0})
  spread(1050, 5, "sample", {40, 9, 8, 11, kind = 0})
  spread(1050, 5, "sample", {0x1001, 0, 24, 5, 8, 11, kind = 0})
  spread(1050, 30, "time", {24, 5, 8, 11})
  spread(1050, 30, "time", {32, 7, 24, 5, 8, 11})
  table.sort(events, function(a, b)
    return a.time < b.time or a.time == b.time and a.n < b.n
  end)
  -- In the second half, every other sample of 'work' itself survived and has the class Point.
  local fates, classes, works = {}, {}, 0
  for _, e in ipairs(events) do
    if e[1] == "sample" and e.time > t0 + 1000 * MS then
      local own = e[2][1] == 24
      works = works + (own and 1 or 0)
      fates[#fates + 1] = own and works % 2 == 0 and "1" or "0"
      classes[#classes + 1] = own and 1 or 2
    end
  end
  add(1990, "collection", {inuse = 20 << 20, held = 24 << 20, rss = 28 << 20, duration = 7 * MS,
                           major = true, fates = table.concat(fates), classes = classes, deaths = {4, 6}})
  for _, e in ipairs(events) do
    if e[1] == "mark" then
      p:mark(e[2], e[3], e.time)
    else
      e[2].time = e.time
      p[e[1]](p, e[2])
    end
  end
  assert(p:close())
end

-- The text of the source file that contains the profile's functions.
M.SOURCE = [[
local app = {}
function app.load(n)
  return ("x"):rep(n) -- </script><img src=x onerror="window.hacked=2">
end function app.work()
  return {app.helper()} end
function app.helper()
  return {}
end
-- nine
return app.load(1)
app.work()
]]

return M
