// SPDX-License-Identifier: MIT
// node test.js ASAMP PROFILE SOURCE LINE: the extension with a stub of the editor. It must mark LINE of
// SOURCE from PROFILE and from its JSON, and report errors. Prints the mark of LINE; fails if anything differs.
"use strict";
const assert = require("assert");
const fs = require("fs");
const Module = require("module");
const { execFileSync } = require("child_process");
const { costs, size } = require("./lines.js");

const [asamp, profile, source, line] = process.argv.slice(2);
const commands = {}, errors = [], notes = [], opened = [];
let picked = [{ fsPath: profile }], command = asamp, marks;
const lines = fs.readFileSync(source, "utf8").split("\n");
const editor = {
  document: { fileName: source, lineCount: lines.length,
    lineAt: i => ({ range: { end: { line: i, character: lines[i].length } } }) },
  setDecorations: (_, list) => { marks = list; },
};
const vscode = {
  Range: class { constructor(start, end) { this.start = start; this.end = end; } },
  ThemeColor: class {},
  Uri: { file: fsPath => ({ fsPath }) },
  env: { openExternal: async uri => opened.push(uri.fsPath) },
  commands: { registerCommand: (name, f) => { commands[name] = f; } },
  workspace: { getConfiguration: () => ({ get: () => command }) },
  window: {
    visibleTextEditors: [editor],
    createTextEditorDecorationType: () => ({}),
    onDidChangeVisibleTextEditors: () => ({}),
    showOpenDialog: async () => picked,
    showErrorMessage: text => errors.push(text),
    showInformationMessage: text => notes.push(text),
  },
};
const load = Module._load;
Module._load = (name, ...rest) => (name === "vscode" ? vscode : load(name, ...rest));

const of = number => marks.find(mark => mark.range.start.line === number - 1);

(async () => {
  assert.deepStrictEqual([0, 999, 1000, 1536, 20 << 20].map(size), ["0", "999", "1.0K", "1.5K", "20M"]);
  assert.throws(() => costs({}, "/"), /no 'lines'/);
  require("./extension.js").activate({ subscriptions: [] });
  const manifest = require("./package.json").contributes.commands.map(c => c.command);
  assert.deepStrictEqual(Object.keys(commands).sort(), manifest.sort());

  await commands["asamp.show"]();
  assert.deepStrictEqual(errors, []);
  const mark = of(line);
  assert.ok(mark, `line ${line} has no mark`);
  assert.strictEqual(mark.range.start.character, lines[line - 1].length);
  const first = mark.renderOptions.after.contentText;

  await commands["asamp.hide"]();
  assert.strictEqual(marks.length, 0);
  fs.writeFileSync(profile + ".json", execFileSync(asamp, ["report", "--json", "--show", "lines", profile]));
  await commands["asamp.show"]({ fsPath: profile + ".json" });
  assert.strictEqual(of(line).renderOptions.after.contentText, first);

  await commands["asamp.page"]();
  assert.ok(fs.readFileSync(opened[0], "utf8").includes("<html"));
  fs.rmSync(require("path").dirname(opened[0]), { recursive: true });

  editor.document.lineCount = line - 1;  // the file has become shorter
  await commands["asamp.show"]();
  assert.ok(!of(line));
  editor.document.fileName = source + ".other";
  await commands["asamp.show"]();
  assert.strictEqual(marks.length, 0);
  assert.ok(notes[0].includes(source));

  picked = undefined;  // the user picks nothing
  await commands["asamp.show"]();
  assert.deepStrictEqual(errors, []);
  await commands["asamp.show"]({ fsPath: source });
  assert.match(errors.pop(), /asamp report/);
  command = "asamp-is-not-here";
  await commands["asamp.show"]({ fsPath: profile });
  assert.match(errors.pop(), /is not in PATH; set asamp.command/);
  console.log(first);
})().catch(error => { console.error(error); process.exit(1); });
