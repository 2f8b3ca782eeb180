-- SPDX-License-Identifier: MIT
--
-- Labels: each sample must have the label values that the program has set for the running coroutine,
-- however coroutines were created, yielded or ended.

local cjson = require "cjson"
local commands = require "spec.support.commands"
local convert = require "asamp.commands.convert"
local process = require "spec.support.process"
local profiler = require "profiler"
local protobuf = require "spec.support.protobuf"
local reader = require "profiler.reader"
local repair = require "asamp.commands.repair"
local report = require "asamp.commands.report"
local embedding = require "embedding"
local shell = require "spec.support.shell"
local vmprof = require "spec.support.vmprof"

local function asamp(command, ...) return commands.of(command)(...) end

-- {== labels of each coroutine =========================================================

describe("labels", function()
  after_each(function()
    for name in pairs(profiler.label()) do profiler.label{[name] = false} end
  end)

  it("are the running coroutine's: set, replaced and taken off by name", function()
    assert.same({}, profiler.label())
    profiler.label{route = "/a", user = 7, half = 0.5, admin = true, gone = false}
    assert.same({route = "/a", user = "7", half = "0.5", admin = "true"}, profiler.label())
    profiler.label{route = "/b", user = false, nobody = false}
    assert.same({route = "/b", half = "0.5", admin = "true"}, profiler.label())
    profiler.label{}
    assert.same({route = "/b", half = "0.5", admin = "true"}, profiler.label())
  end)

  it("go to the coroutines that one with labels makes, and to no other", function()
    local before = coroutine.wrap(profiler.label)
    profiler.label{route = "/a"}
    local after = coroutine.wrap(function()
      coroutine.yield(profiler.label())
      profiler.label{route = "/c", step = 1}
      coroutine.yield(coroutine.wrap(profiler.label)())
    end)
    profiler.label{route = "/b"}
    assert.same({}, before())
    assert.same({route = "/a"}, after())
    assert.same({route = "/c", step = "1"}, after())
    assert.same({route = "/b"}, profiler.label())
  end)

  it("stay through collections of all sorts", function()
    local list = {}
    for i = 1, 50 do
      profiler.label{n = i}
      list[i] = coroutine.create(function() coroutine.yield() return profiler.label().n end)
      coroutine.resume(list[i])
    end
    for _ = 1, 3 do collectgarbage() collectgarbage "step" end
    for i = 1, 50 do assert.same({true, tostring(i)}, {coroutine.resume(list[i])}) end
  end)

  it("of profiler.with end with its function: nested, by an error, by a closed coroutine", function()
    profiler.label{route = "/a"}
    local function inner(...)
      assert.same({route = "/c", user = "1"}, profiler.label())
      profiler.label{more = 1}
      return ...
    end
    local function outer(...)
      assert.same({route = "/b"}, profiler.label())
      assert.same({1, nil, 3, n = 3}, table.pack(profiler.with({route = "/c", user = 1}, inner, ...)))
      assert.same({route = "/b"}, profiler.label())
      error({"raised"})
    end
    local ok, raised = pcall(profiler.with, {route = "/b"}, outer, 1, nil, 3)
    assert.same({false, {"raised"}}, {ok, raised})
    assert.same({route = "/a"}, profiler.label())
    local seen
    local co = coroutine.create(function()
      local closed <close> = setmetatable({}, {__close = function() seen = profiler.label() end})  -- luacheck: ignore
      profiler.with({route = "/d"}, coroutine.yield)
    end)
    coroutine.resume(co)
    coroutine.close(co)
    assert.same({{route = "/a"}, {route = "/a"}}, {seen, profiler.label()})
  end)

  it("stay as they are where profiler.with is given nothing to call", function()
    profiler.label{route = "/a"}
    local ok, message = pcall(function() profiler.with({route = "/b"}, nil) end)
    assert.is_false(ok)
    assert.is_truthy(message:find "labels_spec.lua:%d+: bad argument #2 to 'with' %(function ", message)
    assert.same({route = "/a"}, profiler.label())
  end)

  it("of profiler.with stay while its function has yielded, and are gone when it is done", function()
    local co = coroutine.wrap(function()
      profiler.with({route = "/y"}, function()
        coroutine.yield(profiler.label().route)
        coroutine.yield(profiler.label().route)
      end)
      return profiler.label()
    end)
    for _ = 1, 2 do
      assert.equal("/y", co())
      assert.same({}, profiler.label())
    end
    assert.same({}, co())
  end)

  it("of another sort are refused, and nothing changes", function()
    profiler.label{route = "/a"}
    local says = {
      ["table of labels expected, got number"] = 1,
      ["the name of a label must be text without '=', got 1"] = {"/x"},
      ["the name of a label must be text without '=', got \"\""] = {[""] = "x"},
      ["the name of a label must be text without '=', got \"a=b\""] = {["a=b"] = 1},
      ["label 'route' must be text, a number, true or false, got table"] = {route = {}},
    }
    for message, bad in pairs(says) do
      for name, call in pairs{label = profiler.label,
                              with = function(t) return profiler.with(t, print) end} do
        local ok, err = pcall(call, bad)
        assert.is_false(ok)
        assert.is_truthy(err:find(("bad argument #1 to '%s' (%s)"):format(name, message), 1, true), err)
      end
    end
    assert.same({route = "/a"}, profiler.label())
  end)

  it("can be set by a C host, of any thread of a state", function()
    local co = coroutine.create(function() coroutine.yield() return profiler.label() end)
    coroutine.resume(co)
    assert.is_nil(embedding.label(co, "route", "/host"))
    assert.is_nil(embedding.label(co, "other", "x"))
    assert.is_nil(embedding.label(co, "other"))
    assert.equal("the name of a label must be text without '='", embedding.label(co, "a=", "b"))
    assert.same({}, profiler.label())
    assert.same({true, {route = "/host"}}, {coroutine.resume(co)})
  end)
end)

-- ==}

-- {== in the profile ========================================================

-- A program with three routes that allocate in the ratio 1:2:4, in alternating coroutines. The spec
-- replaces %s by more code.
local SERVER = [[
  local profiler = require "profiler"
  assert(profiler.enable{alloc = 1024, seed = 5, out = arg[1], overwrite = true, format = arg[2]})
  local kept, live = {}, {}
  local function serve(route, n)
    profiler.label{route = route}
    for i = 1, n do
      profiler.with({step = i % 2}, function() kept[i] = {i, i, i} end)
      if i % 50 == 0 then coroutine.yield() end
    end
  end
  for _ = 1, 40 do
    for i, route in ipairs{"/a", "/b", "/c"} do
      live[#live + 1] = coroutine.wrap(function() serve(route, 100 << i) return "done" end)
    end
    for i = #live, 1, -1 do
      if live[i]() == "done" then table.remove(live, i) end
    end
  end
  for i = #live, 1, -1 do while live[i]() ~= "done" do end end
  assert(profiler.disable())
]]

describe("a server whose routes allocate 1:2:4", function()
  local folder, path, out
  setup(function()
    folder = shell.folder()
    path, out = folder .. "/p.vmprof", folder .. "/out"
    local script = process.file(SERVER)
    for format, name in pairs{stock = path, extended = folder .. "/p7.vmprof"} do
      local code, _, err = process.run{script, name, format}
      assert.same({0, ""}, {code, err})
    end
    os.remove(script)
  end)

  -- Checks that the numbers of samples by route are in the ratio 1:2:4, with a tolerance of six standard
  -- errors of the differences.
  local function proportional(n)
    local a, b, c = n["/a"], n["/b"], n["/c"]
    assert.is_true(a > 300, a)
    assert.is_true(math.abs(b - 2 * a) <= 6 * math.sqrt(b + 4 * a), ("%d %d"):format(a, b))
    assert.is_true(math.abs(c - 2 * b) <= 6 * math.sqrt(c + 4 * b), ("%d %d"):format(b, c))
  end

  local function json(...)
    local code, text, err = asamp(report, "--json", ...)
    assert.same({0, ""}, {code, err})
    return cjson.decode(text)
  end

  local function samples(name)
    local n, bytes = {}, 0
    local doc = json(name)
    for _, row in ipairs(doc.labels.route) do
      n[row.value], bytes = row.samples, bytes + row.bytes
      assert.equal(row.samples * 1024, row.bytes)
    end
    assert.equal(doc.bytes, bytes)
    return n, doc
  end

  it("shows that in the report, in both flavours", function()
    for _, name in ipairs{path, folder .. "/p7.vmprof"} do
      local n, doc = samples(name)
      proportional(n)
      local collections, steps = 0, {}
      for _, row in ipairs(doc.labels.route) do collections = collections + row.collections end
      assert.equal(doc.minors + doc.majors, collections)
      for _, row in ipairs(doc.labels.step) do steps[row.value] = row.samples end
      assert.is_true(steps["0"] > 300 and steps["1"] > 300)
    end
    local _, text = asamp(report, "--by-label", "route", "--width", "80", path)
    assert.is_truthy(text:find "By label route\n.-\n[^\n]+ /c\n[^\n]+ /b\n[^\n]+ /a\n[^\n]+ %(none%)\n")
    assert.is_falsy(text:find "By function")
  end)

  it("can be reported by one of them, with the same sums", function()
    local n = samples(path)
    for _, route in ipairs{"/a", "/b", "/c", "(none)"} do
      local doc = json("--label", "route=" .. route, path)
      assert.equal(n[route], doc.samples)
      assert.equal(doc.whole.bytes, doc.bytes)
      assert.same({1, route}, {#doc.labels.route, doc.labels.route[1].value})
    end
    for option, says in pairs{["--label=route=/x"] = "no code ran with the label route=/x",
        ["--label=rout=/a"] = "the profile has no label named rout (known: route, step)",
        ["--by-label=rout"] = "no label named rout", ["--label=route"] = "needs NAME=VALUE"} do
      local code, _, err = asamp(report, option, path)
      assert.is_true(code > 0 and err:find(says, 1, true) ~= nil, err)
    end
  end)

  it("shows that in pprof, as labels of its samples", function()
    local n, bytes = {}, {}
    assert.equal(0, (asamp(convert, "--to", "pprof", "-o", out, path)))
    local p = protobuf.profile(vmprof.load(out))
    for _, s in ipairs(p.samples) do
      local route = s.labels.route or "(none)"
      bytes[route] = (bytes[route] or 0) + s.values[2]
    end
    for route, sum in pairs(bytes) do n[route] = sum // 1024 end
    proportional(n)
    assert.same(samples(path), n)
  end)

  it("shows that in collapsed stacks, speedscope and Firefox, as outermost frames", function()
    local bytes = {collapsed = {}, speedscope = {}, firefox = {}}
    local function add(to, frame, n)
      local route = frame:match "^%[route=([^ %]]+)" or "(none)"
      to[route] = (to[route] or 0) + n / 1024
    end
    local function file(format)
      assert.equal(0, (asamp(convert, "--plain", "--to", format, "-o", out, path)))
      return (vmprof.load(out))
    end
    for frame, n in file "collapsed":gmatch "([^;\n]+);[^\n]* (%d+)\n" do
      add(bytes.collapsed, frame, tonumber(n))
    end
    local p = cjson.decode(file "speedscope")
    for i, stack in ipairs(p.profiles[1].samples) do
      add(bytes.speedscope, p.shared.frames[stack[1] + 1].name, p.profiles[1].weights[i])
    end
    p = cjson.decode(file "firefox")
    local shared, a = p.shared, p.threads[1].nativeAllocations
    for i, at in ipairs(a.stack) do
      while shared.stackTable.prefix[at + 1] ~= cjson.null do at = shared.stackTable.prefix[at + 1] end
      local func = shared.frameTable.func[shared.stackTable.frame[at + 1] + 1]
      local name = shared.stringArray[shared.funcTable.name[func + 1] + 1]
      if a.weight[i] > 0 then add(bytes.firefox, name, a.weight[i]) end
    end
    local n = samples(path)
    proportional(n)
    for format, t in pairs(bytes) do assert.same({format, n}, {format, t}) end
  end)

  it("says the same in the other flavour, and repaired", function()
    -- Returns the sets of labels of a profile, sorted by their values, because their order in a file is not
    -- defined.
    local function labels(name)
      local list = assert(reader.read(name)).labels
      local function key(set) return (set.labels.route or "") .. " " .. (set.labels.step or "") end
      table.sort(list, function(a, b) return key(a) < key(b) end)
      return list
    end
    for _, name in ipairs{path, folder .. "/p7.vmprof"} do
      assert.equal(0, (asamp(convert, "--to", "vmprof", "-o", out, name)))
      assert.same(labels(name), labels(out))
    end
    local f = io.open(out, "wb")
    f:write((vmprof.load(path):sub(1, -10)))  -- removes the trailer
    f:close()
    assert.equal(0, (asamp(repair, "-o", folder .. "/mended", out)))
    assert.same(labels(path), labels(folder .. "/mended"))
  end)
end)

-- A former bug: the text was cut within a character.
describe("labels whose text is longer than 8 KiB", function()
  it("are cut after a character in files for other tools", function()
    local path, out = os.tmpname(), os.tmpname()
    assert.same({0, "", ""}, {process.run{code = [[
      local profiler, labels, keep = require "profiler", {}, nil
      profiler.enable{alloc = 64, out = arg[1], overwrite = true}
      for i = 10, 41 do labels["n" .. i] = ("é"):rep(126) .. "x" end
      profiler.with(labels, function() for i = 1, 100 do keep = {i} end end)
      profiler.disable()
    ]], path}})
    assert.equal(0, (asamp(convert, "--plain", "--to", "collapsed", "-o", out, path)))
    local text = vmprof.load(out):match "%[n%d%d=.-%]"
    assert.equal(8190, #text)
    assert.matches("é%]$", text)
    os.remove(path)
    os.remove(out)
  end)
end)

describe("10,000 values of a label", function()
  it("are recorded up to the limit, and the limit is reported", function()
    local path = os.tmpname()
    assert.same({0, "", ""}, {process.run{code = [[
      local profiler = require "profiler"
      profiler.enable{alloc = 64, out = arg[1], overwrite = true}
      local keep
      for i = 1, 10000 do profiler.with({id = i, kind = "x"}, function() keep = {i} end) end
      for i = 1, 100 do profiler.label{["n" .. i] = 1} end
      profiler.disable()
    ]], path}})
    local left, rows = {}, {}
    local _, text = asamp(report, "--json", path)
    local doc = cjson.decode(text)
    for _, l in ipairs(doc.left) do left[l.what] = l.count end
    for _, row in ipairs(doc.labels.id) do rows[row.value] = row.samples end
    assert.equal(10000 - 4095, left.labelvalues)
    assert.is_true(left.labelnames >= 36, left.labelnames)
    -- 5,200 samples are expected; the limit permits random variation
    assert.is_true(rows["(others)"] > 4500, rows["(others)"])
    local most = 0
    for value in pairs(rows) do most = math.max(most, tonumber(value) or 0) end
    assert.is_true(most > 4000 and most <= 4095, most)
  end)
end)

describe("lines of labels that do not fit", function()
  it("keep the valid part", function()
    local function read(details)
      local path = process.file(vmprof.head() .. vmprof.header(6, 2) ..
        vmprof.meta("asamp.format", "3") .. vmprof.meta("sample_allocated_bytes", "100") ..
        vmprof.name(8, "py:f:1:f.lua") .. vmprof.stack(1, 1, {0, 1, 5, 8}, {0}):rep(3) ..
        vmprof.meta("asamp.1", "n 3\ns 8 8 8\n" .. details) .. vmprof.trailer())
      local profile = assert(reader.read(path))
      assert.equal(3, profile.samples)
      local text = {}
      for i, set in ipairs(profile.labels or {}) do
        local list = {}
        for name, value in pairs(set.labels) do list[#list + 1] = name .. "=" .. value end
        table.sort(list)
        text[i] = table.concat(list, ",") .. ":" .. set.samples
      end
      return table.concat(text, " ")
    end
    assert.equal(":1 a=b,c=d:2", read "b 1 0 2 1\nB 1 1 ab\nB 1 1 cd\n")
    -- the samples name a label set 3 that does not exist
    assert.equal(":3 a=:0", read "b 3 7\nB 1 1 a\n")
    assert.equal(":3 =:0", read "b 18446744073709551615 99999999999\nB 1 0 \n")
    -- the record states a length of the name that exceeds the rest of the line
    assert.equal(":0 abc=:3", read "b 9 1\nB 1 99 abc\n")
    assert.equal(":2 a=b:1", read "b 1 1 x\nB 1 1 ab\nB 3 1 xy\nB 0 1 zz\nB -1\nB\nB 1\n")
    assert.equal("", read "b\nb 1\nB\n")
    assert.equal(":3 a=b:0", read "B 1 1 ab\ng 1 1 1 1 1 1 0 0 0 9\nf 3\n")
  end)
end)

-- ==}

-- Writes a file with n label sets. The sets are written in batches of 'each'; lines(id) returns the lines
-- of one set. The file has one sample without labels, and one sample of each set in the list 'sampled'.
local function withsets(n, each, lines, sampled)
  local text = {vmprof.head() .. vmprof.header(6, 2) .. vmprof.meta("asamp.format", "3") ..
    vmprof.meta("sample_allocated_bytes", "100") .. vmprof.name(8, "py:f:1:f.lua")}
  local stack = vmprof.stack(1, 1, {0, 1, 5, 8}, {0})
  for from = 1, n, each do
    local batch = {"n 1\ns 8\n"}
    for id = from, math.min(n, from + each - 1) do batch[#batch + 1] = lines(id) end
    text[#text + 1] = stack .. vmprof.meta("asamp.1", table.concat(batch))
  end
  for _, id in ipairs(sampled) do
    text[#text + 1] = stack .. vmprof.meta("asamp.1", ("n 1\ns 8\nb 1 %d\n"):format(id))
  end
  return process.file(table.concat(text) .. vmprof.trailer(1))
end

describe("sets of labels, as many as a file may have,", function()
  -- A former bug: of 16,384 sets of 32 labels, the reader dropped half, although the documented limits
  -- allow that many.
  it("are all there: 16,384 of 32", function()
    local path = withsets(16384, 512, function(id)
      local list = {}
      for k = 1, 32 do list[k] = ("B %d 3 l%02d%d\n"):format(id, k, k == 32 and id or k) end
      return table.concat(list)
    end, {1, 8192, 16384})
    local p = assert(reader.read(path))
    assert.same({}, p.left)
    assert.equal(16385, #p.labels)
    for _, id in ipairs{1, 8192, 16384} do
      local set = p.labels[id + 1]
      assert.same({1, "1", tostring(id)}, {set.samples, set.labels.l01, set.labels.l32})
    end
    os.remove(path)
  end)

  -- A former bug: if a file had several label sets beyond the limit, only one was counted, and the message
  -- named another limit.
  it("beyond the limit are counted, and the message names the consequence", function()
    local path = withsets(65636, 8192, function(id) return ("B %d 1 a%d\nB %d 1 bx\n"):format(id, id, id) end,
                          {65536, 65537, 65636})
    local p = assert(reader.read(path))
    assert.same({{what = "sets", limit = 65536, count = 100,
      text = "the limit of 65,536 sets of labels in a file was reached, so 100 more are left out, and " ..
        "their samples count as (none); merge fewer profiles"}}, p.left)
    assert.same({9 + 2, 1}, {p.labels[1].samples, p.labels[65537].samples})
    os.remove(path)
  end)

  it("in each of two profiles, are left out of both together, which asamp merge says", function()
    local out, all = os.tmpname(), {}
    for id = 1, 40000 do all[id] = id end
    local one = withsets(40000, 8192, function(id) return ("B %d 1 a%d\n"):format(id, id) end, all)
    local two = withsets(40000, 8192, function(id) return ("B %d 1 a%d\n"):format(id, id + 30000) end, all)
    local merge = require "asamp.commands.merge"
    local code, _, err = asamp(merge, "-o", out, one, two)
    local text = "the limit of 65,536 sets of labels in a file was reached, so 4,464 more are left out, " ..
      "and their samples count as (none); merge fewer profiles"
    assert.same({0, ("asamp merge: '%s': %s\n"):format(out, text)}, {code, err})
    local p = assert(reader.read(out))
    assert.equal(text, p.left[1] and p.left[1].text)
    assert.equal(10 + 4464, p.labels[1].samples)
    for _, name in ipairs{one, two, out} do os.remove(name) end
  end)
end)

-- A former bug: samples without a label were merged with samples whose label has the value "(none)".
describe("a value that is called (none)", function()
  it("differs from samples without a label: it is in quotes, also in options", function()
    local path = os.tmpname()
    assert.same({0, "", ""}, {process.run{code = [[
      local profiler = require "profiler"
      profiler.enable{alloc = 256, seed = 3, out = arg[1], overwrite = true}
      local function work(n) for i = 1, n do local _ = {i} end end
      work(1000)
      for n, value in ipairs{"(none)", '"(none)"', "/a"} do
        profiler.label{route = value}
        work(1000 << n)
      end
      profiler.disable()
    ]], path}})
    local labelled = require "asamp.sums.labelled"
    local rows = labelled.rows(assert(reader.read(path)), "route")
    local values = {}
    for i, row in ipairs(rows) do
      values[i] = row.value
      local _, text = asamp(report, "--json", "--label", "route=" .. row.value, path)
      local doc = cjson.decode(text)
      assert.same({row.bytes, 1, row.value}, {doc.bytes, #doc.labels.route, doc.labels.route[1].value})
    end
    assert.same({"/a", '""(none)""', '"(none)"', "(none)"}, values)
    os.remove(path)
  end)
end)

-- A former bug: for short collections, a file has only their number and their total time. The rows of
-- labels had this number, but not the time.
describe("collections by label", function()
  it("have the pauses of all, also of those without a record of their own", function()
    local path = process.file(vmprof.head() .. vmprof.header(6, 2) ..
      vmprof.meta("asamp.format", "3") .. vmprof.meta("sample_allocated_bytes", "100") ..
      vmprof.name(8, "py:f:1:f.lua") .. vmprof.stack(1, 1, {0, 1, 5, 8}, {0}) ..
      vmprof.meta("asamp.1", "n 1\ns 8\nb 1 1\nB 1 1 ra\nf 1\n" ..
        "g 0 100 0 0 0 0 0 3 0 1 0 0 0 0 0 0 0 50 0\n") .. vmprof.trailer(1))
    local p = assert(reader.read(path))
    assert.same({4, 150}, {p.minors, p.course.pauses.total})
    assert.same({4, 150}, {p.labels[2].minors, p.labels[2].pause})
    os.remove(path)
  end)
end)

-- A former bug: the rows of labels counted samples of unknown survival as alive. All other parts of the
-- report did not.
describe("the bytes alive, by label,", function()
  it("add up to all bytes alive, also if some samples are undecided", function()
    local labelled = require "asamp.sums.labelled"
    local totals = require "asamp.sums.totals"
    for followed, alive in pairs{["9"] = {a = 100, b = 200}, ["0"] = {a = 0, b = 0}} do
      local path = process.file(vmprof.head() .. vmprof.header(6, 2) ..
        vmprof.meta("asamp.format", "3") .. vmprof.meta("sample_allocated_bytes", "100") ..
        vmprof.meta("asamp.followed", followed) ..
        vmprof.name(8, "py:f:1:f.lua") .. vmprof.stack(1, 1, {0, 1, 5, 8}, {0}):rep(6) ..
        vmprof.meta("asamp.1", "n 6\ns 8 8 8 8 8 8\nb 2 1 4 2\nB 1 1 ra\nB 2 1 rb\nf 1 3\n") ..
        vmprof.trailer())
      local profile = assert(reader.read(path))
      local rows, sum = {}, 0
      for _, row in ipairs(labelled.rows(profile, "r")) do
        rows[row.value], sum = row.alive, sum + row.alive
      end
      assert.same({100 * 2, 600}, {profile.undecidedbytes, profile.bytes})
      assert.same(alive, rows)
      assert.equal(totals.of(profile).whole.alivebytes, sum)
      os.remove(path)
    end
  end)
end)
