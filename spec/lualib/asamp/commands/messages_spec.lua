-- SPDX-License-Identifier: MIT
--
-- Messages of commands about wrong arguments. Each of them was missing, misleading, or not a sentence in an
-- earlier version.

local process = require "spec.support.process"
local shell = require "spec.support.shell"
local vmprof = require "spec.support.vmprof"

describe("asamp", function()
  local folder

  setup(function()
    folder = shell.folder()
    shell.write(folder .. "/app.lua", [[
      local t = {}
      for i = 1, 200000 do t[i % 50000] = {i} end
      for i = 1, 20000 do t[i] = nil end  -- drops old objects
      require "profiler".snapshot(arg[1])]])
    shell.output("cd %s && env LUA_PROFILER=out=a.vmprof,alloc=16K,quiet '%s' -l profiler app.lua a.heap",
      folder, process.interpreter())
    local text = shell.read(folder .. "/a.vmprof")
    shell.write(folder .. "/cut.vmprof", text:sub(1, 100))
    local long = vmprof.head() .. vmprof.header(6, 2) .. vmprof.meta("asamp.format", "3") ..
      vmprof.stack(1, 1, {0, 1, 5, 8}, {0}):rep(2)
    shell.write(folder .. "/long.vmprof", long ..
      vmprof.meta("asamp.1", "n 2\nt 4000000000000000 4000000000000000\n"))
    shell.write(folder .. "/bytes", ("\1\2"):rep(100))
    shell.write(folder .. "/half.vmprof", text:sub(1, #text // 2))
  end)

  teardown(function() shell.remove(folder) end)

  local program = shell.lines(shell.output "pwd")[1] .. "/build/bin/asamp"
  local function run(words, env)
    local list = {program = program, directory = folder, env = env or {}}
    for word in words:gmatch "%S+" do list[#list + 1] = word end
    return process.run(list)
  end

  for words, wanted in pairs{
    ["heap a.vmprof"] = "the file is not a heap snapshot; it is a profile, which asamp report reads",
    ["heap ."] = "the file is not a heap snapshot; it is a folder",
    ["heap app.lua"] = "the file is not a heap snapshot; this is a text file",
    ["convert --to heapsnapshot bytes"] =
      "the file is not a heap snapshot; profiler.snapshot(path) and asamp heap PID write one",
    ["diff bytes a.vmprof"] = "cannot read profile 'bytes': the file is not a VMProf log; make a new profile",
    ["heap --state 1 a.heap"] = "--state is only for a running process, but 'a.heap' is a file",
    ["heap --wait 9s a.heap"] = "--wait is only for a running process, but 'a.heap' is a file",
    ["heap -o x a.heap"] = "--out is only for a running process, but 'a.heap' is a file",
    -- the command must read the files of --diff first: if one is missing, the process must write no snapshot
    ["heap --diff nope.heap 1"] = "cannot read the snapshot 'nope.heap': No such file",
    ["mark 1"] = "a process and a name expected, got 1 argument",
    ["merge -o m cut.vmprof"] =
      "cannot read profile 'cut.vmprof': the profile ends before its first sample; leave this file out",
    -- a former bug: if another error came before this one, this one was not printed
    ["merge -o m bytes long.vmprof"] = "cannot merge 'long.vmprof': the durations of the profiles add up",
    ["merge -o m long.vmprof bytes"] = "cannot merge 'long.vmprof': the durations of the profiles add up",
    ["report --at 99999 a.vmprof"] = "--at 99999 s is after the end of the profile, ",
    ["run --wall --time 0 app.lua"] =
      "--wall needs time samples, but the rate is 0: give --time RATE, too",
    ["run --exact --time 0 app.lua"] =
      "--exact needs time samples, but the rate is 0: give --time RATE, too",
    ["memory half.vmprof"] = "; snapshots of memory after that byte are missing",
    ["advise half.vmprof"] = "; the advice covers only the readable part",
  } do
    it("reports the error of: " .. words, function()
      local code, out, err = run(words)
      assert.is_true(code ~= 0 or words:find "half" ~= nil, out)
      assert.matches(wanted, err, 1, true)
    end)
  end

  it("reports the end of a program whose profile has no end #plain", function()
    shell.write(folder .. "/killed.lua", [[
      local path, size = "killed.lua." .. require "profiler.core".getpid() .. ".vmprof", 0
      while size < 1 << 17 do  -- until the file has samples
        local t = {}
        for i = 1, 1000 do t[i] = {i} end
        local p = io.open(path)
        size = p:seek "end"
        p:close()
      end
      local f = io.open "/proc/self/stat"
      os.execute("kill -9 " .. f:read "n")]])
    local _, _, err = run "run --alloc 512 --plain killed.lua"
    assert.matches("vmprof' has the samples up to then; complete the file with asamp repair: ", err, 1, true)
  end)

  it("names the variable that a wrong value comes from", function()
    local code, _, err = run("run app.lua", {LUA_PROFILER = "alloc=3"})
    assert.equal(2, code)
    assert.matches("asamp run: LUA_PROFILER: option 'alloc'", err, 1, true)
  end)

  -- A former bug: standard input was read once, and its contents were used for both profiles.
  it("takes standard input once where files are added up", function()
    for _, words in ipairs{"merge -o m - -", "merge -o m - nofile -", "report --sum - -"} do
      local code, _, err = run(words)
      assert.equal(2, code)
      assert.is_truthy(err:find("standard input ('-') is given twice, but can be read only " ..
        "once", 1, true), err)
    end
  end)

  it("reports an error once", function()
    local code, _, err = run "merge -o m nofile"
    assert.same({1, "asamp merge: cannot read profile 'nofile': No such file or directory\n"}, {code, err})
  end)

  it("says that nothing has changed, and how much is garbage, in sentences", function()
    local code, out = run "heap --diff a.heap a.heap"
    assert.equal(0, code)
    assert.matches("No object is new, gone or grown since 'a.heap'.", out, 1, true)
    code, out = run "heap a.heap"
    assert.equal(0, code)
    assert.matches("not listed: %d+ samples? of garbage that no collection had found yet", out)
  end)

  it("names no period where it changes", function()
    local _, _, err = process.run{"app.lua", "b.heap", directory = folder,
      env = {ASAMP = "alloc=1K,rate=5,out=r.vmprof"}}
    assert.matches("^profiler: %d+ samples of [%d.]+ MiB allocated; profile: ", err)
  end)
end)
