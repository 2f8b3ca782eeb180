-- SPDX-License-Identifier: MIT
--
-- The editor extension editors/vscode. Writes a profile, and runs the extension's JavaScript test on it,
-- which has a stub of the editor.

local shell = require "spec.support.shell"

describe("editors/vscode #plain", function()
  it("shows the costs of a line, from a profile and from JSON", function()
    if shell.run "command -v node" ~= 0 then return pending "node is not installed" end
    local folder = shell.folder()
    local source = folder .. "/app.lua"
    shell.write(source, "local kept = {}\nfor i = 1, 1e5 do\n  kept[i] = {i}\nend\n")
    shell.output("build/bin/asamp run --quiet --out %s/app.vmprof %s", folder, source)
    local out = shell.output("TMPDIR=%s node editors/vscode/test.js build/bin/asamp %s/app.vmprof %s 3",
                             folder, folder, source)
    assert.is_truthy(out:find "^%d[%d.]*M %d+%.%d%% · alive %d[%d.]*M", out)
  end)

  it("has the version of asamp", function()
    local version = shell.read("editors/vscode/package.json"):match '"version": "([^"]*)"'
    assert.equal(shell.read("VERSION"):match "%S+", version)
  end)
end)
