-- SPDX-License-Identifier: MIT
-- The spectral norm of the infinite matrix 1/((i+j)(i+j+1)/2+i+1), cut to 'size' rows and columns, by the
-- power method: float arithmetic over arrays that are created once.

local function entry(i, j)
  local k = i + j
  return 1.0 / (k * (k + 1) // 2 + i + 1)
end

local function times(v, out, n)
  for i = 0, n - 1 do
    local sum = 0.0
    for j = 0, n - 1 do sum = sum + entry(i, j) * v[j + 1] end
    out[i + 1] = sum
  end
end

local function times_transposed(v, out, n)
  for i = 0, n - 1 do
    local sum = 0.0
    for j = 0, n - 1 do sum = sum + entry(j, i) * v[j + 1] end
    out[i + 1] = sum
  end
end

local function run(n)
  local u, v, scratch = {}, {}, {}
  for i = 1, n do u[i] = 1.0 end
  for _ = 1, 10 do
    times(u, scratch, n)
    times_transposed(scratch, v, n)
    times(v, scratch, n)
    times_transposed(scratch, u, n)
  end
  local uv, vv = 0.0, 0.0
  for i = 1, n do
    uv, vv = uv + u[i] * v[i], vv + v[i] * v[i]
  end
  return ("%.9f"):format((uv / vv) ^ 0.5)
end

return {
  about = "spectral norm: float arithmetic over arrays",
  size = 800, small = 150, tiny = 5,
  run = run,
}
