// SPDX-License-Identifier: MIT
// Numbers and places for people, in the words of `asamp report`. Pure.

const UNITS = ["EiB", "PiB", "TiB", "GiB", "MiB", "KiB"];

export function count(n) {
  return Math.round(n).toLocaleString("en-US");
}

export function plural(n, noun) {
  return `${count(n)} ${noun}${n === 1 ? "" : "s"}`;
}

export function bytes(n) {
  let step = 2 ** 60;
  for (const unit of UNITS) {
    if (n >= step * 0.99995) {
      const value = n / step;
      return `${Number.isInteger(value) ? count(value) : value.toFixed(1)} ${unit}`;
    }
    step /= 1024;
  }
  return n === 1 ? "1 byte" : `${count(n)} bytes`;
}

export function seconds(s) {
  if (s === 0) return "0 s";
  if (s < 0.0009995) return `${Number((s * 1e6).toPrecision(3))} µs`;
  if (s < 0.9995) return `${Number((s * 1000).toPrecision(3))} ms`;
  if (s < 59.995) return `${s.toFixed(2)} s`;
  s = Math.round(s);
  if (s < 3600) return `${Math.floor(s / 60)} min ${s % 60} s`;
  return `${Math.floor(s / 3600)} h ${Math.floor(s % 3600 / 60)} min`;
}

export function percent(part, whole) {
  return whole > 0 ? `${(100 * part / whole).toFixed(1)}%` : "–";
}

// "file:line" of a Lua function, "[C] library" of a native one.
export function place(fn, line) {
  if (fn.native) {
    const library = fn.file.split("/").pop();
    return library === "-" || library === "" ? "[C]" : `[C] ${library}`;
  }
  if (fn.file === "-") return "";
  return line > 0 ? `${fn.file}:${line}` : fn.file;
}
