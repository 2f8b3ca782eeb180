-- SPDX-License-Identifier: MIT
-- Programs that are started with closed standard streams (descriptors 0, 1 and 2). A former bug: the
-- profile, or the output file of a command, was opened with one of these descriptors, so that the program's
-- output was written into it.

local process = require "spec.support.process"
local reader = require "profiler.reader"
local shell = require "spec.support.shell"

local CLOSED = {"0<&-", "1>&-", "2>&-", "0<&- 1>&-", "0<&- 1>&- 2>&-"}

describe("a standard stream that is closed", function()
  local folder, script, out
  before_each(function()
    folder = shell.folder()
    script, out = folder .. "/app.lua", folder .. "/p.vmprof"
    local f = assert(io.open(script, "w"))
    f:write [[
      local lfs = require "lfs"
      local kept, seen = {}, {}
      for i = 1, 20000 do
        kept[i % 100] = {i, tostring(i)}
        if i % 2000 == 0 then
          print "printed"
          io.stderr:write "told"
          seen[#seen + 1] = io.read(1)
          for fd = 0, 2 do
            seen[#seen + 1] = arg[2]:find(fd, 1, true)
              and lfs.symlinkattributes("/proc/self/fd/" .. fd, "target")
          end
        end
      end
      local f = assert(io.open(arg[1], "w"))
      f:write(table.concat(seen, "\n"))
      f:close()]]
    f:close()
  end)

  for _, how in ipairs(CLOSED) do
    -- with libunwind the profiler opens pipes, and with exact clocks further descriptors; the options cover
    -- both
    for _, options in ipairs{"time=1000", "time=1000,exact", "native=0"} do
      it(("stays closed, with the profile next to it: %s, %s"):format(how, options), function()
        local status = process.run{program = "/bin/sh", "-c",
          ("\"$0\" -l profiler \"$1\" \"$2\" '%s' %s"):format(how:gsub("[^012]", ""), how),
          process.interpreter(), script, folder .. "/seen",
          env = {LUA_PROFILER = "alloc=1K,out=" .. out .. "," .. options}}
        assert.equal(0, status)
        assert.equal("", process.read(folder .. "/seen"))
        local profile = assert(reader.read(out))
        assert.is_true(profile.complete, profile.message)
        assert.is_true(profile.samples > 100)
      end)
    end
  end

  it("does not put a command's words into its file", function()
    process.run{"-l", "profiler", script, folder .. "/seen", "",
                env = {LUA_PROFILER = "alloc=1K,out=" .. out}}
    local main = process.file [[os.exit(require "asamp".main(arg), true)]]
    for _, format in ipairs{"collapsed", "pprof", "vmprof"} do
      local expected, got = folder .. "/a", folder .. "/b"
      process.run{main, "convert", "--to", format, "-o", expected, out}
      process.run{program = "/bin/sh", "-c", [["$0" "$1" convert --to "$2" -o "$3" "$4" 0<&- 1>&- 2>&-]],
        process.interpreter(), main, format, got, out}
      assert.equal(process.read(expected), process.read(got))
    end
    local status, _, err = process.run{program = "/bin/sh", "-c", [["$0" "$1" report "$2" >&-]],
      process.interpreter(), main, out}
    assert.equal(1, status)
    assert.equal("asamp: cannot write the output: Bad file descriptor\n", err)
  end)

  -- A former bug: if the program opened a file with a number that the profiler had reserved, the
  -- profiler closed the file.
  it("may be opened by the program while the profiler reserves its number #plain", function()
    shell.write(folder .. "/reuse.c", [[
      #include <fcntl.h>
      #include <unistd.h>
      #include "descriptor.h"
      int main (void) {
        close(0);
        descriptor_hold();
        close(0);
        if (open("/dev/null", O_RDONLY) != 0) return 2;
        descriptor_release();
        return fcntl(0, F_GETFD) == -1;
      }]])
    shell.output("gcc -Iasamp/base -o %s/reuse %s/reuse.c asamp/base/descriptor.c -lpthread", folder, folder)
    assert.equal(0, (process.run{program = folder .. "/reuse"}))
  end)

  -- A former bug: SIGXFSZ ended the program.
  it("may be a file at the limit of file sizes: the program ends as without the profiler", function()
    shell.write(folder .. "/log", ("x"):rep(1024))
    assert.equal(0, (process.run{program = "/bin/sh", "-c",
      [[ulimit -f 1; exec "$0" -l profiler -e "" 2>>"$1"]], process.interpreter(), folder .. "/log",
      env = {LUA_PROFILER = "out=/none/a"}}))
  end)

  -- A former bug: SIGPIPE ended the program.
  it("may be a pipe that nobody reads: the program ends as without the profiler", function()
    for _, variable in ipairs{"LUA_PROFILER=out=/none/a", "LUA_PROFILER=malloc,fixed,out=" .. out,
                              "ASAMP=no=1", "ASAMP=malloc,fixed,out=" .. out} do
      os.remove(out)
      local status, got = process.run{program = "/bin/sh", "-c",
        [[{
            while [ ! -e "$3" ]; do sleep 0.01; done
            env "$2" "$0" -l profiler -e "$1"
            echo $? >"$3"
          } 2>&1 | { exec <&-; : >"$3"; }
          while [ ! -s "$3" ]; do sleep 0.01; done; cat "$3"; rm "$3"]],
        process.interpreter(), "for i = 1, 1000 do local t = {i} end", variable, folder .. "/status"}
      assert.same({0, "0\n"}, {status, got}, variable)
    end
  end)
end)
