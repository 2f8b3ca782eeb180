// SPDX-License-Identifier: MIT
// Creates elements from names, attributes and children. Text is inserted only as text nodes: no
// module of the page parses HTML.

export function el(name, attributes = {}, ...children) {
  const e = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === false || value === undefined || value === null) continue;
    if (key.startsWith("on")) e.addEventListener(key.slice(2), value);
    else e.setAttribute(key, value === true ? "" : value);
  }
  e.append(...children.filter(child => child !== null && child !== undefined));
  return e;
}

export const byId = id => document.getElementById(id);

// Returns the colours of custom properties, resolved for use on a canvas.
export function colors(names) {
  const probe = el("span", { hidden: true });
  document.body.append(probe);
  const out = {};
  for (const name of names) {
    probe.style.color = `var(--${name})`;
    out[name] = getComputedStyle(probe).color;
  }
  probe.remove();
  return out;
}
