-- SPDX-License-Identifier: MIT
-- Functions are composed at run time. Each composition creates a closure with two upvalues. Each chain of
-- compositions is called once and dropped. 'size' is the number of chains. The result is the sum of all
-- values.

local function compose(f, g)
  return function(x) return f(g(x)) end
end

local function adder(n)
  return function(x) return x + n end
end

local function scaler(n)
  return function(x) return x * n % 10007 end
end

local function chain(length, seed)
  local f = adder(seed)
  for i = 1, length do
    f = compose(i % 2 == 0 and adder(i) or scaler(i + 1), f)
  end
  return f
end

local function run(count)
  local sum = 0
  for i = 1, count do
    sum = sum + chain(20, i)(i)
  end
  return sum
end

return {
  about = "closures composed, called once, dropped",
  size = 220000, small = 9000, tiny = 20,
  run = run,
}
