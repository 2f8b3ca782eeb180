-- SPDX-License-Identifier: MIT
--
-- Exact bytes by label. A running coroutine has a set of labels. Each byte that a sampled state allocates
-- is added to the sum of the set of the running coroutine. All sums together must be the number 'bytes' of
-- profiler.stats.

local cjson = require "cjson"
local convert = require "spec.support.commands".of((require "asamp.commands.convert"))
local merge = require "spec.support.commands".of((require "asamp.commands.merge"))
local process = require "spec.support.process"
local protobuf = require "spec.support.protobuf"
local reader = require "profiler.reader"
local repair = require "spec.support.commands".of((require "asamp.commands.repair"))
local report = require "spec.support.commands".of((require "asamp.commands.report"))
local shell = require "spec.support.shell"
local vmprof = require "spec.support.vmprof"

-- Code at the start of the tested programs. It counts the exact bytes by label independently of the
-- profiler. T[i] is a set of labels. set(i) gives that set to the running coroutine. create, resume
-- and close replace the functions of the library coroutine. Each of these functions adds the bytes
-- that were allocated since the previous call to truth[i], where i is the set of the coroutine that ran.
-- finish() prints these sums.
local TRUTH = [==[
  local profiler, core = require "profiler", require "profiler.core"
  local T, truth, stack, n, last, labelof = {}, {}, {}, 1, 0, setmetatable({}, {__mode = "k"})
  for i = 0, 9 do T[i], truth[i] = {route = i > 0 and "/" .. i}, 0 end
  for i = 1, 300 do stack[i] = 0 end
  local function count()
    local now, i = core.allocated(), stack[n]
    truth[i] = truth[i] + (now - last)
    last = now
  end
  local function set(i)
    count()  -- the first call allocates the call frames, so that the second one allocates nothing
    core.label(T[i])
    count()
    stack[n] = i
  end
  local function create(f)
    local co = coroutine.create(f)
    labelof[co] = stack[n]
    return co
  end
  local function within(f, co, ...)
    count()
    n = n + 1
    stack[n] = labelof[co]
    local ok, result = f(co, ...)
    count()
    labelof[co], n = stack[n], n - 1
    return result, ok
  end
  local function resume(co, ...) return within(coroutine.resume, co, ...) end
  local function close(co) return within(coroutine.close, co) end
  local function work(k) local t = {} for i = 1, k do t[i] = {i, "x" .. i} end return t end
  local function start(i)
    set(i)
    assert(profiler.enable{alloc = 512, seed = 3, out = arg[1], overwrite = true, quiet = true})
    last = core.allocated()
    for k = 0, 9 do truth[k] = 0 end
  end
  local function finish()
    local s = profiler.stats{labels = true}
    local sum = 0
    for _, row in ipairs(s.labels) do sum = sum + row.bytes end
    assert(sum == s.bytes, sum .. " of " .. s.bytes)
    set(0)
    for i = 1, 9 do print("/" .. i, truth[i]) end
    assert(profiler.disable())
  end
]==]

-- Runs a program that consists of TRUTH and 'code'. Returns its exact bytes by route, once as the profile
-- has them and once as the program printed them, and the profile.
local function routes(path, code, ...)
  local status, out, err = process.run{code = TRUTH .. code, path, ...}
  assert.same({0, ""}, {status, err})
  local p = assert(reader.read(path))
  local exact, truth, sum = {}, {}, 0
  for _, set in ipairs(p.labels) do
    local route = set.labels.route or "(none)"
    exact[route], sum = (exact[route] or 0) + set.exact, sum + set.exact
  end
  assert.equal(p.allocated, sum)
  for route, n in out:gmatch "(/%d)\t(%d+)" do
    truth[route] = tonumber(n) > 0 and tonumber(n) or nil
  end
  return exact, truth, p
end

describe("bytes by label", function()
  local folder, path

  setup(function()
    folder = shell.folder()
    path = folder .. "/p.vmprof"
  end)

  teardown(function() shell.remove(folder) end)

  local function same(code)
    local exact, truth, p = routes(path, code)
    exact["(none)"] = nil
    assert.same(truth, exact)
    return exact, p
  end

  it("of a server with three routes are exact, in both flavours and after a copy", function()
    local code = [==[
      local kept = {}
      local function serve(route, k)
        set(route)
        for i = 1, k do
          kept[i % 1000] = {i, i, i, "x" .. i}
          if i % 10 == 0 then coroutine.yield() end
        end
        return true
      end
      start(0)
      local live = {}
      for _ = 1, 20 do
        for i = 1, 3 do live[#live + 1] = {i, create(serve)} end
        for i = #live, 1, -1 do
          if resume(live[i][2], live[i][1], 50 << live[i][1]) then table.remove(live, i) end
        end
      end
      for i = #live, 1, -1 do
        repeat until resume(live[i][2])
      end
      finish()]==]
    local exact, p = same(code)
    assert.equal(3, (function() local n = 0 for _ in pairs(exact) do n = n + 1 end return n end)())
    assert.is_true(exact["/1"] > 100000 and exact["/2"] > exact["/1"] and exact["/3"] > exact["/2"])
    -- the sampled estimate of each set is within 6 standard errors of its exact bytes
    for _, set in ipairs(p.labels) do
      assert.is_true(math.abs(set.bytes - set.exact) < 6 * math.sqrt(512 * set.exact), set.bytes)
    end
    for _, flavour in ipairs{"vmprof", "vmprof-extended"} do
      local status, _, err = convert("--to", flavour, "-o", folder .. "/copy", path)
      if status == 0 then
        local copy = assert(reader.read(folder .. "/copy"))
        assert.equal(p.allocated, copy.allocated)
        for i, set in ipairs(p.labels) do
          local of
          for _, other in ipairs(copy.labels) do
            of = other.labels.route == set.labels.route and other or of
          end
          assert.equal(set.exact, of.exact, i)
        end
      else
        assert.is_truthy(flavour ~= "vmprof" and err ~= "")
      end
    end
  end)

  it("follow labels that calls set, and coroutines that resume others, fail, and are closed", function()
    same [==[
      start(4)
      local function deep(level)
        set(level)
        work(30 + level)
        if level < 9 then resume(create(deep), level + 1) end
        set(level % 3 + 1)
        work(11)
        if level % 2 == 0 then error(work(5)) end
        coroutine.yield(work(7))
      end
      for round = 1, 50 do
        set(round % 4)
        work(round)
        resume(create(deep), 2)
        work(3)
        local closing = create(function()
          local later <close> = setmetatable({}, {__close = function() set(7) work(20) end})
          set(8)
          work(9)
          coroutine.yield()
        end)
        resume(closing)
        close(closing)
        pcall(function() set(5) work(2) error "x" end)
        local co = create(function() set(9) error(setmetatable({}, {__index = work(4)})) end)
        resume(co)
      end
      finish()]==]
  end)

  it("count from the label that is set when a session starts, while it is on, session by session", function()
    local exact = same [[
      set(6)
      start(5)
      work(100)
      count()
      profiler.alloc_stop()
      work(5000)
      set(2)
      work(500)
      last = core.allocated()
      profiler.alloc_start(512)
      last = core.allocated()
      work(70)
      assert(profiler.disable())
      start(3)
      work(200)
      finish()]]
    assert.is_true(exact["/3"] > 0 and exact["/5"] == nil and exact["/2"] == nil)
  end)

  it("of 10,000 values are counted in bounded memory, and add up; the limit is reported", function()
    local _, _, p = routes(path, [[
      start(0)
      for i = 1, 10000 do
        profiler.label{route = "/" .. i % 7, id = i}
        local t = {i, i}
      end
      profiler.label{route = false, id = false}
      finish()]])
    assert.equal(5905, p.left[1].count)
    assert.is_truthy(p.left[1].text:find "values")
    assert.is_true(#p.labels > 4000)
  end)

  it("are of each file of a process, of all its states, and of the child of a fork", function()
    local status, out, err = process.run{code = [[
      local profiler, states = require "profiler", require "states"
      profiler.label{route = "/main"}
      local main = {}
      for i = 1, 1000 do main[i] = {i} end
      for i = 1, 30 do
        local s = states.open{libs = true}
        s:run("local _; _, package.path, package.cpath = ... local profiler = require 'profiler' " ..
              "profiler.label{route = '/" .. i % 3 .. "'} local t = {} for i = 1, 500 do t[i] = {i} end",
              package.path, package.cpath)
        s:close()
      end
      print(profiler.stats().bytes > 0)
      ]], env = {ASAMP = "alloc=1K,quiet,native=0,out=" .. folder .. "/all.vmprof"}}
    assert.same({0, "true\n", ""}, {status, out, err})
    local p = assert(reader.read(folder .. "/all.vmprof"))
    local exact, sum = {}, 0
    for _, set in ipairs(p.labels) do
      local route = set.labels.route or "(none)"
      exact[route], sum = set.exact, sum + set.exact
    end
    assert.equal(p.allocated, sum)
    -- each of these labels was set in ten states, which all do the same work
    assert.equal(exact["/0"], exact["/1"])
    assert.equal(exact["/1"], exact["/2"])
    assert.is_true(exact["/0"] > 10 * 500 * 60 and exact["/main"] > 60000)
    local ids = {}
    for _, s in ipairs(p.states) do ids[#ids + 1] = #ids < 3 and s.id or nil end
    local some = assert(reader.read(folder .. "/all.vmprof", {states = ids}))
    sum = 0
    for _, set in ipairs(some.labels) do sum = sum + set.exact end
    assert.equal(some.allocated, sum)
  end)

  it("of the child of a fork count from the fork on", function()
    local status, _, err = process.run{code = [[
      local profiler, peers = require "profiler", require "peers"
      profiler.label{route = "/before"}
      local t = {} for i = 1, 20000 do t[i] = {i} end
      local pid = peers.fork()
      if pid == 0 then
        profiler.label{route = "/child"}
        for i = 1, 1000 do t[i] = {i} end
        profiler.label{route = "/before"}
        for i = 1, 10 do t[i] = {i} end
        os.exit(true, true)
      end
      peers.wait(pid)]], env = {ASAMP = "alloc=1K,quiet,native=0,out=" .. folder .. "/f.%p.vmprof",
                            -- no leak detection, because a forked child does not close its state
                            ASAN_OPTIONS = "detect_leaks=0"}}
    assert.same({0, ""}, {status, err})
    local files, before, child = shell.lines(shell.output("ls " .. folder .. "/f.*.vmprof")), {}, {}
    assert.equal(2, #files)
    for _, name in ipairs(files) do
      local p, sum = assert(reader.read(name)), 0
      for _, set in ipairs(p.labels) do
        sum = sum + set.exact
        if set.labels.route == "/before" then before[#before + 1] = set.exact end
        if set.labels.route == "/child" then child[#child + 1] = set.exact end
      end
      assert.equal(p.allocated, sum)
    end
    assert.equal(1, #child)
    table.sort(before)
    assert.is_true(before[1] >= 560 and before[1] < 20000 and before[2] > 20000 * 80, before[1])
    assert.is_true(child[1] >= 56000, child[1])
  end)

  it("of a flight recorder are in its file if that is of the whole run, and not in a dump", function()
    local status, _, err = process.run{code = [[
      local profiler = require "profiler"
      profiler.label{route = "/a"}
      local t = {} for i = 1, 20000 do t[i % 100] = {i} end
      assert(profiler.dump(arg[1]))]], folder .. "/dump.vmprof",
      env = {ASAMP = "alloc=1K,quiet,native=0,ring=16M,out=" .. folder .. "/ring.vmprof"}}
    assert.same({0, ""}, {status, err})
    local dump = assert(reader.read(folder .. "/dump.vmprof"))
    local ring = assert(reader.read(folder .. "/ring.vmprof"))
    for _, set in ipairs(dump.labels) do assert.is_nil(set.exact) end
    local sum = 0
    for _, set in ipairs(ring.labels) do sum = sum + set.exact end
    assert.equal(ring.allocated, sum)
  end)

  it("are added up of merged profiles and by --sum, unknown if one of these does not know them", function()
    local paths = {}
    for i = 1, 2 do
      paths[i] = ("%s/m%d.vmprof"):format(folder, i)
      routes(paths[i], "start(" .. i .. ") work(100) set(3) work(50) set(0) work(20) finish()")
    end
    local function rows(...)
      local status, text, errors = report("--json", ...)
      assert.same({0, ""}, {status, errors})
      local doc, exact = cjson.decode(text), {}
      for _, row in ipairs(doc.labels.route) do exact[row.value] = row.exact end
      return exact, doc
    end
    local a, b = rows(paths[1]), rows(paths[2])
    local want = {["/1"] = a["/1"], ["/2"] = b["/2"], ["/3"] = a["/3"] + b["/3"],
                  ["(none)"] = a["(none)"] + b["(none)"]}
    assert.same(want, (rows("--sum", paths[1], paths[2])))
    assert.equal(0, (merge("-o", folder .. "/all.vmprof", paths[1], paths[2])))
    assert.same(want, (rows(folder .. "/all.vmprof")))
    -- Profiles of older versions, which have no exact sums, and truncated profiles have no exact bytes.
    local old = folder .. "/old.vmprof"
    shell.write(old, (vmprof.load(paths[2]):gsub("asamp%.labelled", "asamp.unlabels")))
    assert.same({}, (rows(old)))
    assert.same({}, (rows("--sum", paths[1], old)))
    assert.equal(0, (merge("-o", folder .. "/some.vmprof", paths[1], old)))
    assert.same({}, (rows(folder .. "/some.vmprof")))
    local cut = vmprof.load(paths[1])
    shell.write(folder .. "/cut.vmprof", cut:sub(1, -10))
    assert.equal(0, (repair("-o", folder .. "/mended.vmprof", folder .. "/cut.vmprof")))
    assert.is_nil(rows(folder .. "/mended.vmprof")["/9"])
    local _, text = report("--by-label", "route", "--width", "100", paths[1])
    assert.is_truthy(text:find "By label route\n +exactly +sampled .-\n.-/1\n", text)
    assert.is_truthy(text:find "Lines of route=/1\n +sampled +line\n", text)
    _, text = report("--by-label", "route", "--width", "100", old)
    assert.is_truthy(text:find "By label route\n +bytes ", text)
  end)

  it("are comments in a pprof file, whose samples cannot have them", function()
    routes(path, "start(1) work(100) set(2) work(200) set(0) finish()")
    assert.equal(0, (convert("--to", "pprof", "-o", folder .. "/p.pb.gz", path)))
    local comments = table.concat(protobuf.profile(vmprof.load(folder .. "/p.pb.gz")).comments or {}, "\n")
    for _, set in ipairs(assert(reader.read(path)).labels) do
      local text = ("the run allocated exactly %d bytes %s"):format(set.exact,
        set.labels.route and "with route=" .. set.labels.route or "without labels")
      assert.is_truthy(set.exact == 0 or comments:find(text, 1, true), comments)
    end
  end)

  it("of crafted files are read within limits: long texts, control characters, sums beyond all", function()
    local function read(details, allocated)
      shell.write(path, vmprof.head() .. vmprof.header(6, 2) ..
        vmprof.meta("asamp.format", "3") .. vmprof.meta("sample_allocated_bytes", "100") ..
        vmprof.name(8, "py:f:1:f.lua") .. vmprof.stack(1, 1, {0, 1, 5, 8}, {0}):rep(3) ..
        vmprof.meta("asamp.1", "n 3\ns 8 8 8\nb 3 1\n" .. details) ..
        vmprof.meta("asamp.allocated", allocated) .. vmprof.meta("asamp.labelled", "1") .. vmprof.trailer(5))
      local p = assert(reader.read(path))
      assert.equal(3, p.samples)
      local list = {}
      for i, set in ipairs(p.labels) do list[i] = set.exact or "?" end
      return table.concat(list, " "), p
    end
    assert.equal("1 299", (read("B 1 1 ab\nL 1 299\n", "300")))
    assert.equal("300 0", (read("B 1 1 ab\nL 0 299\n", "300")))
    -- a line "L" has the number of a label set and its exact bytes; label set 7 does not exist
    assert.equal("300 0", (read("B 1 1 ab\nL 7 299\nL 1\nL x y\nL -1 5\nL\n", "300")))
    for _, line in ipairs{"L 1 301", ("L 1 18446744073709551615\n"):rep(2),
                          ("L 1 9223372036854775807\n"):rep(3)} do
      assert.equal("? ?", (read("B 1 1 ab\n" .. line .. "\n", "300")))
    end
    assert.equal("? ?", (read("B 1 1 ab\nL 1 1\n", "18446744073709551615")))
    local big = ("\27[31m\1\2"):rep(131072)
    local _, p = read(("B 1 %d %s%s\nL 1 299\n"):format(#big, big, big), "300")
    for name, value in pairs(p.labels[2].labels) do
      assert.is_true(#name <= 4096 and #value <= 4096, #name)
    end
    for _, options in ipairs{{}, {"--json"}} do
      local status, text, err = report(path, table.unpack(options))
      assert.same({0, ""}, {status, err})
      assert.is_true(#text < 100000 and not text:find "[\1\2\27]")
    end
    for _, format in ipairs{"pprof", "collapsed", "speedscope", "firefox", "vmprof"} do
      local status, _, err = convert("--to", format, "-o", folder .. "/out", path)
      assert.equal(0, status)
      local cut = "names longer than 4,096 bytes: 2 were cut; use shorter names of files and chunks\n$"
      assert.is_truthy(err == "" or err:find(cut), err)
      assert.is_true(shell.size(folder .. "/out") < 200000, format)
    end
  end)
end)

describe("a change of the running label #plain", function()
  if not os.execute "command -v valgrind >/dev/null" then
    pending "counts by valgrind, which is not there: apt-get install valgrind"
    return
  end

  -- Returns the number of instructions of one resume and yield: the difference between runs of 1,000 and
  -- 301,000 turns, divided by 300,000. The error is up to 2.4 instructions, because a run may contain one
  -- more flush of the file or one more measurement of resident memory (up to 700,000 instructions).
  local function turn(mode)
    local path, counts = os.tmpname(), {}
    for i, n in ipairs{1000, 301000} do
      local status, _, err = process.run{program = "valgrind", "--tool=callgrind",
        "--callgrind-out-file=/dev/null", process.interpreter(), "bench/micro/labels.lua", mode,
        tostring(n), path}
      assert.equal(0, status, err)
      counts[i] = tonumber(err:match "Collected : (%d+)")
    end
    os.remove(path)
    return (counts[2] - counts[1]) / 300000
  end

  it("takes at most 30 instructions: 100,000 a second are 0.1% of 3 * 10^9", function()
    local change = (turn "switch" - turn "same") / 2
    assert.is_true(change > 5 and change <= 30, change)
  end)
end)
