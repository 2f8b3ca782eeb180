-- SPDX-License-Identifier: MIT
-- busted's own command line, with the module paths that the specs need. Run by
-- spec/run from the project's root.
package.path = "./?.lua;./lualib/?.lua;/usr/share/lua/5.1/?.lua;/usr/share/lua/5.1/?/init.lua;"
  .. package.path
package.cpath = "./build/spec/?.so;" .. package.cpath
require "busted.runner" { standalone = false }
