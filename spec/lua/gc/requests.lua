-- SPDX-License-Identifier: MIT
-- A model of servers that keep an object with a finalizer for each of some requests. It varies the number
-- of these objects, the garbage of a request and the live data (KiB). The chunk returns a function of the
-- collector mode ("": the state's default), whose only upvalue is _ENV. That function returns a line for
-- each combination: the parameters; the largest number of KiB in use; the largest number of objects whose
-- finalizers were not called yet; and the KiB that requests allocated while such objects were dead.
-- hosts_spec.lua compares these numbers between interpreters.
-- luacheck: ignore 241 331 311 (variables that only keep objects alive)

return function(_, mode)
  local rows = {}
  if mode ~= "" then collectgarbage(mode) end
  for _, kept in ipairs {20, 200, 2000} do
    for _, garbage in ipairs {0, 10, 100} do
      for _, live in ipairs {0, 3000} do
        local world = {}
        for i = 1, live * 1024 // 72 do world[i] = {i} end
        collectgarbage()
        collectgarbage()
        -- approximate bytes of a request
        local each = 96 + 72 * garbage
        local open, most, peak, ring = 0, 0, collectgarbage("count"), {}
        local mt = {__gc = function() open = open - 1 end}
        for request = 1, (24 << 20) // each do
          open = open + 1
          ring[request % kept] = setmetatable({request}, mt)
          for i = 1, garbage do world[0] = {i} end
          if open > most then most = open end
          if request % 16 == 0 then peak = math.max(peak, collectgarbage("count")) end
        end
        rows[#rows + 1] = ("kept %d, garbage %d, live %d: %d %d %d"):format(
          kept, garbage, live, peak // 1, most, (most - kept) * each // 1024)
        ring = nil
      end
    end
  end
  return table.concat(rows, "\n")
end
