-- SPDX-License-Identifier: MIT
-- A template engine. Text with {{expression}} and {% statement %} is compiled to Lua source, loaded, and
-- rendered into pages; values are escaped for HTML. 'size' is the number of pages. The template is compiled
-- again for every fortieth page.

local PAGE = [[
<html><head><title>{{title}}</title></head><body>
<h1 class="{{kind}}">{{title}}</h1>
<ul>{% for i, item in ipairs(items) do %}
  <li id="n{{i}}"{% if item.sale then %} class="sale"{% end %}>
    <a href="/{{item.path}}">{{item.name}}</a>: {{item.price}} &euro;
    {% for _, tag in ipairs(item.tags) do %}<i>{{tag}}</i> {% end %}
  </li>{% end %}
</ul><p>{{#items}} items, {{total}} in all</p></body></html>
]]

local ENTITIES = { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;" }

local function escape(value)
  return (tostring(value):gsub('[&<>"]', ENTITIES))
end

local function compile(template)
  local code = { "local _out, _escape, _ENV = ... " }
  local from = 1
  local function text(upto)
    if upto >= from then
      code[#code + 1] = ("_out[#_out + 1] = %q "):format(template:sub(from, upto))
    end
  end
  while true do
    local first, last, kind, inner = template:find("{([{%%])%s*(.-)%s*[}%%]}", from)
    if not first then break end
    text(first - 1)
    if kind == "{" then
      code[#code + 1] = ("_out[#_out + 1] = _escape(%s) "):format(inner)
    else
      code[#code + 1] = inner .. " "
    end
    from = last + 1
  end
  text(#template)
  local render = assert(load(table.concat(code), "=template"))
  return function(values)
    local out = {}
    render(out, escape, values)
    return table.concat(out)
  end
end

local function values_of(page)
  local items, total = {}, 0
  for i = 1, 30 do
    local price = (page * i) % 97 + 0.5
    total = total + price
    items[i] = {
      name = ('Item "%d" <%d>'):format(i, page % 50), path = ("shop/%d/%d"):format(page % 50, i),
      price = price, sale = (page + i) % 5 == 0, tags = { "new", "t" .. i % 4 },
    }
  end
  return { title = "Page & number " .. page, kind = "k" .. page % 3, items = items,
    total = total, ipairs = ipairs }
end

local function run(pages)
  local render
  local bytes, sum = 0, 0
  for page = 1, pages do
    if page % 40 == 1 then render = compile(PAGE) end
    local html = render(values_of(page))
    bytes = bytes + #html
    sum = (sum * 31 + html:byte(page % #html + 1)) % 1000000007
  end
  return ("%d bytes, %d"):format(bytes, sum)
end

return {
  about = "templates compiled to Lua and rendered",
  size = 8000, small = 400, tiny = 2,
  run = run,
}
