// Which files of the workspace the command of a hook runs, and which commands are refused because that is not known.
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { temporaryDirectory } from "@agentcli/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { openWorkspace, type Pin, pinCommand } from "../src/hooks/pin/index.ts";

const files = {
  "repository/check.sh": "#!/bin/sh\nexit 0\n",
  "repository/tools/x.sh": "#!/bin/sh\nexit 0\n",
  "repository/tools/x.js": 'import "./y.js";\n',
  "repository/tools/y.js": "",
  "repository/tools/x.py": "import json\n",
  "repository/tools/pack.js": 'import zod from "zod";\n',
  "repository/tools/make.mk": "#!/usr/bin/make -f\nall:\n",
  "repository/tools/venv.py": "#!./venv/bin/python\n",
  "repository/src/data.txt": "data",
  "repository/node_modules/.bin/lint": "#!/usr/bin/env node\n",
  "home/own.sh": "#!/bin/sh\nexit 0\n",
};

/** A directory with a repository and a home, without git. */
interface Fixture {
  repository: string;
  home: string;
  pathOf(name: string): string;
  write(name: string, text: string): void;
}

async function prepare(more: Record<string, string> = {}): Promise<Fixture> {
  const { path, remove } = await temporaryDirectory({ ...files, ...more });
  onTestFinished(remove);
  const pathOf = (name: string) => join(path, name);
  const write = (name: string, text: string) => writeFileSync(pathOf(name), text);
  return { repository: pathOf("repository"), home: pathOf("home"), pathOf, write };
}

function pin(command: string, at: Fixture, directory = at.repository): Pin {
  const variables = new Map([
    ["AGENT_PROJECT_DIR", at.repository],
    ["HOME", at.home],
  ]);
  return pinCommand(command, openWorkspace([directory, at.repository], [at.repository], variables));
}

const pinnedBy = ({ files: pinned, unpinned }: Pin, at: Fixture) =>
  unpinned ?? pinned.map(({ path }) => relative(at.repository, path));

describe("a command is pinned with the directory of its script", () => {
  test.each([
    ["./check.sh", ["check.sh"]],
    ["tools/x.sh --strict", ["tools"]],
    ["timeout 10 ./check.sh", ["check.sh"]],
    ["timeout -k 5 --signal=KILL 10s tools/x.sh", ["tools"]],
    ["cd tools && ./x.sh", ["tools"]],
    ["cd tools; sh x.sh", ["tools"]],
    ["test -x ./check.sh && ./check.sh", ["check.sh"]],
    ["[ -x tools/x.sh ] || exit 0; tools/x.sh", ["tools"]],
    ["if [ -x tools/x.sh ]; then tools/x.sh; fi", ["tools"]],
    ["node tools/x.js x", ["tools"]],
    ["node --no-warnings --import ./tools/y.js tools/x.js", ["tools"]],
    ["/usr/bin/env node 'tools/x.js'", ["tools"]],
    ['node "$AGENT_PROJECT_DIR/tools/x.js"', ["tools"]],
    ["X=1 bash -eu ./check.sh", ["check.sh"]],
    ["nice -n 5 nohup env X=1 bash -o pipefail check.sh", ["check.sh"]],
    ["bash -c './check.sh && tools/x.sh'", ["check.sh", "tools"]],
    ["(tools/x.sh) > /dev/null 2>&1 &", ["tools"]],
    ['echo "$(./check.sh)" | grep x', ["check.sh"]],
    [". ./check.sh", ["check.sh"]],
    ["python3 -u tools/x.py src", ["tools"]],
    ["bash check.sh tools/x.sh src/data.txt", ["check.sh", "tools"]],
    ["jq . package.json", []],
    ["cat > seen.json; exit 2", []],
    ['node -e \'process.exit(require("node:fs").existsSync("x") ? 0 : 2)\'', []],
    ["~/own.sh --flag", []],
  ])("%s", async (command, expected) => {
    const at = await prepare();
    expect(pinnedBy(pin(command, at), at)).toEqual(expected);
  });
});

describe("a command is refused", () => {
  test.each([
    ["npm run check", "what `npm` runs or loads from the workspace is not known"],
    ["npx eslint .", "`npx`"],
    ["make check", "`make`"],
    ["/usr/bin/make check", "`make`"],
    ["git status", "`git`"],
    ["./missing.sh", "there is no file ./missing.sh"],
    ["node tools/missing.js", "there is no file tools/missing.js"],
    ["$SCRIPT", "the program `$SCRIPT` is known only when it runs"],
    ["./che*.sh", "is known only when it runs"],
    ["node tools/{x,y}.js", "is known only when it runs"],
    ["cat check.sh | bash", "bash reads its commands from standard input"],
    ["bash < check.sh", "reads its commands from standard input"],
    ["bash <(cat check.sh)", "a process substitution is not read"],
    ["bash <<EOF\n./check.sh\nEOF", "a here-document is not read"],
    ["eval ./check.sh", "`eval`"],
    ["`./check.sh`", "backticks"],
    ["for f in tools/*; do $f; done", "`for` is not read"],
    ["run() { ./check.sh; }; run", "a function or a list in brackets is not read"],
    ["find . -name x -exec ./check.sh {} ';'", "`find`"],
    ["xargs ./check.sh", "`xargs`"],
    ["false || cd tools; ./x.sh", "the directory that cd changes to"],
    ["PATH=tools:$PATH x.sh", "PATH can make programs load other files"],
    ["NODE_OPTIONS=--require=./tools/y.js node tools/x.js", "NODE_OPTIONS"],
    ["env BASH_ENV=./check.sh bash -c true", "BASH_ENV"],
    ["env -C tools ./x.sh", "the option -C of env is not known"],
    ["bash --rcfile check.sh -i -c true", "the option --rcfile of bash"],
    ["node --loader ./tools/y.js tools/x.js", "the option --loader of node"],
    ["node -r tsx tools/x.js", "the package tsx"],
    ["node -e 'require(\"./tools/y.js\")'", "loads ./tools/y.js from the workspace"],
    ["python3 -m tools.x", "the option -m of python3"],
    ["python3 -c 'import json'", "add the option -I"],
    ["awk -f tools/x.awk", "`awk`"],
    ["node tools/pack.js", "loads the package zod from the workspace"],
    ["./node_modules/.bin/missing", "there is no file"],
    ["tools/make.mk", "`make`"],
    ["tools/venv.py", "is in the workspace"],
    ["/tmp/agentcli-no-such-program", "does not exist"],
    ["'open", "a quote is not closed"],
    ["(./check.sh", "a bracket is not closed"],
  ])("%s", async (command, reason) => {
    const at = await prepare();
    expect(pinnedBy(pin(command, at), at)).toContain(reason);
  });
});

describe("pinned with a script are", () => {
  test("the files that it loads by name, where its directory is that of the project", async () => {
    const at = await prepare({
      "repository/check.sh": '#!/bin/sh\n. ./lib.sh\n"$(dirname "$0")/more.sh"\n',
      "repository/lib.sh": "node lib/a.mjs\n",
      "repository/more.sh": "",
      "repository/lib/a.mjs": 'import "../b.mjs";\n',
      "repository/b.mjs": "",
    });
    expect(pinnedBy(pin("./check.sh", at), at)).toEqual(["b.mjs", "check.sh", "lib", "lib.sh", "more.sh"]);
  });

  test("not the files of a directory that is too large to be a directory of scripts", async () => {
    const many = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`repository/big/${index}.txt`, ""]));
    const at = await prepare({ ...many, "repository/big/x.js": 'import "./y.js"', "repository/big/y.js": "" });
    expect(pinnedBy(pin("node big/x.js", at), at)).toEqual(["big/x.js", "big/y.js"]);
  });

  test("what a link points at", async () => {
    const at = await prepare();
    symlinkSync(at.pathOf("home/own.sh"), at.pathOf("repository/link.sh"));
    const before = pin("./link.sh", at);
    expect(pinnedBy(before, at)).toEqual(["link.sh"]);
    at.write("home/own.sh", "changed");
    expect(pin("./link.sh", at).files).not.toEqual(before.files);
  });

  test("all of its directory: another file there changes the hash", async () => {
    const at = await prepare();
    const hashes = () => pin("tools/x.sh", at).files.map(({ hash }) => hash);
    const before = hashes();
    mkdirSync(at.pathOf("repository/tools/node_modules"));
    expect(hashes()).toEqual(before);
    at.write("repository/tools/new.sh", "x");
    expect(hashes()).not.toEqual(before);
  });
});
