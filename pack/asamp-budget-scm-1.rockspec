-- Budgets of memory for tests, as a rock: Lua only, for every Lua; only the fork Asamp counts.
--   luarocks make pack/asamp-budget-scm-1.rockspec
rockspec_format = "3.0"
package = "asamp-budget"
version = "scm-1"
source = {url = "."}
description = {
  summary = "Budgets of memory for tests: luassert assertions and a helper for busted",
  detailed = "Counts exactly with Asamp, a fork of Lua 5.4. On another Lua nothing is checked.",
  license = "MIT",
}
dependencies = {"lua >= 5.1"}
build = {
  type = "builtin",
  modules = {
    ["asamp.budget"] = "lualib/asamp/budget.lua",
    ["asamp.budget.busted"] = "lualib/asamp/budget/busted.lua",
  },
}
