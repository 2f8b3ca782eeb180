-- SPDX-License-Identifier: MIT
-- `asamp run --prove-leaks` and `asamp heap --prove`. The leaks in the programs of spec/planted must be
-- proved, and the proved bytes must be those that each program frees when it removes the reference.

local host = require "asamp.host"
local json = require "cjson"
local process = require "spec.support.process"
local proving = require "asamp.cli.proving"
local shell = require "spec.support.shell"

-- Returns the code that removes the leak of spec/planted/history.lua. The report may name either the whole
-- chain of the program's objects, or only the lists in it.
local function HISTORY(holder)
  return holder:find '%["values"%]$' and "local s = app.history while s do s.values, s = nil, s.before end" or
         "app.history = nil"
end

-- Returns the code that removes the leaked reference, by name of the planted program. Programs with such
-- code have it in a line "-- cut:".
local function cuts()
  local list = {history = HISTORY}
  for path in shell.output "grep -l '^-- cut: ' spec/planted/*.lua":gmatch "[^\n]+" do
    list[path:match "([^/]+)%.lua$"] = shell.read(path):match "\n%-%- cut: ([^\n]+)"
  end
  return list
end

-- Code that is appended to a program. It runs the code that removes the reference (%s), and prints the
-- number of freed bytes to stderr.
local TRUTH = [[

collectgarbage() collectgarbage()
local before = collectgarbage "count"
%s
collectgarbage() collectgarbage()
io.stderr:write(("%%d"):format((before - collectgarbage "count") * 1024))
]]

describe("asamp run --prove-leaks", function()
  local folder

  before_each(function()
    folder = shell.folder()
  end)

  -- Runs asamp in the folder. Returns its exit status, stdout and stderr.
  local function asamp(...)
    return process.run{process.file [[os.exit(require "asamp".main(arg), true)]], directory = folder, ...}
  end

  -- Runs leak.lua with --prove-leaks, up to five times, until its leak is found, because a run may have too
  -- few collections. Returns the exit status, stdout, stderr and the name of the profile.
  local function prove()
    local status, out, err
    for i = 1, 5 do
      local profile = ("p%d.vmprof"):format(i)
      status, out, err = asamp("run", "--prove-leaks", "--out", profile, "leak.lua")
      if status ~= 0 or err:find("Likely leak", 1, true) then
        return status, out, err, profile
      end
    end
    return status, out, err
  end

  -- Returns the text with each run of white space replaced by one space.
  local function flat(text)
    return (text:gsub("%s+", " "))
  end

  it("proves the planted leaks, with the bytes that a removal frees", function()
    local n = 0
    for name, cut in pairs(cuts()) do
      n = n + 1
      local text = shell.read(("spec/planted/%s.lua"):format(name))
      shell.write(folder .. "/leak.lua", text)
      local status, _, err, profile = prove()
      assert.equal(0, status, err)
      assert.is_truthy(flat(err):find("Proved: removing .- frees [%d.]+ %a+ %(measured%), %d+%% of " ..
                                      "th%a+ lines?'s? live bytes%."), name .. err)
      assert.is_truthy(flat(err):find("not whether the program still needs them", 1, true), err)
      local path = flat(err):match "asamp heap %-%-prove=%S+ (%S+) shows the proofs again"
      local out
      status, out, err = asamp("heap", "--prove=" .. profile, "--json", path)
      assert.same({0, ""}, {status, err})
      local proof = json.decode(out).proofs[1].proof
      assert.is_true(proof.proved)
      cut = type(cut) == "function" and cut(proof.holder) or cut
      shell.write(folder .. "/truth.lua", text .. TRUTH:format(cut))
      local truth = select(3, process.run{"truth.lua", directory = folder})
      assert.is_true(math.abs(proof.freed - tonumber(truth)) <= tonumber(truth) / 100,
                     ("%s: %d proved, %s measured"):format(name, proof.freed, truth))
    end
    assert.equal(12, n)
  end)

  it("are in the page of asamp view while the snapshot is there", function()
    shell.write(folder .. "/leak.lua", shell.read "spec/planted/listeners.lua")
    local _, _, err, profile = prove()
    local name = flat(err):match "asamp heap %-%-prove=%S+ (%S+) shows the proofs again"
    local function proofs()
      assert.equal(0, (asamp("view", "-o", "page.html", profile)))
      local html = shell.read(folder .. "/page.html")
      local data = html:match '<script type="application/json" id="data">(.-)</script>'
      os.remove(folder .. "/page.html")
      return json.decode(data).leaks.proofs
    end
    local found = proofs()
    assert.equal("Measured in the snapshot " .. name, found.intro)
    assert.matches('^Proved: removing %["listeners"%] of .- frees [%d.]+ %a+ %(measured%)', found.rows[1])
    assert.truthy(found.limit:find "still needs them")
    os.remove(folder .. "/" .. name)
    assert.is_nil(proofs())
  end)

  -- A former bug: if the profile named a pipe as its snapshot, `asamp view` waited for ever for a writer of
  -- the pipe.
  it("are absent, at once, if the profile names a pipe or another user's file", function()
    shell.output("mkfifo %s/pipe", folder)
    local function view(name)
      shell.write(folder .. "/leak.lua", ([[
        keep = {}
        for i = 1, 60000 do keep[i] = {i} if i %% 10000 == 0 then collectgarbage() end end
        require "profiler".mark("heap snapshot", %q)]]):format(name))
      assert.equal(0, (asamp("run", "--quiet", "--alloc", "64", "--out", "a.vmprof", "leak.lua")))
      return (process.run{process.file [[os.exit(require "asamp".main(arg), true)]], "view",
                          "-o", "page.html", "a.vmprof", directory = folder, limit = 60})
    end
    assert.equal(0, view "pipe")
    assert.equal(0, view "/dev/zero")
    local function message(name, from)
      return select(2, proving.open(name, from, function() return nil, function() end end))
    end
    assert.equal("cannot open '/dev/zero': the path is that of a device, not of a regular file; " ..
                 "give another path",
                 message("/dev/zero", folder .. "/a.vmprof"))
    if host.uid() ~= 0 then return end
    shell.output("chown 65534 %s/a.vmprof", folder)
    assert.matches("does not belong to the user of", message(folder .. "/leak.lua", folder .. "/a.vmprof"))
  end)

  it("measures a cache that the program needs, without calling it a leak", function()
    shell.write(folder .. "/leak.lua", [[
      local cache = {}
      for i = 1, 40000 do cache[i] = {id = i, list = {i, i}} end
      for i = 1, 40000 do assert(cache[i].id == i) end]])
    local status, _, err = prove()
    assert.equal(0, status, err)
    local text = flat(err)
    assert.equal(text:find("Proved:", 1, true) ~= nil, text:find("in use is no leak", 1, true) ~= nil)
  end)

  it("runs no finalizer in the child, and calls none twice", function()
    shell.write(folder .. "/leak.lua", [[
      local sockets = {list = {}}
      local Socket = {__gc = function(s) io.write(s.id, "\n") end}
      local function open(i)
        sockets.list[#sockets.list + 1] = setmetatable({id = i, buffer = {i, {i}}}, Socket)
      end
      io.write "first\n"
      for i = 1, 20000 do open(i) end]])
    local status, out, err = prove()
    assert.equal(0, status, err)
    assert.is_truthy(flat(err):find('Proved: removing ["list"] of local "sockets"', 1, true), err)
    local seen, n = {}, 0
    for line in out:gmatch "[^\n]+" do
      assert.is_nil(seen[line])
      seen[line], n = true, n + 1
    end
    assert.equal(20001, n)
  end)

  it("proves nothing where nothing leaks", function()
    shell.write(folder .. "/fine.lua", shell.read "spec/innocent/fullcache.lua")
    local status, _, err = asamp("run", "--prove-leaks", "fine.lua")
    assert.equal(0, status)
    assert.is_nil(err:find("Proved", 1, true))
    assert.is_nil(err:find("Likely leak", 1, true))
  end)

  it("is of a script, and of LUA_PROFILER's 'snapshot', not of a program", function()
    local status, out, err = asamp("run", "--prove-leaks", "--", "/bin/true")
    assert.same({2, "", "asamp run: --prove-leaks is only for a script; for a program, use asamp heap " ..
                        "--prove PID; see asamp run --help\n"}, {status, out, err})
    status, out, err = process.run{code = "", env = {ASAMP = "snapshot"}}
    assert.same({0, "profiler: ASAMP: option 'snapshot' is only for LUA_PROFILER; set ASAMP=listen, and " ..
                    "run asamp heap PID for a snapshot; nothing is " ..
                      "profiled\n", ""}, {status, err, out})
  end)

  it("reports why there is no snapshot", function()
    shell.write(folder .. "/leak.lua", shell.read "spec/planted/listeners.lua" .. [[

      os.execute "mkdir -p p1.heap p2.heap p3.heap p4.heap p5.heap"]])
    local status, _, err = prove()
    assert.equal(0, status)
    assert.is_truthy(flat(err):find("asamp run: no proof: cannot write the snapshot 'p%d%.heap': "), err)
    assert.is_truthy(flat(err):find("Likely leak", 1, true), err)
  end)
end)

describe("asamp heap --prove", function()
  local folder

  setup(function()
    folder = shell.folder()
    shell.write(folder .. "/a.lua", [[
      local profiler = require "profiler"
      assert(profiler.alloc_start(256, {out = "a.vmprof", fixed = true}))
      local keep = {big = {}, small = {}}
      for i = 1, 2000 do keep.big[i] = {i} end
      for i = 1, 200 do keep.small[i] = {i} end
      collectgarbage()
      assert(profiler.snapshot("a.heap", {wait = true}))]])
    local status, out, err = process.run{"a.lua", directory = folder}
    assert.same({0, "", ""}, {status, out, err})
  end)

  local function heap(...)
    local main = process.file [[os.exit(require "asamp".main(arg), true)]]
    return process.run{main, "heap", directory = folder, ...}
  end

  it("measures the largest holders without a profile", function()
    local status, out, err = heap("--prove", "--width", "200", "a.heap")
    assert.same({0, ""}, {status, err})
    assert.is_truthy(out:find('Removing %["big"%] of local "keep" of main chunk %(a%.lua%) frees [%d.]+ ' ..
                              "KiB %(measured%), %d+%% of all lines' live bytes%."), out)
    assert.is_nil(out:find("Proved", 1, true))
    assert.is_true(out:find('["big"]', 1, true) < out:find('["small"]', 1, true), out)
  end)

  it("has nothing to prove in a profile without likely leaks", function()
    local status, out, err = heap("--prove=a.vmprof", "a.heap")
    assert.same({0, ""}, {status, err})
    assert.is_truthy(out:find("None: the profile has no likely leak.", 1, true), out)
  end)

  it("takes an empty file that is locked for one that is being written", function()
    local main = process.file [[os.exit(require "asamp".main(arg), true)]]
    local status, _, err = process.run{program = "/bin/sh", directory = folder, "-c",
      ("exec 9>e.heap; flock 9; '%s' '%s' heap e.heap"):format(process.interpreter(), main)}
    assert.same({1, "asamp heap: cannot read the snapshot 'e.heap': the snapshot is still being written; " ..
                    "try again when it is complete\n"}, {status, err})
  end)

  it("refuses the profile of another process", function()
    local status, _, err = process.run{code = [[
      local profiler = require "profiler"
      profiler.alloc_start(64, {out = "b.vmprof"})
      local t = {} for i = 1, 100 do t[i] = {} end]], directory = folder}
    assert.same({0, ""}, {status, err})
    status, _, err = heap("--prove=b.vmprof", "a.heap")
    assert.equal(1, status)
    assert.is_truthy(err:find("^asamp heap: 'b.vmprof' is of process %d+, but the snapshot is of process " ..
                              "%d+: give two files of the same run\n"), err)
  end)
end)
