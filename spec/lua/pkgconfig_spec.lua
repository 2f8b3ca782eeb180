-- SPDX-License-Identifier: MIT
-- The pkg-config file lua5.4.pc must quote a prefix with spaces. A former bug: compilers received the two
-- words "-I/opt/my" and "lua/include/lua5.4".

local shell = require "spec.support.shell"

describe("lua5.4.pc", function()
  it("gives a compiler whole words for a prefix with spaces", function()
    local folder = shell.folder()
    local text = shell.output [[cat "$(dirname "$(readlink -f /proc/$PPID/exe)")/../lib/pkgconfig/lua5.4.pc"]]
    local moved, n = text:gsub("^prefix=[^\n]*", "prefix=/opt/my lua", 1)
    assert.equal(1, n, text)
    shell.write(folder .. "/lua5.4.pc", moved)
    -- eval splits the output of pkg-config into words, as a makefile or shell script does
    local words = shell.output([[eval "set -- $(PKG_CONFIG_PATH=%s pkg-config --cflags --libs lua5.4)"
      for w; do echo "$w"; done]], folder)
    assert.same({"-I/opt/my lua/include/lua5.4", "-L/opt/my lua/lib", "-llua5.4", "-lm", "-ldl"},
                shell.lines(words))
  end)
end)
