// What scripts of hooks in Python load and start: pinned where it can be followed, refused where not.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { inPython, pinnedWith, pinScript, prepareScript } from "./hook-code-fixture.ts";

describe("what code starts is followed as the command that does the same", () => {
  test.each([
    ["a.py", inPython('subprocess.run(["tools/x.sh"], env=os.environ)')],
    ["a.py", inPython('subprocess.run(["tools/x.sh"], env=dict(os.environ, LEVEL="1"))')],
    ["a.py", inPython('subprocess.run(["tools/x.sh", path], check=True, env={**os.environ, "LEVEL": "1"})')],
    ["a.py", inPython('subprocess.check_output("sh tools/x.sh", shell=True)')],
    ["a.py", inPython('if os.system("sh tools/x.sh"): sys.exit(2)')],
    ["a.py", inPython('subprocess.run(["./x.sh"], cwd="tools")')],
    ["a.py", inPython("print(f\"{subprocess.check_output(['tools/x.sh'])}\")")],
    ["a.py", 'from subprocess import run as start, PIPE\nstart("tools/x.sh", stdout=PIPE)'],
  ])("%s: %s", async (name, text) => {
    expect(await pinnedWith(name, `${text}\n`)).toEqual(["hooks", "tools/x.sh"]);
  });
});

describe("a script of which nothing is started by others, and what it loads beside it", () => {
  test.each([
    [
      "a.py",
      `import argparse, json, sys, traceback
from dataclasses import dataclass
__version__ = "1"
handlers = {"Bash": lambda data: data, "Write": print}
@dataclass
class Guard:
    __slots__ = ("name",)
    def __init__(self, name): self.name = name
    def __eq__(self, other): return self.__class__.__name__ == other.__class__.__name__
def main(argv=None):
    data = json.load(sys.stdin)
    handlers[data["tool_name"]](data)
    handlers.get(data["tool_name"], print)(data)
    grid = [[0] * 3 for _ in range(3)]
    grid[data["a"]][data["b"]] = data["c"][data["d"]]
    return getattr(sys.stdin, "encoding")
if __name__ == "__main__":
    try:
        sys.exit(main())
    except Exception as error:
        print(type(error).__name__, __file__, file=sys.stderr)
`,
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
  ])("%s", async (name, text) => {
    const result = await pinnedWith(name, text);
    expect(result).toEqual(expect.arrayContaining(["hooks"]));
    expect(typeof result).toBe("object");
  });

  test("in Python also modules of a package, and those that have the name of one of Python's", async () => {
    const path = await prepareScript("a.py", "import json\nfrom own import part\nimport own.deep.more as m\n");
    mkdirSync(join(path, "hooks/own/deep"), { recursive: true });
    for (const name of ["json.py", "own/__init__.py", "own/part.py", "own/deep/more.py"])
      writeFileSync(join(path, "hooks", name), "");
    expect(pinScript(path, "a.py").unpinned).toBeUndefined();
    for (const name of ["json.py", "own/__init__.py", "own/part.py", "own/deep/more.py"]) {
      writeFileSync(join(path, "hooks", name), "eval(x)\n");
      expect(pinScript(path, "a.py").unpinned).toContain(`in line 1 of ${path}/hooks/${name}, what \`eval(x)\` runs`);
      writeFileSync(join(path, "hooks", name), "");
    }
  });
});

describe("code that loads or starts what cannot be followed makes the hook unpinned, and the reason names the line", () => {
  const unknown = "is known only when it runs";
  const path = "PATH can make programs load other files";
  test.each([
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
    ["a.py", "def f(e): e.__traceback__.tb_frame.f_builtins['eval'](text)", unknown],
    ["a.py", "().__class__.__base__.__subclasses__()", unknown],
    ["a.py", "import enum\nenum.bltns.eval(text)", unknown],
    ["a.py", "from logging import handlers\nhandlers.pickle.loads(data)", unknown],
    ["a.py", "os._execvpe('sh', words, env)", unknown],
    ["a.py", "sys.remote_exec(pid, 'lib/x.py')", unknown],
    ["a.py", "help('lib.x')", unknown],
    ["a.py", "__builtins__['ev' + 'al'](text)", unknown],
    ["a.py", "(lambda: 0).__globals__['os']", unknown],
    ["a.py", "import typing\ntyping.ForwardRef(text)._evaluate(a, b, c)", unknown],
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
  ])("%s: %s", async (name, text, reason) => {
    const { unpinned } = pinScript(await prepareScript(name, `${inPython("")}${text}\n`), name);
    expect(unpinned).toContain(reason);
    expect(unpinned).toMatch(/^in line [1-3] of /);
  });
});
