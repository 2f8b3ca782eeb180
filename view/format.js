// SPDX-License-Identifier: MIT
// Formats numbers and places as `asamp report` does. The functions have no side effects.

const UNITS = ["EiB", "PiB", "TiB", "GiB", "MiB", "KiB"];

export function count(n) {
  return Math.round(n).toLocaleString("en-US");
}

// Formats a number with 'digits' decimals. Rounds as C's "%.1f" does, like the report: an exact half, which
// toFixed rounds up, is rounded to the even digit. With 0, 1, 2 ... decimals, a number is an exact half if it
// is an odd multiple of 1/2, 1/4, 1/8 ...
function fixed(x, digits) {
  const odd = Math.abs(x * 2 ** (digits + 1)) % 2 === 1;
  const below = Math.floor(x * 10 ** digits);
  return (odd ? (below + Math.abs(below % 2)) / 10 ** digits : x).toFixed(digits);
}

// Returns a noun for the number n: 'word', which is singular, or its plural.
export function noun(n, word) {
  return `${word}${n === 1 ? "" : "s"}`;
}

export function plural(n, word) {
  return `${count(n)} ${noun(n, word)}`;
}

export function bytes(n) {
  let step = 2 ** 60;
  for (const unit of UNITS) {
    if (n >= step * 0.99995) {
      const value = n / step;
      return `${Number.isInteger(value) ? count(value) : fixed(value, 1)} ${unit}`;
    }
    step /= 1024;
  }
  return n === 1 ? "1 byte" : `${count(n)} bytes`;
}

export function seconds(s) {
  if (s === 0) return "0 s";
  if (s < 0.0009995) return `${Number((s * 1e6).toPrecision(3))} µs`;
  if (s < 0.9995) return `${Number((s * 1000).toPrecision(3))} ms`;
  if (s < 59.995) return `${fixed(s, 2)} s`;
  s = Math.round(s);
  if (s < 3600) return `${Math.floor(s / 60)} min ${s % 60} s`;
  if (s < 3 * 86400) return `${Math.floor(s / 3600)} h ${Math.floor(s % 3600 / 60)} min`;
  return `${Math.floor(s / 86400)} d ${Math.floor(s % 86400 / 3600)} h`;
}

export function percent(part, whole) {
  return whole > 0 ? `${fixed(100 * part / whole, 1)}%` : "–";
}

// Returns "file:line" of a Lua function ("file" if the line is 0), and "[C] library" of a native function.
// Returns "" for a collection, for a tail call, and for a Lua function without a file.
export function place(fn, line) {
  if (fn.collection || fn.native && fn.name === "(tail call)") return "";
  if (fn.native) {
    const library = fn.file.split("/").pop();
    return library === "-" || library === "" ? "[C]" : `[C] ${library}`;
  }
  if (fn.file === "-") return "";
  return line > 0 ? `${fn.file}:${line}` : fn.file;
}
