// SPDX-License-Identifier: MIT
// Shows the figures of a profile next to the lines of open files.
"use strict";
const vscode = require("vscode");
const fs = require("fs");
const os = require("os");
const path = require("path");
const { execFile } = require("child_process");
const { costs } = require("./lines.js");

let files = new Map();  // of costs(): empty when no profile is shown
let type;               // of the decorations

// Runs asamp; resolves to its standard output, rejects with what it says on standard error.
function asamp(...args) {
  const command = vscode.workspace.getConfiguration("asamp").get("command") || "asamp";
  return new Promise((resolve, reject) => {
    execFile(command, args, { maxBuffer: 1 << 28 }, (error, out, err) => {
      if (!error) resolve(out);
      else if (error.code === "ENOENT")
        reject(new Error(`'${command}' is not in PATH; set asamp.command to the path of asamp`));
      else reject(new Error(err.trim() || error.message));
    });
  });
}

// The profile's path: the argument (a Uri, of the explorer) or what the user picks; undefined if none.
async function pick(uri) {
  if (!uri)
    [uri] = await vscode.window.showOpenDialog({
      canSelectMany: false, filters: { "Profiles and reports": ["vmprof", "json"] },
    }) || [];
  return uri && uri.fsPath;
}

function paint(editor) {
  const lines = files.get(editor.document.fileName);
  const marks = [];
  for (const [line, cost] of lines || []) {
    if (line > editor.document.lineCount) continue;  // the file has become shorter
    const end = editor.document.lineAt(line - 1).range.end;
    marks.push({
      range: new vscode.Range(end, end),
      hoverMessage: cost.hover,
      renderOptions: { after: { contentText: cost.text, fontWeight: cost.weight >= 0.1 ? "bold" : "normal" } },
    });
  }
  editor.setDecorations(type, marks);
}

const paintall = () => vscode.window.visibleTextEditors.forEach(paint);

async function show(uri) {
  const file = await pick(uri);
  if (!file) return;
  const text = file.endsWith(".json") ? await fs.promises.readFile(file, "utf8")
    : await asamp("report", "--json", "--show", "lines", file);
  const folders = vscode.workspace.workspaceFolders;
  files = costs(JSON.parse(text), folders ? folders[0].uri.fsPath : path.dirname(file));
  paintall();
  const open = vscode.window.visibleTextEditors.some(e => files.has(e.document.fileName));
  if (!open) {
    const names = [...files.keys()].filter(name => fs.existsSync(name));
    vscode.window.showInformationMessage(names.length > 0
      ? `Asamp: the profile has lines of ${names.slice(0, 3).join(", ")}`
      : "Asamp: none of the profile's source files was found; open the folder in which the program ran");
  }
}

function hide() {
  files = new Map();
  paintall();
}

async function page(uri) {
  const file = await pick(uri);
  if (!file) return;
  const folder = await fs.promises.mkdtemp(path.join(os.tmpdir(), "asamp-"));  // readable by this user only
  const out = path.join(folder, "page.html");
  await asamp("view", "--out", out, file);
  await vscode.env.openExternal(vscode.Uri.file(out));
}

// An error of f is shown to the user.
const reported = f => async uri => {
  try { await f(uri); } catch (error) { vscode.window.showErrorMessage(`Asamp: ${error.message}`); }
};

function activate(context) {
  type = vscode.window.createTextEditorDecorationType({
    after: { margin: "0 0 0 3em", color: new vscode.ThemeColor("editorCodeLens.foreground") },
  });
  context.subscriptions.push(type,
    vscode.commands.registerCommand("asamp.show", reported(show)),
    vscode.commands.registerCommand("asamp.hide", reported(hide)),
    vscode.commands.registerCommand("asamp.page", reported(page)),
    vscode.window.onDidChangeVisibleTextEditors(paintall));
}

module.exports = { activate, deactivate() {} };
