// SPDX-License-Identifier: MIT
// Creates elements and reads colours. Text is inserted only as text nodes: no module of the page parses HTML.

// Returns a new element. An attribute "onNAME" is a listener of the event NAME; attributes that are false,
// null or undefined are left out, and so are children that are null or undefined.
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

// Returns an object with the present colours of CSS custom properties, by name, for use on a canvas.
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
