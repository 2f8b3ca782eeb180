-- SPDX-License-Identifier: MIT
--
-- The interpreter on other systems: compiled for arm64 and emulated by qemu, where the specs of the
-- collector run, and with the C library musl. The profiler is not built there. spec/dist_spec.lua tests the
-- tarball for arm64, and `make fresh ARCH=arm64` tests everything on an emulated Debian.

local shell = require "spec.support.shell"

-- Defines a test that needs the commands 'tools', which the Debian packages 'packages' contain. If a
-- command is missing, the test is pending.
local function with(tools, packages, name, test)
  it(name, function()
    for _, tool in ipairs(tools) do
      if shell.run("command -v " .. tool) ~= 0 then
        return pending(tool .. " is not installed (Debian packages " .. packages .. ")")
      end
    end
    test()
  end)
end

describe("ports #plain", function()
  with({"aarch64-linux-gnu-gcc", "qemu-aarch64-static"}, "gcc-aarch64-linux-gnu, qemu-user-static",
       "runs specs of the collector on arm64", function()
    shell.output "make -s arm64"
    for _, spec in ipairs{"minor", "reuse", "weakresize"} do
      local out = shell.output("qemu-aarch64-static -L /usr/aarch64-linux-gnu build/arm64/bin/lua " ..
                               "spec/support/emulated.lua spec/lua/gc/%s_spec.lua", spec)
      assert.is_truthy(out:find "[1-9]%d* successes / 0 failures / 0 errors / 0 pending", out)
    end
  end)

  with({"musl-gcc"}, "musl-tools", "runs with musl, and says that the profiler is not there", function()
    shell.output "make -s musl"
    assert.is_truthy(shell.output("readelf -l build/musl/bin/lua"):find("ld-musl", 1, true))
    assert.equal("ok\n", shell.output("build/musl/bin/lua spec/innocent/tree.lua >/dev/null && echo ok"))
    local status, _, err = shell.run "build/musl/bin/lua -l profiler -e ''"
    assert.equal(1, status)
    assert.is_truthy(err:find("was built with musl, without the profiler", 1, true), err)
    status, _, err = shell.run "ASAMP=1 build/musl/bin/lua -e ''"
    assert.equal(0, status)
    assert.is_truthy(err:find("nothing is profiled", 1, true), err)
  end)
end)
