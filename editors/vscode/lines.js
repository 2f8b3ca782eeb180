// SPDX-License-Identifier: MIT
// The costs of lines, from the JSON of `asamp report --json --show lines`. Knows no editor.
"use strict";
const path = require("path");

// 1536 -> "1.5K"; with three significant digits at most.
function size(bytes) {
  let unit = 0;
  while (bytes >= 999.5 && unit < 5) { bytes /= 1024; unit++; }
  return (bytes < 9.95 && unit > 0 ? bytes.toFixed(1) : bytes.toFixed(0)) + " KMGTP"[unit].trim();
}

const percent = (part, whole) => (whole > 0 ? (100 * part / whole).toFixed(1) + "%" : "");

// Returns the rows of a report by file: Map(file => Map(line => {text, hover, weight})).
//   report  the object that asamp report --json prints
//   folder  for relative file names of the profile
// 'weight' is 0 to 1: the line's largest share of bytes, live bytes or time.
// Throws an Error if the report has no lines.
function costs(report, folder) {
  if (report === null || typeof report !== "object" || !Array.isArray(report.lines))
    throw new Error("this JSON file has no 'lines'; give the output of asamp report --json --show lines");
  const whole = report.whole || {};
  const files = new Map();
  for (const row of report.lines) {
    if (typeof row.file !== "string" || !(row.line > 0)) continue;  // code without a source line
    const file = path.resolve(folder, row.file.replace(/^@/, ""));
    const self = row.self, texts = [], shares = [0];
    const add = (part, all, text) => {
      if (!(part > 0)) return;
      texts.push(text);
      shares.push(all > 0 ? part / all : 0);
    };
    add(self.bytes, whole.bytes, `${size(self.bytes)} ${percent(self.bytes, whole.bytes)}`);
    add(self.alivebytes, whole.alivebytes, `alive ${size(self.alivebytes)}`);
    add(self.timesamples, whole.timesamples, `time ${percent(self.timesamples, whole.timesamples)}`);
    if (texts.length === 0) continue;
    const hover = [`${row.name || "line"}: ${self.samples} allocation samples`];
    if (self.objects > 0) hover.push(`about ${Math.round(self.objects)} objects`);
    if (report.timeperiod > 0 && self.timesamples > 0)
      hover.push(`${(self.timesamples * report.timeperiod).toFixed(2)} s`);
    if (!files.has(file)) files.set(file, new Map());
    files.get(file).set(row.line, {
      text: texts.join(" · "), hover: hover.join(", "), weight: Math.min(1, Math.max(...shares)),
    });
  }
  return files;
}

module.exports = { costs, size };
