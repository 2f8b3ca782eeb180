// SPDX-License-Identifier: MIT
// Elements made from names, attributes and children. Text goes in as text
// nodes only: nothing here, and nothing elsewhere on the page, parses HTML.

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

// The resolved colours of custom properties, for a canvas.
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
