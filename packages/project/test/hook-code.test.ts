// What scripts of hooks in JavaScript, Python, perl and ruby load and start: pinned where it can be followed, refused where not.
import { linkSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { temporaryDirectory } from "@agentcli/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { openWorkspace, pinCommand } from "../src/hooks/pin/index.ts";

const files = {
  "tools/x.sh": "#!/bin/sh\n",
  "tools/y.js": "",
  "lib/x.mjs": "",
  "lib/x.py": "",
  "lib/x.rb": "",
};

const interpreters: Record<string, string> = { py: "python3", pl: "perl", rb: "ruby" };

async function prepare(name: string, text: string): Promise<string> {
  const { path, remove } = await temporaryDirectory({ ...files, [`hooks/${name}`]: text });
  onTestFinished(remove);
  return path;
}

function pinIn(path: string, name: string) {
  const program = interpreters[name.split(".").at(-1) ?? ""] ?? "node";
  const variables = new Map([["AGENT_PROJECT_DIR", path]]);
  return pinCommand(`${program} hooks/${name}`, openWorkspace([path], [path], variables));
}

async function pinned(name: string, text: string) {
  const path = await prepare(name, text);
  const { files: found, unpinned } = pinIn(path, name);
  return unpinned ?? found.map((file) => relative(path, file.path));
}

const inNode = (text: string) =>
  `import { execFile, execSync, fork, spawn, spawnSync } from "node:child_process";\n${text}`;
const inPython = (text: string) => `import os, sys, subprocess\n${text}`;

describe("what code starts is followed as the command that does the same", () => {
  test.each([
    ["a.mjs", inNode('spawn("tools/x.sh", ["--strict", input.path], { stdio: "inherit" });')],
    ["a.mjs", inNode('execSync("sh tools/x.sh && echo done");')],
    ["a.mjs", inNode('execFile("bash", ["tools/x.sh", ...more], (error, output) => console.log(output));')],
    ["a.mjs", inNode("spawnSync('./x.sh', { cwd: 'tools', env: { ...process.env, LEVEL: level } });")],
    ["a.mjs", inNode('spawn("sh", ["tools/x.sh"], { shell: true, cwd: process.cwd() });')],
    ["a.mjs", 'import cp from "child_process";\ncp.spawnSync("tools/x.sh");'],
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
    ["a.py", inPython('subprocess.run(["tools/x.sh"], env=os.environ)')],
    ["a.py", inPython('subprocess.run(["tools/x.sh"], env=dict(os.environ, LEVEL="1"))')],
    ["a.py", inPython('subprocess.run(["tools/x.sh", path], check=True, env={**os.environ, "LEVEL": "1"})')],
    ["a.py", inPython('subprocess.check_output("sh tools/x.sh", shell=True)')],
    ["a.py", inPython('if os.system("sh tools/x.sh"): sys.exit(2)')],
    ["a.py", inPython('subprocess.run(["./x.sh"], cwd="tools")')],
    ["a.py", inPython("print(f\"{subprocess.check_output(['tools/x.sh'])}\")")],
    ["a.py", 'from subprocess import run as start, PIPE\nstart("tools/x.sh", stdout=PIPE)'],
  ])("%s: %s", async (name, text) => {
    expect(await pinned(name, `${text}\n`)).toEqual(["hooks", "tools/x.sh"]);
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
      "a.py",
      `#!/usr/bin/env python3
"""Refuses os.system and eval(x)."""
import json, re, sys
import os.path
from pathlib import Path
data = json.load(sys.stdin)
if re.search(r"\\b(eval|exec)\\b", data["tool_input"]["command"]):
    print(f"no: {data['tool_name']!r} in {os.environ.get('HOME', '.')}", file=sys.stderr)
    sys.exit(2)
home = os.environ["HOME"] if "HOME" in os.environ else Path(".")
`,
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
    [
      "a.py",
      `import os, sys
import os.path as p
copy = {**os.environ, "A": "1"}
names = sorted(os.environ) + [k for k in os.environ] + list(dict(os.environ))
os.environ["LEVEL"] = "1"
found, rest = os.environ["PATH"], [part for part in os.environ["PATH"].split(":")]
names.append({os.environ["PATH"]: getattr(sys.stdin, "encoding", None)})
copy[os.environ["PATH"]] = os.environ["PATH"] if os.environ["PATH"] else "x"
print(f"{len(names):#06x} {copy['A']:>{10}} {copy!r:20} {names[1:2]}", os.environ["PATH"] != "x")
`,
    ],
    [
      "a.pl",
      `use strict; use warnings;
use JSON::PP;
my $input = decode_json(join '', <STDIN>);
my $ok = eval { $input->{tool_input}{command} };
open(my $log, '>>', 'log.txt') or die;
do { print STDERR "no\\n"; exit 2 } if $ok =~ /rm -rf/;
`,
    ],
    [
      "a.rb",
      `# system("x")
require "json"
require_relative "../lib/x"
input = JSON.parse($stdin.read)
File.open("log.txt", "a") { |f| f.puts input["tool_name"] }
abort "no" if input.dig("tool_input", "command") =~ /rm -rf/
`,
    ],
  ])("%s", async (name, text) => {
    const result = await pinned(name, text);
    expect(result).toEqual(expect.arrayContaining(["hooks"]));
    expect(typeof result).toBe("object");
  });

  test("in Python also modules of a package, and those that have the name of one of Python's", async () => {
    const path = await prepare("a.py", "import json\nfrom own import part\nimport own.deep.more as m\n");
    mkdirSync(join(path, "hooks/own/deep"), { recursive: true });
    for (const name of ["json.py", "own/__init__.py", "own/part.py", "own/deep/more.py"])
      writeFileSync(join(path, "hooks", name), "");
    expect(pinIn(path, "a.py").unpinned).toBeUndefined();
    for (const name of ["json.py", "own/__init__.py", "own/part.py", "own/deep/more.py"]) {
      writeFileSync(join(path, "hooks", name), "eval(x)\n");
      expect(pinIn(path, "a.py").unpinned).toContain(`in line 1 of ${path}/hooks/${name}, what \`eval(x)\` runs`);
      writeFileSync(join(path, "hooks", name), "");
    }
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
    ["a.mjs", 'run[["constr", "uctor"].join("")];', unknown],
    ["a.mjs", "run[`constr${uctor}`];", unknown],
    ["a.mjs", "run[name](text)();", unknown],
    ["a.mjs", "run?.[name]?.(text);", unknown],
    ["a.mjs", "new run[name](text);", unknown],
    ["a.mjs", "const make = run[name];\nmake(text)();", unknown],
    ["a.mjs", "const { [name]: make } = run;\nmake(text)();", unknown],
    ["a.mjs", "all[one][two] = value;", unknown],
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
    ["a.mjs", "a?.in / 2; execSync(command); 1 / 2;", unknown],
    ["a.mjs", "if (x) `${a}` / 2; execSync(command); 1 / 2;", unknown],
    ["a.mjs", "for await (const a of b) /`/; execSync(command); /`/;", "a slash is not read"],
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
    ["a.mjs", 'import { Worker } from "node:worker_threads";', unknown],
    ["a.mjs", 'import vm from "node:vm";', "what the module node:vm runs or loads is not known"],
    ["a.mjs", 'import { createRequire } from "node:module";', unknown],
    ["a.mjs", "const a = [1] / 2; eval(text);", unknown],
    ["a.mjs", "new Function(text)();", unknown],
    ["a.mjs", "(() => 1).constructor(text)();", unknown],
    ["a.mjs", 'process.getBuiltinModule("vm");', unknown],
    ["a.mjs", 'process.chdir("lib");', unknown],
    ["a.mjs", "if (a) { b() } /`/; eval(text) /`/;", "a slash after } is not read"],
    ["a.mjs", "const a = `${eval(text)}`;", unknown],
    ["a.mjs", "const a = 'open", "a string is not closed"],
    ["a.mjs", "\\u0065val(text);", "is not read"],
    ["a.cjs", 'require(process.cwd() + "/lib/x.cjs");', unknown],
    ["a.cjs", "const load = require;\nload('./x');", unknown],
    ["a.cjs", 'module.require("p");', unknown],
    ["a.cjs", 'try { require("./local"); } catch {}', "there is no file ./local"],
    ["a.cjs", 'const { spawn: s } = require("child_process"), t = s;', unknown],
    ["a.cjs", 'start(require("child_process"));', unknown],
    ["a.py", "subprocess.run(program)", unknown],
    ["a.py", "subprocess.run([program, 'x'])", unknown],
    ["a.py", "subprocess.run([*command])", unknown],
    ["a.py", "subprocess.run(f'{tool} x', shell=True)", unknown],
    ["a.py", "subprocess.run(['sh', '-c', text])", unknown],
    ["a.py", "subprocess.run(['tools/x.sh'], **options)", unknown],
    ["a.py", "subprocess.run(['./x.sh'], cwd=directory)", unknown],
    ["a.py", "subprocess.run(['x'], executable=program)", unknown],
    ["a.py", "subprocess.run(['grep'], env={'PATH': 'tools'})", "PATH can make programs load other files"],
    ["a.py", "start = subprocess.run\nstart('x')", unknown],
    ["a.py", "getattr(subprocess, name)('x')", unknown],
    ["a.py", "os.environ['PATH'] = 'tools'", "PATH can make programs load other files"],
    ["a.py", "a, os.environ['PATH'] = list", path],
    ["a.py", "os.environ['PATH'], a = list", path],
    ["a.py", "(a, [os.environ['PATH']]) = list", path],
    ["a.py", "a = os.environ['PATH'] = text", path],
    ["a.py", "if a: a, os.environ['PATH'] = list", path],
    ["a.py", "for os.environ['PATH'] in list: pass", path],
    ["a.py", "for a, os.environ['PATH'] in list: pass", path],
    ["a.py", "with a as os.environ['PATH']: pass", path],
    ["a.py", "del os.environ['PATH']", path],
    ["a.py", "a, os.environ[name] = list", unknown],
    ["a.py", "import shutil\ngetattr(shutil, 'os').system(text)", unknown],
    ["a.py", "getattr(value, name)()", unknown],
    ["a.py", "setattr(value, name, other)", unknown],
    ["a.py", "import shutil\nshutil.__dict__['os'].system(text)", unknown],
    ["a.py", "from operator import attrgetter", unknown],
    ["a.py", "from logging import config\nconfig.fileConfig('lib/log.ini')", unknown],
    ["a.py", "import logging\nlogging.config.fileConfig('lib/log.ini')", unknown],
    ["a.py", "from xml import sax", unknown],
    ["a.py", "from types import FunctionType", unknown],
    ["a.py", "import typing\ntyping.get_type_hints(value)", unknown],
    ["a.py", "os.environ.update(own)", unknown],
    ["a.py", "os.environ['PATH'] += ':tools'", path],
    ["a.py", "os.environ['AGENT_PROJECT_DIR'] = 'lib'", unknown],
    ["a.py", "os.environ |= own", unknown],
    ["a.py", "env = os.environ\nenv['PATH'] = 'tools'", unknown],
    ["a.py", "def change(e=os.environ): e['PATH'] = 'tools'", unknown],
    ["a.py", "change(env=os.environ)", unknown],
    ["a.py", "from os import environ", unknown],
    ["a.py", "from os import *\nsystem(command)", unknown],
    ["a.py", "from sys import *\npath.insert(0, 'lib')", unknown],
    ["a.py", "subprocess.run(['grep'], env=dict(os.environ, PATH='tools'))", path],
    ["a.py", "subprocess.run(['grep'], env=dict(own))", unknown],
    ["a.py", "subprocess.run(['grep'], env={'PA' 'TH': 'tools'})", unknown],
    ["a.py", "import contextlib\nwith contextlib.chdir('lib'): pass", unknown],
    ["a.py", "from contextlib import chdir", unknown],
    ["a.py", "# x\ros.system(command)", unknown],
    ["a.py", "x = 1\rimport runpy", "the package runpy"],
    ["a.py", "import shutil\nshutil.os.system(command)", unknown],
    ["a.py", "from shutil import os", unknown],
    ["a.py", "from random import _os as o", unknown],
    ["a.py", "import platform\nplatform.subprocess.run(command)", unknown],
    ["a.py", "print(f'{n:>{eval(text)}}')", unknown],
    ["a.py", "print(f'{n:#x}'); os.system(command)", unknown],
    ["a.py", "os.system(command)", unknown],
    ["a.py", "os.execv(program, [])", unknown],
    ["a.py", "from os import execv", unknown],
    ["a.py", "from os import system\nsystem(command)", unknown],
    ["a.py", "import subprocess as sp\nsp.Popen(command)", unknown],
    ["a.py", "from subprocess import *", unknown],
    ["a.py", "print(f'{eval(text)}')", unknown],
    ["a.py", "sys.path.insert(0, 'lib')", unknown],
    ["a.py", "from sys import path", unknown],
    ["a.py", "import runpy", "what the package runpy runs or loads is not known"],
    ["a.py", "import importlib.util", "the package importlib.util"],
    ["a.py", "import pickle", "the package pickle"],
    ["a.py", "import asyncio", "the package asyncio"],
    ["a.py", "if True: import local_settings", "the package local_settings"],
    ["a.py", "exec(open('lib/x.py').read())", unknown],
    ["a.py", "subprocess.run(['make', 'x'])", "`make`"],
    ["a.pl", "use lib 'lib'; use X;", unknown],
    ["a.pl", 'do "./lib/r.pl";', unknown],
    ["a.pl", "system($program);", unknown],
    ["a.pl", "my $out = qx{$program};", unknown],
    ["a.pl", 'open(my $f, "$program|");', unknown],
    ["a.pl", "eval $text;", unknown],
    ["a.rb", "system(program)", unknown],
    ["a.rb", "load 'lib/x.rb'", unknown],
    ["a.rb", "require './lib/x'", unknown],
    ["a.rb", "open(name)", unknown],
    ["a.rb", 'require_relative "missing"', "there is no file missing.rb"],
  ])("%s: %s", async (name, text, reason) => {
    const before = name === "a.mjs" ? inNode("") : name === "a.py" ? inPython("") : "\n";
    const { unpinned } = pinIn(await prepare(name, `${before}${text}\n`), name);
    expect(unpinned).toContain(reason);
    expect(unpinned).toMatch(/^in line [1-3] of /);
  });
});

test("a module in a directory that every user can write to makes the hook unpinned", async () => {
  const shared = `/tmp/agentcli-pin-${process.pid}.mjs`;
  writeFileSync(shared, "");
  onTestFinished(() => rmSync(shared));
  const path = await prepare("a.mjs", `import "${shared}";\n`);
  expect(pinIn(path, "a.mjs").unpinned).toContain("is in a directory that every user can write to");
});

describe("a script that runs in place, because code starts it, is refused", () => {
  const starting = inNode('spawn("tools/x.sh");\n');
  const reason = (path: string) => pinIn(path, "a.mjs").unpinned;

  test("behind a link, which an agent could exchange", async () => {
    const path = await prepare("a.mjs", inNode('spawn("other/x.sh");\n'));
    symlinkSync("tools", join(path, "other"));
    expect(reason(path)).toContain("is started in place and is behind a link");
  });

  test("with a second name, by which an agent could change it", async () => {
    const path = await prepare("a.mjs", starting);
    expect(reason(path)).toBeUndefined();
    linkSync(join(path, "tools/x.sh"), join(path, "second"));
    expect(reason(path)).toContain("is started in place and has a second name");
  });

  test("if it is found only in another directory than the one in which the hook runs", async () => {
    const path = await prepare("a.mjs", starting);
    mkdirSync(join(path, "app"));
    const inApp = pinCommand("node hooks/a.mjs", openWorkspace([join(path, "app"), path], [path], new Map()));
    expect(inApp.unpinned).toContain("there is no file tools/x.sh");
  });

  test("if it is in Python and imports something, for which an agent could add a file", async () => {
    const path = await prepare("a.mjs", inNode('execSync("python3 lib/x.py");\n'));
    expect(reason(path)).toBeUndefined();
    writeFileSync(join(path, "lib/x.py"), "import json\n");
    expect(reason(path)).toContain("where a file for its import could be added");
  });

  test("if it requires a file without its full name", async () => {
    const path = await prepare("a.mjs", inNode('fork("tools/y.js");\n'));
    writeFileSync(join(path, "tools/z.js"), "");
    writeFileSync(join(path, "tools/y.js"), 'require("./z.js");\n');
    expect(reason(path)).toBeUndefined();
    writeFileSync(join(path, "tools/y.js"), 'require("./z");\n');
    expect(reason(path)).toContain("which file ./z means is known only when it runs");
  });
});

test.each([
  ["keys", `const x = {${"[k]: 1, ".repeat(10_000)}};`, ["hooks"]],
  ["members", `const x = y${"[k]".repeat(10_000)};`, ["hooks"]],
  ["variables", `const x = [${"process.env.A, ".repeat(10_000)}];`, ["hooks"]],
  [
    "levels",
    `const x = ${"a[".repeat(10_000)}0${"]".repeat(10_000)};`,
    expect.stringContaining("known only when it runs"),
  ],
])("code of ten thousand %s is read in one pass", async (_what, text, read) => {
  expect(await pinned("x.mjs", text)).toEqual(read);
});

test("a variable that is an initial value is read, not set", async () => {
  expect(await pinned("x.mjs", "function f({ home = process.env.HOME } = {}) { return home; }")).toEqual(["hooks"]);
});
