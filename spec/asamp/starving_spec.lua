-- SPDX-License-Identifier: MIT
-- Memory requests of the profiler itself fail: only the n-th, or all from the n-th on, for each n. An
-- operation that is impossible then must be refused with the reason. Samples that found no memory must be
-- counted. All other samples must have the same stacks as with memory.

local peers = require "peers"
local process = require "spec.support.process"
local samples = require "spec.support.samples"

-- Runs a session in a separate state. In it, only the n-th memory request fails, or, with 'all', all
-- requests from the n-th on. Returns the program's output, which is one line, and the samples in the file.
local WORK = [[
  local path, n, all, native = ...
  local starving = require "starving"
  local natives, signals = require "natives", require "signals"
  local core = starving.core
  named = {__index = {}}
  collectgarbage()
  starving.starve(n, not all and 1 or nil)
  local ran, ok, message, errno = pcall(core.open, {out = path, period = 64, seed = 1, native = native,
                                                    timeperiod = 1000000})
  if not (ran and ok) then
    starving.starve(-1)
    return "refused", ran and message or ok, ran and errno or 12, 0, 0, true
  end
  local timed, why, number = core.timeon(1000000, false)
  core.on(64, false)
  local kept, co = {}, {}
  local function deep(d) if d > 0 then return (deep(d - 1)) end kept[#kept + 1] = {d, d} end
  for i = 1, 25 do
    kept[#kept + 1] = setmetatable({i}, named)
    kept[#kept + 1] = setmetatable({i}, {__name = "Class" .. i % 10})
    kept[#kept + 1] = natives.userdata(200, 1)
    local t = {}
    for k = 1, 40 do t[k] = k end
    kept[#kept + 1] = i % 2 == 0 and t or nil
    co[i % 10] = coroutine.wrap(function() deep(i % 20) coroutine.yield() deep(3) end)
    co[i % 10]()
    natives.deep(i % 30, function() deep(1) end)
  end
  collectgarbage()
  for i = 1, #kept, 2 do kept[i] = nil end
  collectgarbage()
  core.off()
  signals.burn(0.01)
  core.timeoff()
  local closed, wrong, what = core.close()
  local t = core.stats()
  local requests, failed = starving.requests()
  starving.starve(-1)
  if not timed then why = why .. " " .. number end
  return "done", timed or why, requests, t.samples, t.lost, closed or wrong .. " " .. what]]

local STEP = os.getenv "ASAMP_VARIANT" == "asan" and 3 or 1

local function session(n, all, native)
  local path, s = os.tmpname(), peers.new()
  local r = {s:run(WORK, path, n, all, native)}
  assert(r[1], r[2])
  -- checks that the state is usable after the failures
  assert(s:run [[
    local t = {}
    for i = 1, 1000 do t[i] = {i} end
    collectgarbage()]])
  s:close()
  local list = r[2] == "done" and r[7] == true and samples.read(path)
  local texts = {}
  for i, e in ipairs(list or {}) do
    -- the frames up to the main chunk, without those that called the state
    local text = samples.text(e.stack)
    texts[i] = ("%s %d %s"):format(e.kind, e.size, text:match "^.*main chunk:%d+" or text)
  end
  return {ending = r[2], message = r[3], number = r[4], samples = r[5], lost = r[6], closed = r[7],
          texts = texts, list = list}
end

-- Checks that the texts occur in the session's samples 'whole', in the same order. A native function may be
-- unnamed if there was no memory to read its object file.
local function within(texts, whole, note)
  local k = 0
  for i, text in ipairs(texts) do
    local pattern = "^" .. text:gsub("%p", "%%%0"):gsub("%%%[unknown code%%%]", "[^ ]+") .. "$"
    repeat k = k + 1 until k > #whole or whole[k]:find(pattern)
    assert.is_true(k <= #whole, note .. ", sample " .. i .. " is none of the whole session: " .. text)
  end
end

describe("memory that the sampler does not get", function()
  for _, native in ipairs{false, true} do
    local whole = session(-1, false, native)

    it("is requested in a whole session, native " .. tostring(native), function()
      assert.same({"done", true, 0, true}, {whole.ending, whole.message, whole.lost, whole.closed})
      assert.is_true(whole.number > 30, whole.number)
      assert.is_true(#whole.texts > 500, #whole.texts)
      assert.equal(table.concat(whole.texts, "\n"), table.concat(session(-1, false, native).texts, "\n"))
    end)

    for _, all in ipairs(native and {false} or {false, true}) do
      it(("is refused or counted, %s, native %s")
         :format(all and "from some request on" or "once", native), function()
        local refused, lossy = 0, 0
        for n = 0, whole.number, STEP do
          local note = ("request %d"):format(n)
          local s = session(n, all, native)
          if s.ending == "refused" then
            refused = refused + 1
            assert.equal(12, s.number, note)
            assert.truthy(s.message:find "emory", note .. ": " .. tostring(s.message))
          else
            if s.message ~= true then
              assert.equal("cannot sample time: not enough memory; raise the limit (ulimit -v) 12",
                           s.message, note)
            end
            if s.lost > 0 then lossy = lossy + 1 end
            if s.closed == true then
              assert.equal(whole.samples, s.samples + s.lost, note)
              assert.equal(s.samples, s.list.points, note)
              within(s.texts, whole.texts, note)
            -- the writer thread had no memory when it started
            else
              assert.equal("Cannot allocate memory 12", s.closed, note)
              assert.is_true(s.lost >= whole.samples, note)
            end
          end
        end
        assert.is_true(refused >= 3, refused)
        assert.is_true(lossy >= 1, lossy)
      end)
    end
  end

  -- Former bugs: after a failure to set a label, the next label had the name of the failed one, and a set
  -- of labels was never freed.
  it("is refused to a label, and the next label is right", function()
    local n = 0
    repeat
      local status, text = process.code([[
        local starving = require "starving"
        local core = starving.core
        starving.starve(tonumber(...), 1)
        local ok, why = pcall(core.label, {first = "1"})
        starving.starve(-1)
        assert(ok or why == "not enough memory", why)
        assert(next(core.labels()) == (ok and "first" or nil))
        core.label{first = false}
        core.label{second = "2"}
        local name, value = next(core.labels())
        print(ok, name, value, next(core.labels(), name))]], n)
      assert.equal(0, status)
      assert.matches("^%a+\tsecond\t2\tnil\n$", text)
      n = n + 1
    until text:find "^true"
    assert.is_true(n > 5, n)
  end)

  -- The first session with time samples on an OS thread requests memory that the thread keeps. If this
  -- request is refused, a later session must succeed.
  it("is refused to time's samples where a thread takes its first, which may try again", function()
    local status, text = process.code [[
      local path, core = os.tmpname(), require "starving".core
      local starve = require "starving".starve
      assert(core.open{out = path, period = 64, native = true})
      local n, refused = 0, 0
      repeat
        starve(n, 1)
        local ok, why, number = core.timeon(1000000, false)
        starve(-1)
        if not ok then
          assert(why:find "^cannot sample time: not enough memory;" and number == 12, why)
          n, refused = n + 1, refused + 1
        end
      until ok
      core.timeoff()
      assert(core.close())
      os.remove(path)
      print(refused >= 1, refused < 100)]]
    assert.same({0, "true\ttrue\n"}, {status, text})
  end)
end)
