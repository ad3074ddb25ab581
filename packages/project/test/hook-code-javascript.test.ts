// What scripts of hooks in JavaScript load and start: pinned where it can be followed, refused where not.
import module from "node:module";
import { describe, expect, test } from "vitest";
import { inNode, pinnedWith, pinScript, prepareScript } from "./hook-code-fixture.ts";

describe("what code starts is followed as the command that does the same", () => {
  test.each([
    ["a.mjs", inNode('spawn("tools/x.sh", ["--strict", input.path], { stdio: "inherit" });')],
    ["a.mjs", inNode('execSync("sh tools/x.sh && echo done");')],
    ["a.mjs", inNode('execFile("bash", ["tools/x.sh", ...more], (error, output) => console.log(output));')],
    ["a.mjs", inNode("spawnSync('./x.sh', { cwd: 'tools', env: { ...process.env, LEVEL: level } });")],
    ["a.mjs", inNode('spawn("sh", ["tools/x.sh"], { shell: true, cwd: process.cwd() });')],
    ["a.mjs", 'import cp from "child_process";\ncp.spawnSync("tools/x.sh");'],
    ["a.mjs", inNode('const script = "tools/x.sh";\nspawn(script, [file], done);\nfunction done() {}')],
    ["a.mjs", inNode("const root = process.env.AGENT_PROJECT_DIR;\nspawn(`${root}/tools/x.sh`);")],
    ["a.cjs", 'const run = require("child_process").execFileSync;\nrun("tools/x.sh");'],
    ["a.mjs", '(await import("node:child_process")).execFileSync("tools/x.sh");'],
    [
      "a.mjs",
      'import { spawn as start } from "node:child_process";\nstart(process.env.AGENT_PROJECT_DIR + "/tools/x.sh");',
    ],
    ["a.mjs", 'const { execSync: run } = await import("node:child_process");\nrun("tools/x.sh");'],
    ["a.cjs", 'const cp = require("child_process");\ncp.execFileSync("tools/x.sh");'],
    ["a.cjs", 'require("child_process").execFileSync("tools/x.sh");'],
    [
      "a.mjs",
      'import { execFile } from "node:child_process";\nimport { promisify } from "node:util";\nconst run = promisify(execFile);\nawait run("tools/x.sh", [a]);',
    ],
    ["a.mjs", inNode('process.env.FORCE_COLOR = "0";\nspawn("tools/x.sh", [...words.map((word) => word.trim())]);')],
    ["a.mjs", inNode('execFile("tools/x.sh", async function done(error) { console.log(error); });')],
    ["a.mjs", inNode('execFile("tools/x.sh", [], { env: process.env }, error => console.log(error));')],
  ])("%s: %s", async (name, text) => {
    expect(await pinnedWith(name, `${text}\n`)).toEqual(["hooks", "tools/x.sh"]);
  });
});

describe("a script of which nothing is started by others, and what it loads beside it", () => {
  test.each([
    [
      "a.mjs",
      `// eval(x), require(y)
import { join } from 'node:path';
import { readFileSync } from "fs";
import { limit } from "../lib/x.mjs";
const { tool_input: input } = JSON.parse(readFileSync(0, "utf8"));
const found = /eval|exec|spawn\\(/.exec(input.command ?? \`a$\{1 / 2}\`);
if (found) process.exit(2); /* child_process */
process.stderr.write(join(process.env.HOME ?? ".", "x") + (limit ? "eval" : 'require("x")'));
`.replaceAll("\\`", "`"),
    ],
    [
      "a.mjs",
      `import process, { argv, exit } from "node:process";
const { HOME, ...others } = process.env;
process.env.FORCE_COLOR ??= "0";
const all = { ...process.env, [HOME]: argv.length / 2 };
const names = "CI" in process.env ? others : [];
const list = ["eval", "constructor"].filter((word) => process.env[word.trim()] !== all[word]);
const [first = "a"] = [process.env.PATH, ...(list[0] ?? "")], seen = {};
seen[process.env.PATH] = list[list.length - 1];
for (const each of [process.env.PATH]) seen[each] = (process.env.PATH ?? first)[0];
if (Object.prototype.hasOwnProperty.call(seen, "b") && check(process.env.PATH) === 1) seen["c"] = first;
if (typeof process === "undefined" || process.env?.["DEBUG"] === "1") exit(list.length + names.length);
`,
    ],
    [
      "a.cjs",
      'const process = require("process");\nif (require.main === module) run({ arguments: require.main.filename });\n',
    ],
  ])("%s", async (name, text) => {
    const result = await pinnedWith(name, text);
    expect(result).toEqual(expect.arrayContaining(["hooks"]));
    expect(typeof result).toBe("object");
  });
});

describe("data by a key that only the run shows, and calls of what the script itself shows, are harmless", () => {
  test.each([
    ["const handlers = { a: (x) => x, b() {} };\nhandlers[event](input);"],
    ["const handlers = { a() {} };\nconst handle = handlers[event] ?? ((x) => x);\nif (handle) handle(input);"],
    ["const handlers = Object.freeze({ a() {} });\nhandlers[input.hook_event_name]?.(input);"],
    ["const checks = [(x) => x, (x) => !x];\nfor (let i = 0; i < checks.length; i++) checks[i](input);"],
    ["const tools = { guards: { Bash() {} } };\ntools.guards[input.tool_name](input);"],
    ["class Guard {\n  #checks = { Bash: () => true };\n  run(name) { return this.#checks[name](name); }\n}"],
    ["const all = new Map([['a', () => 1]]);\nall.get(event)?.(input);"],
    ["console[level](text);\nconst value = Math[name](1);"],
    ["const grid = [[0]];\nfor (let i = 0; i < 2; i++) for (let j = 0; j < 2; j++) grid[i][j] = 1;"],
    ["sections[section] ??= {};\nsections[section][key] = value;"],
    ["const last = list[list.length - 1], label = labels['a' + name], other = labels[`b${name}`];"],
    ["const picked = keys.map((key) => [key, input[key]]);\nconst text = data[one][two].trim();"],
    ["const own = { get [key]() { return 1; }, [name]: 2, __proto__: null };"],
    ["if (swapped) [a, b] = [b, a];\nconst [first, ...rest] = list;"],
    ["function one() { const run = table[name]; return run; }\nfunction two(run) { run(input); }"],
    ["const log = (prefix) => (text) => console.error(prefix, text);\nlog('a')('b');"],
    ["(() => { main(); })();\n(async function start() { await main(); })();\nfunction main() {}"],
    ["if (error.constructor.name === 'TypeError' || value.constructor === Map) report(error);"],
    ["function Guard() { this.seen = {}; }\nGuard.prototype.add = function (name) { this.seen[name] = true; };"],
    [
      "const { argv, exit, stdin } = process;\nfor (const name in process.env) seen.push(name, Object.keys(process.env));",
    ],
    ["input.text.replace(/a/g, (found) => map[found]);\nlist.sort((a, b) => a[key] - b[key]);"],
    ["const { [key]: value, ...others } = input;\nprocess.stdout.write(JSON.stringify({ ...others, value }));"],
  ])("%s", async (text) => {
    expect(await pinnedWith("a.mjs", `${text}\n`)).toEqual(["hooks"]);
  });

  test.each([
    ["Object.defineProperty(exports, '__esModule', { value: true });\nexports.run = () => 1;"],
    ["'use strict';\nfunction size() { return arguments.length; }\nif (!module.parent) size(1);"],
    ["return;"],
  ])("also in a CommonJS script: %s", async (text) => {
    expect(await pinnedWith("a.cjs", `${text}\n`)).toEqual(["hooks"]);
  });
});

describe("code that loads or starts what cannot be followed makes the hook unpinned, and the reason names the line", () => {
  const unknown = "is known only when it runs";
  const path = "PATH can make programs load other files";
  test.each([
    ["a.mjs", "spawn(program);", unknown],
    ["a.mjs", "spawn(`${dir}/x.sh`);", unknown],
    ["a.mjs", 'spawn(dir + "/x.sh");', unknown],
    ["a.mjs", "const start = spawn;\nstart('tools/x.sh');", unknown],
    ["a.mjs", "[1].map(spawn);", unknown],
    ["a.mjs", "spawn.call(null, program);", unknown],
    ["a.mjs", "export { spawn };", unknown],
    ["a.mjs", "const tools = { spawn };", unknown],
    ["a.mjs", 'spawn("tools/x.sh", [], options);', unknown],
    ["a.mjs", 'spawn("./x.sh", [], { cwd });', unknown],
    ["a.mjs", 'spawn("./x.sh", { cwd: directory });', unknown],
    ["a.mjs", 'spawn("tools/x.sh", { ...options });', unknown],
    ["a.mjs", 'spawn("tools/x.sh", { env: other });', unknown],
    ["a.mjs", 'spawn("lint", { env: { ...process.env, PATH: "tools" } });', "PATH can make programs load other files"],
    ["a.mjs", 'process.env.PATH = "tools";\nspawn("grep", ["x"]);', path],
    ["a.mjs", 'process.env.PATH += ":tools";', path],
    ["a.mjs", 'process.env["PATH"] ??= "tools";', path],
    ["a.mjs", "delete process.env.PATH;", path],
    ["a.mjs", "for (process.env.PATH of list);", path],
    ["a.mjs", "[process.env.PATH] = list;", path],
    ["a.mjs", "[a, [process.env.PATH]] = list;", path],
    ["a.mjs", "(process.env.PATH) = value;", path],
    ["a.mjs", '((process.env["PATH"])) += value;', path],
    ["a.mjs", "({ a: process.env.PATH } = own);", path],
    ["a.mjs", "({ a: [...process.env.PATH] } = own);", path],
    ["a.mjs", "for ([process.env.PATH] of list);", path],
    ["a.mjs", "for ({ a: process.env.PATH } of list);", path],
    ["a.mjs", "delete (process.env.PATH);", path],
    ["a.mjs", "[process.env[name]] = list;", unknown],
    ["a.mjs", '[]["fil" + "ter"]["constr" + "uctor"](text)();', unknown],
    ["a.mjs", 'run[["constr", "uctor"].join("")](text);', unknown],
    ["a.mjs", "run[`constr${uctor}`](text);", unknown],
    ["a.mjs", "run[name](text)();", unknown],
    ["a.mjs", "run?.[name]?.(text);", unknown],
    ["a.mjs", "new run[name](text);", unknown],
    ["a.mjs", "const make = run[name];\nmake(text)();", unknown],
    ["a.mjs", "const { [name]: make } = run;\nmake(text)();", unknown],
    ["a.mjs", 'all[one][two] = value;\nspawn("grep");', unknown],
    ["a.mjs", 'const inner = all[one];\ninner[two] = value;\nspawn("grep");', unknown],
    ["a.mjs", "(run[name])(text)();", unknown],
    ["a.mjs", "(0, run[name])(text)();", unknown],
    ["a.mjs", "(other ?? run[name])(text)();", unknown],
    ["a.mjs", "(test ? other : run[name])(text)();", unknown],
    ["a.mjs", "(made = run[name])(text)();", unknown],
    ["a.mjs", "(await run[name])(text)();", unknown],
    ["a.mjs", "run[name].call(0, text)();", unknown],
    ["a.mjs", "run[name].bind(0)(text)();", unknown],
    ["a.mjs", "run[name]`text`;", unknown],
    ["a.mjs", "const m = run[name];\nm.call(0, text)();", unknown],
    ["a.mjs", "const m = x ?? run[name];\nm(text)();", unknown],
    ["a.mjs", "let m;\nm = run[name]; m.apply(0, [text])();", unknown],
    ["a.mjs", "let m = other; ({ [name]: m } = run);\nm(text)();", unknown],
    ["a.mjs", "const get = (o, k) => o[k];\nget(run, name)(text)();", unknown],
    ["a.mjs", "function get(o, k) { return o[k]; }\nget(run, name)(text)();", unknown],
    ["a.mjs", "function f(m = run[name]) { return m(text); }", unknown],
    ["a.mjs", "function run() {}\n[text].map(run[name]);", unknown],
    ["a.mjs", "const run = () => 1;\nPromise.resolve(text).then(run[name]);", unknown],
    ["a.mjs", "[text].map(Object[name]);", unknown],
    ["a.mjs", "const table = { a() {} };\ntable[name](text)(text);", unknown],
    ["a.mjs", "const { constructor: make } = run;\nmake(text)();", unknown],
    ["a.mjs", "const key = 'constr' + 'uctor';\nrun[key](text)();", unknown],
    ["a.mjs", "Object.getPrototypeOf(run);", unknown],
    ["a.mjs", "Reflect.apply(run, null, [text]);", unknown],
    ["a.mjs", "process[name](text);", unknown],
    ["a.mjs", "const { binding } = process;", unknown],
    ["a.mjs", "globalThis['ev' + 'al'](text);", unknown],
    ["a.mjs", "globalThis[name](text);", unknown],
    ["a.mjs", "const options = { env: process.env };\noptions.env.PATH = 'tools';", unknown],
    ["a.mjs", "x = a <!--b\nexecSync(command);", unknown],
    ["a.cjs", "(function () { return this; })().eval(text);", unknown],
    ["a.cjs", "function f() { return this[name](text); }", unknown],
    ["a.cjs", "function f() { return f.caller.arguments[1]('vm'); }", unknown],
    ["a.cjs", "with (process) { binding('x'); }", unknown],
    ["a.cjs", "const run = require(`child_process`).execSync;\nrun(command);", unknown],
    ["a.mjs", "Reflect.get(run, name);", unknown],
    ["a.mjs", 'Object.prototype.shell = "lib/x.sh";', unknown],
    ["a.mjs", "Object.assign(Object.prototype, own);", unknown],
    ["a.mjs", "({}).__proto__.env = own;", unknown],
    ["a.mjs", "const all = { __proto__: own };", unknown],
    ["a.mjs", "process.env[name.trim()] = value;", unknown],
    ["a.mjs", "process.env[line.slice(0, at)] = value;", unknown],
    ["a.mjs", 'process.env.AGENT_PROJECT_DIR = "lib";', unknown],
    ["a.mjs", 'const env = process.env;\nenv.PATH = "tools";', unknown],
    ["a.mjs", "const { env } = process;", unknown],
    ["a.mjs", "const own = process;", unknown],
    ["a.mjs", "change(globalThis.process);", unknown],
    ["a.mjs", "const all = globalThis;", unknown],
    ["a.mjs", 'import { env } from "node:process";', unknown],
    ["a.mjs", 'import { env as variables } from "process";', unknown],
    ["a.mjs", 'import own from "node:process";\nown.env.PATH = "tools";', unknown],
    ["a.cjs", 'require("process").env.PATH = "tools";', unknown],
    ["a.cjs", 'const own = require("process");', unknown],
    ["a.mjs", 'spawn("timeout", words.map((word) => word.trim()));', unknown],
    ["a.mjs", 'spawn("sort", function () { return words; }());', unknown],
    ["a.mjs", 'spawn("./x.sh", { cwd: list.find((each) => each) });', unknown],
    ["a.mjs", 'spawn("grep", { env: { ...process.env, PATH: list.map((x) => x).join(":") } });', path],
    ["a.mjs", 'spawn("grep", { shell: "lib/x.sh", env: list.map((x) => x) });', unknown],
    ["a.mjs", 'spawn("grep", { env: { get PATH() { return "tools"; } } });', unknown],
    ["a.mjs", 'spawn("grep", { env: { ...process.env, AGENT_PROJECT_DIR: "lib" } });', unknown],
    ["a.mjs", 'const options = { cwd: "lib" };\nspawnSync("./x.sh", options);', unknown],
    ["a.mjs", 'spawnSync("tools/x.sh", options, {});', unknown],
    ["a.mjs", 'spawnSync("tools/x.sh", [{ cwd: "lib" }][0]);', unknown],
    ["a.mjs", 'fork("tools/y.js", options);', unknown],
    ["a.mjs", 'execFile("tools/x.sh", options, (error) => error);', unknown],
    ["a.mjs", "// x\rexecSync(command);", unknown],
    ["a.mjs", "// x\u2028execSync(command);", unknown],
    ["a.mjs", "// x\u2029execSync(command);", unknown],
    ["a.mjs", 'Symbol.for("x") / 2; execSync(command); 1 / 2;', unknown],
    ["a.mjs", "a?.in / 2; execSync(command); 1 / 2;", "its code cannot be read"],
    ["a.mjs", "if (x) `${a}` / 2; execSync(command); 1 / 2;", unknown],
    ["a.mjs", "for await (const a of b) /`/; execSync(command); /`/;", unknown],
    ["a.mjs", '[]["filter"]["constructor"](text)();', unknown],
    ["a.cjs", 'require.main["require"](name);', unknown],
    ["a.cjs", "const main = require.main;", unknown],
    ["a.cjs", "start(require.main, filename);", unknown],
    ["a.cjs", 'arguments[1]("child_" + "process");', unknown],
    ["a.mjs", 'Object.assign(process.env, own);\nspawn("grep", ["x"]);', unknown],
    ["a.mjs", 'spawn("node", [script]);', unknown],
    ["a.mjs", 'spawn("node", arguments_);', unknown],
    ["a.mjs", 'spawn(process.execPath, [join(dir, "x.js")]);', unknown],
    ["a.mjs", 'spawn("make", ["x"]);', "what `make` runs or loads from the workspace is not known"],
    ["a.mjs", 'spawn("git", ["status"]);', "`git`"],
    ["a.mjs", 'spawn("unheard-of-program");', "`unheard-of-program`"],
    ["a.mjs", 'spawn("tools/missing.sh");', "there is no file tools/missing.sh"],
    ["a.mjs", 'execSync("npx --no-install eslint");', "`npx`"],
    ["a.mjs", 'execSync("cat x | bash");', "reads its commands from standard input"],
    ["a.mjs", "fork(script);", unknown],
    ["a.mjs", 'import * as all from "node:child_process";\nconst { spawn: s } = all;', unknown],
    ["a.mjs", 'export * from "node:child_process";', unknown],
    ["a.mjs", 'const name = "child_process";\nawait import(name);', unknown],
    ["a.mjs", "await import(new URL('lib/x.mjs', base));", unknown],
    ["a.mjs", "import 'file:///x/lib/x.mjs';", "the package file:///x/lib/x.mjs"],
    ["a.mjs", 'import "./missing.mjs";', "there is no file ./missing.mjs"],
    ["a.mjs", 'import zod from "zod";', "the package zod"],
    ["a.mjs", 'import { Worker } from "node:worker_threads";', "what the module node:worker_threads runs"],
    ["a.mjs", 'import vm from "node:vm";', "what the module node:vm runs or loads is not known"],
    ["a.mjs", 'import { createRequire } from "node:module";', "what the module node:module runs"],
    ["a.mjs", "const a = [1] / 2; eval(text);", unknown],
    ["a.mjs", "new Function(text)();", unknown],
    ["a.mjs", "(() => 1).constructor(text)();", unknown],
    ["a.mjs", 'process.getBuiltinModule("vm");', unknown],
    ["a.mjs", 'process.chdir("lib");', unknown],
    ["a.mjs", "if (a) { b() } /`/; eval(text) /`/;", "its code cannot be read (Unterminated template)"],
    ["a.mjs", "const a = `${eval(text)}`;", unknown],
    ["a.mjs", "const a = 'open", "its code cannot be read (Unterminated string constant)"],
    ["a.mjs", "\\u0065val(text);", unknown],
    ["a.cjs", 'require(process.cwd() + "/lib/x.cjs");', unknown],
    ["a.cjs", "const load = require;\nload('./x');", unknown],
    ["a.cjs", 'module.require("p");', unknown],
    ["a.cjs", 'try { require("./local"); } catch {}', "there is no file ./local"],
    ["a.cjs", 'const { spawn: s } = require("child_process"), t = s;', unknown],
    ["a.cjs", 'start(require("child_process"));', unknown],
  ])("%s: %s", async (name, text, reason) => {
    const { unpinned } = pinScript(await prepareScript(name, `${name === "a.mjs" ? inNode("") : "\n"}${text}\n`), name);
    expect(unpinned).toContain(reason);
    expect(unpinned).toMatch(/^in line [1-3] of /);
  });
});

test("a script with types is read as Node reads it, and refused where this Node cannot", async () => {
  const text = "interface Input { name: string }\nconst name = (input: Input): string => input.name;\n";
  const canRead = "stripTypeScriptTypes" in module;
  expect(await pinnedWith("x.mts", text)).toEqual(canRead ? ["hooks"] : expect.stringContaining("cannot be read"));
  expect(await pinnedWith("x.mts", `${text}eval(name({ name: "x" }) as string);\n`)).toContain("in line ");
});

test.each([
  ["keys", `const x = {${"[k]: 1, ".repeat(10_000)}};`, ["hooks"]],
  ["members", `const x = y${"[k]".repeat(10_000)};`, ["hooks"]],
  ["variables", `const x = [${"process.env.A, ".repeat(10_000)}];`, ["hooks"]],
  [
    "levels",
    `const x = ${"a[".repeat(10_000)}0${"]".repeat(10_000)};`,
    expect.stringContaining("its code is nested too deeply"),
  ],
])("code of ten thousand %s is read in one pass", async (_what, text, read) => {
  expect(await pinnedWith("x.mjs", text)).toEqual(read);
});

test("a variable that is an initial value is read, not set", async () => {
  expect(await pinnedWith("x.mjs", "function f({ home = process.env.HOME } = {}) { return home; }")).toEqual(["hooks"]);
});
