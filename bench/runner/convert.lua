-- SPDX-License-Identifier: MIT
-- Does the measurements of bench/convert and prints the tables. Measures samples per second of asamp
-- convert for each output format, its memory for a large profile, and its speed relative to another
-- converter. CPU time is that of all threads, memory is peak RSS.

local start = dofile(arg[1] .. "/bench/runner/start.lua") "bench/convert"
local root, work, fail, runner = start.root, start.work, start.fail, start.runner

local machine = require "runner.machine"

local FORMATS = {
  { "firefox", "out.json.gz" }, { "firefox", "out.json" }, { "pprof", "out.pb.gz" },
  { "collapsed", "out.txt" }, { "speedscope", "out.json" },
  { "vmprof", "out.vmprof", "--plain" }, { "vmprof", "out.vmprof.gz" },
}
-- number of all samples in a profile, divided by the number of its allocation samples (big_profile.lua)
local TIME = 1.1
-- approximate size of an allocation sample in the file, in bytes
local BYTES = 300
-- number of allocation samples in the profile for another converter, which is slower
local OTHER_SAMPLES = 50000

local found, size = start.options "samples large other asamp", start.size
local samples, large = start.positive(found, "samples", 1000000), start.positive(found, "large", 1024)
local asamp = found.asamp or root .. "/build/bin/asamp"

local function profile(n, format, packing)
  local path = work .. "/profile"
  local usage, message = runner:run({
    root .. "/build/bin/lua", root .. "/bench/runner/big_profile.lua", path, n, format, packing,
  }, { "LUA_CPATH=" .. root .. "/build/spec/?.so;;" })
  return usage and path or fail("cannot make the profile: " .. message)
end

-- Converts the profile 'path' to 'format'. 'name' is the name of the output file, 'flag' an option or nil.
-- Returns the usage of the command and the bytes of the output.
local function convert(path, format, name, flag)
  local out = work .. "/" .. name
  local usage, message = runner:run({
    asamp, "convert", "--to", format, "-o", out, flag or "--", flag and "--" or path, flag and path,
  }, {})
  if not usage then fail(format .. ": " .. message) end
  local n = size(out)
  os.remove(out)
  return usage, n
end

local function table_of(title, path, n)
  print(("\n%s: %d samples, %.0f MB.\n"):format(title, n, size(path) / 1e6))
  print "| result | samples a second, CPU | wall | CPU s | peak RSS, MB | result, MB |"
  print "| --- | ---: | ---: | ---: | ---: | ---: |"
  for _, format in ipairs(FORMATS) do
    local usage, bytes = convert(path, table.unpack(format))
    print(("| %s (%s) | %.0f | %.0f | %.2f | %.0f | %.1f |"):format(
      format[1], format[2]:match "%.(.*)", n / usage.cpu, n / usage.wall, usage.cpu,
      usage.rss / 1e6, bytes / 1e6))
  end
end

print(machine.line())
table_of("A compressed profile", profile(samples, 6, "gzip"), math.floor(samples * TIME))
local n = large * 1000000 // BYTES
table_of("A large profile, plain", profile(n, 6, "plain"), math.floor(n * TIME))

if found.other then
  local path = profile(OTHER_SAMPLES, 7, "gzip")
  local list = {}
  for word in found.other:gsub("FILE", path):gmatch "%S+" do list[#list + 1] = word end
  local other, message = runner:run(list, {})
  if not other then fail("the other converter: " .. message) end
  local ours = convert(path, "firefox", "out.json.gz")
  local text = "\nAnother converter on %d samples: %.2f s of CPU, %.0f MB; "
    .. "asamp %.2f s, %.0f MB: %.1f times as fast."
  print(text:format(OTHER_SAMPLES, other.cpu, other.rss / 1e6, ours.cpu, ours.rss / 1e6,
    other.cpu / ours.cpu))
end
