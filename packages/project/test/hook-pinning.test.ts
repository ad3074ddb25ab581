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
  "home/.local/bin/own": "#!/bin/sh\n",
  "home/.agentcli/hooks/own.sh": "#!/bin/sh\n",
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

async function refuses(command: string, reason: string): Promise<void> {
  const at = await prepare({ "home/bin/git": "", "home/lib/node_modules/eslint/cli.js": "#!/usr/bin/env node\n" });
  symlinkSync("/usr/bin/env", at.pathOf("home/tool"));
  symlinkSync(at.pathOf("home/lib/node_modules/eslint/cli.js"), at.pathOf("home/linter"));
  expect(pinnedBy(pin(command, at), at)).toContain(reason);
}

describe("a command is pinned with the directory of its script", () => {
  test.each([
    ["./check.sh", ["check.sh"]],
    ["tools/x.sh --strict", ["tools"]],
    ["run() { ./check.sh; }; run", ["check.sh"]],
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
    ["jq -er --arg name x '.tool_input.command | test($name)' > /dev/null || exit 2", []],
    ['input=$(cat); file=$(printf %s "$input" | jq -r .tool_input.path); [ -n "$file" ] || exit 0; echo "$file"', []],
    ['[ $# -gt 0 ] && [ "$1" = x ] && [[ $x == src/* ]] && test ! -e a.txt && [[ -v CI ]]', []],
    ['read -r line; [[ "$line" =~ ^rm ]] && exit 2; [ "$EUID" -eq 0 ] || exit "$DEFAULT_CODE"', []],
    ["./check.sh; code=$?; [ $code -eq 0 ] || printf '%d\\n' 2 >&2; exit $code", ["check.sh"]],
    ["set -euo pipefail; set -- a b; shift 1; read -r -d '' line; unset line; wait $!", []],
    ["awk -F: -v n=2 '$1 == \"x\" || NR > n { print $2 }' src/data.txt", []],
    ["sed -nE -e 's/[[:space:]]+(a|b)\\/c/x & y/gp; /^#/d' -e '$!p' src/data.txt", []],
    ["sort -u -k2,2n -t , src/data.txt | uniq -c", []],
    ["find src -type f '(' -name '*.txt' -o -mtime -1 ')' -not -empty -print0", []],
    [
      'curl -sS -m 5 -X POST -H "Authorization: Bearer $KEY" -d "$(cat)" -o /dev/null "$HOOK_URL" "https://x/$(id -u)"',
      [],
    ],
    ["export LEVEL=2 NAME; LC_ALL=C sort src/data.txt", []],
    ["/bin/cat src/data.txt; /usr/bin/sort -u src/data.txt", []],
    ["~/own.sh tools/x.sh src/data.txt", ["tools"]],
    ["~/own.sh tools/x.py src/data.txt", ["tools"]],
    ["~/own.sh > /dev/null; tee ~/own.log", []],
    ["cat > seen.json; exit 2", []],
    ['node -e \'process.exit(require("node:fs").existsSync("x") ? 0 : 2)\'', []],
    ['node -e 1 -- "$(jq -r .tool_input.path)"', []],
    ["node -e 1 src/data.txt --require", []],
    ["perl -we 'print 1' -- -Mx", []],
    ["python3 -W ignore::DeprecationWarning -X utf8 tools/x.py", ["tools"]],
    ["~/own.sh --flag", []],
    ['agentcli sandbox run --sandbox workspace-write -- npm run "$1"', []],
    ["cd tools && agentcli sandbox run --sandbox workspace-write -- npm test", []],
    [
      "FILE_PATH=$(jq -r .tool_input.file_path); file_path=$FILE_PATH; lines=1; [[ $FILE_PATH == *.env ]] && exit 2",
      [],
    ],
    ["git rev-parse --abbrev-ref HEAD; /usr/bin/git branch --show-current; git rev-parse --show-toplevel", []],
    ["ruff format src; gofmt -l -w src; shellcheck check.sh", []],
    ["~/.local/bin/own; ~/.agentcli/hooks/own.sh", []],
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
    ["git rev-parse HEAD^{tree}", "`git`"],
    ["git -c core.fsmonitor=./x rev-parse HEAD", "`git`"],
    ["ruff server", "`ruff`"],
    ["NODE_PATH=lib; node tools/y.js", "NODE_PATH can make programs load other files"],
    ["path=(lib); y", "path can make programs load other files"],
    ["LINES=x; true", "LINES can make programs load other files"],
    ["cd ~ && agentcli sandbox run --sandbox workspace-write -- sh check.sh", "which is not in the workspace"],
    ["cd / && agentcli sandbox run --sandbox workspace-write -- sh check.sh", "which is not in the workspace"],
    ["~/.rbenv/shims/rubocop", "`rubocop`"],
    ["~/.rbenv/shims/other", "belongs to an installed package"],
    ["~/.rvm/gems/ruby-3.2/bin/other", "belongs to an installed package"],
    ["~/.composer/vendor/bin/other", "belongs to an installed package"],
    ["~/.local/share/gem/ruby/3.2/bin/other", "belongs to an installed package"],
    ["~/.local/pipx/venvs/x/bin/other", "belongs to an installed package"],
    ["~/go/bin/other", "belongs to an installed package"],
    ["~/.dotnet/tools/other", "belongs to an installed package"],
    ["~/.deno/bin/other", "belongs to an installed package"],
    ["~/.local/bin/phpcs", "`phpcs`"],
    ["./missing.sh", "there is no file ./missing.sh"],
    ["node tools/missing.js", "there is no file tools/missing.js"],
    ["$SCRIPT", "the program `$SCRIPT` is known only when it runs"],
    ["./che*.sh", "is known only when it runs"],
    ["node tools/{x,y}.js", "is known only when it runs"],
    ["cat check.sh | bash", "bash reads its commands from standard input"],
    ["bash < check.sh", "reads its commands from standard input"],
    ["bash <(cat check.sh)", "a process substitution is not read"],
    ["bash <<EOF\n./check.sh\nEOF", "bash reads its commands from standard input"],
    ["eval ./check.sh", "`eval`"],
    ["`./check.sh`", "backticks"],
    ["for f in tools/*; do $f; done", "the program `$f` is known only when it runs"],
    ["grep() { ./check.sh; }; grep", "a function has the name of the program grep"],
    ["cat\r./check.sh", "there is a control character"],
    ["find . -name x -exec ./check.sh {} ';'", "the option -exec of find"],
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
    ["awk -f tools/x.awk", "the option -f of awk"],
    ["node tools/pack.js", "it loads the package zod from the workspace"],
    ["./node_modules/.bin/missing", "there is no file"],
    ["tools/make.mk", "`make`"],
    ["tools/venv.py", "is in the workspace"],
    ["/opt/agentcli-no-such-program", "does not exist"],
    ["agentcli sandbox run --sandbox danger-full-access -- npm test", "runs nothing outside the sandbox"],
    ["agentcli exec x", "runs nothing outside the sandbox"],
    ["~/own.sh --run=tools/x.sh", "write its name as a word of its own instead of --run=tools/x.sh"],
    ["'open", "a quote is not closed"],
    ["(./check.sh", "a bracket is not closed"],
  ])("%s", refuses);
});

describe("a program that runs or loads what its arguments say is refused", () => {
  test.each([
    ["awk 'BEGIN{system(\"./check.sh\")}'", "the program of awk can run a command (system)"],
    ["gawk 'BEGIN{\"./check.sh\" | getline x}'", "the program of gawk can run a command (|)"],
    ["mawk '{print | \"./check.sh\"}'", "the program of mawk can run a command (|)"],
    ["awk '{getline < \"f\"}'", "the program of awk can run a command (getline)"],
    ['gawk \'@load "./x"; BEGIN{f="sys" "tem"; @f("./check.sh")}\'', "the program of gawk can run a command (@)"],
    ['awk "$(cat src/data.txt)"', "may be an option of awk"],
    ['awk "/$(cat src/data.txt)/"', "is known only when it runs"],
    ["awk -E check.sh", "the option -E of awk"],
    ["awk 1 -f check.sh", "the option -f of awk"],
    ["/usr/bin/awk 'BEGIN{system(\"./check.sh\")}'", "the program of awk can run a command"],
    ["sed -n '1e ./check.sh'", "the script of sed"],
    ["sed 's/.*/.\\/check.sh/e'", "the script of sed"],
    ["sed 's/x/y/w .bashrc'", "the script of sed"],
    ["sed -n '1w tools/x.sh'", "the script of sed"],
    ["sed p src/data.txt -e '1e ./check.sh'", "the script of sed"],
    ["sed 's/[/]x/e;s/y/./check.sh/'", "the script of sed"],
    ["sed --expression='1e ./check.sh'", "the option --expression=1e ./check.sh of sed"],
    ["sed -f tools/x.sed", "the option -f of sed"],
    ['sed -n 1p "$(cat src/data.txt)"', "may be an option of sed"],
    ["/bin/sed '1e ./check.sh'", "the script of sed"],
    ["curl -K ./x.cfg", "the option -K of curl"],
    ["curl --config ./x.cfg https://x", "the option --config of curl"],
    ["curl -sSK./x.cfg", "of curl"],
    ["curl --engine ./x.so https://x", "the option --engine of curl"],
    ['url=$(cat src/data.txt); curl "$url"', "may be an option of curl"],
    ["curl -d $(cat src/data.txt) https://x", "may be several words"],
    ["curl -s https://x -o ~/own.sh; ~/own.sh", "is written by the command itself"],
    ["cp check.sh ~/own.sh && ~/own.sh", "is written by the command itself"],
    ["cat check.sh > ~/own.sh; sh ~/own.sh", "is written by the command itself"],
    ["cp check.sh /tmp/y && /tmp/y", "is in a directory that every user can write to"],
    ["/tmp/bash check.sh", "is in a directory that every user can write to"],
    ["jq -f tools/x.jq", "the option -f of jq"],
    ["jq --from-file tools/x.jq", "the option --from-file of jq"],
    ["jq -L tools .", "the option -L of jq"],
    ["jq 'import \"x\" as x; .'", "the filter of jq loads a file"],
    ["jq 'include \"x\"; .'", "the filter of jq loads a file"],
    ["sort --compress-program=./check.sh", "the option --compress-program=./check.sh of sort"],
    ["/usr/bin/sort --compress-program=./check.sh", "of sort"],
    ["/usr/bin/find . -exec ./check.sh ';'", "the option -exec of find"],
    ["find . -execdir ./check.sh ';'", "the option -execdir of find"],
    ["find . -fprintf tools/x.sh x", "the option -fprintf of find"],
    ["find . $(cat src/data.txt)", "may be an option of find"],
    ["env -S './check.sh'", "the option -S of env"],
    ["env X=$(cat src/data.txt) cat", "may be several words"],
    ["rg --pre ./check.sh x", "`rg`"],
    ["/usr/bin/tar cf x.tar --checkpoint-action=exec=./check.sh .", "`tar`"],
    ["/usr/bin/setpriv ./check.sh", "`setpriv`"],
    ["/usr/bin/unshare ./check.sh", "`unshare`"],
    ["/usr/bin/bwrap --bind / / ./check.sh", "`bwrap`"],
    ["/usr/bin/ssh -F ./config host", "`ssh`"],
    ["/usr/bin/less src/data.txt", "`less`"],
    ["/usr/bin/vim -S x.vim", "`vim`"],
    ["/usr/bin/gdb -x x.gdb", "`gdb`"],
    ["/lib64/ld-linux-x86-64.so.2 ./check.sh", "`ld-linux-x86-64.so.2`"],
    ["/usr/bin/no-such-program-of-the-system ./check.sh", "is a program of the system"],
    ["/usr/local/bin/gdb -x x.gdb", "`gdb`"],
    ["~/bin/git status", "`git`"],
    ["~/tool", "is a program of the system"],
    ["~/linter", "belongs to an installed package"],
    ["/proc/self/cwd/check.sh", "is known only when it runs"],
    ["cat check.sh | bash /dev/stdin", "is known only when it runs"],
    [". /dev/fd/3", "is known only when it runs"],
    [
      "node -e 'child_process.execFileSync(process.argv[1])' check.sh",
      "what `child_process.execFileSync` runs or loads",
    ],
    ["node -e 'require(process.argv[1])' ./check.sh", "known only when it runs"],
    ["node -e 1 --require ./tools/x.js", "could be an option that loads a file"],
    ["node -p 1 -r ./tools/x.js", "could be an option that loads a file"],
    ['node -e 1 "$(jq -r .tool_input.path)"', "write -- in front of it"],
    ["node -pe 1 -e 'require(\"./tools/x.js\")'", "could be an option that loads a file"],
    ["perl -we 'print 1' -Mx", "could be an option that loads a file"],
    ["perl -e 1 $1", "could be an option that loads a file"],
    ["ruby -e 'puts 1' -r./x", "could be an option that loads a file"],
    ["python3 -X pycache_prefix=. tools/x.py", "the value of the option -X of python3"],
    ["python3 -W error::tools.x.Warn tools/x.py", "the value of the option -W of python3"],
    ['python3 -X "$1" tools/x.py', "known only when it runs"],
    ["python3 -I -c 'import site; site.addsitedir(\"lib\")'", "the package site"],
    ["python3 -I -c 'from logging import config; config.fileConfig(\"lib/log.ini\")'", "known only when it runs"],
    ['python3 -I -c \'import imp; imp.load_source("x", "lib/x.py")\'', "the package imp"],
    ["python3 -I -c 'import os; os.posix_spawn(\"lib/x\", [], {})'", "known only when it runs"],
    ["python3 -I -c 'import sqlite3'", "the package sqlite3"],
    ["node -e 'process.loadEnvFile(\".env\")'", "known only when it runs"],
    ["python3 -I -c 'import os; os.system(\"sh check.sh\")'", "its code starts sh check.sh"],
    ["perl -e 'system(\"sh check.sh\")'", "what `system` runs or loads"],
    ["perl -ne print 'sh check.sh|'", "the option -ne of perl"],
    ["perl -e 'print while <>' src/*", "what `<>` runs or loads"],
    ["perl -we 'while (<ARGV>) { print }' \"$1\"", "what `<ARGV>) {` runs or loads"],
  ])("%s", refuses);
});

describe("what a shell evaluates as arithmetic can run a command and is refused", () => {
  test.each([
    ["[[ 'a[$(./check.sh)]' -eq 1 ]]", "an operand of -eq"],
    ["x='a[$(./check.sh)]'; [[ x -eq 1 ]]", "an operand of -eq"],
    ['x=$(cat src/data.txt); [[ "$x" -gt 1 ]]', "an operand of -gt"],
    ["cat='a[$(./check.sh)]'; [[ -f x || cat -eq 1 ]]", "the condition"],
    ["[ 'a[$(./check.sh)]' -eq 1 ]", "an operand of -eq"],
    ["test -v 'a[$(./check.sh)]'", "the condition"],
    ["[[ -v a[0] ]]", "the condition"],
    ["[ $(cat src/data.txt) ]", "may be several words"],
    ["printf -v 'a[$(./check.sh)]' x", "the option -v of printf"],
    ["printf %d 'a[$(./check.sh)]'", "the argument `'a[$(./check.sh)]'` of printf"],
    ["read 'a[$(./check.sh)]'", "the argument `'a[$(./check.sh)]'` of read"],
    ["read -r PATH < src/data.txt; x", "PATH can make programs load other files"],
    ["unset 'a[$(./check.sh)]'", "of unset"],
    ['. ./check.sh; curl "$URL"', "may be an option of curl"],
    ['read -r; curl "$REPLY"', "may be an option of curl"],
    ["read -r; [[ $REPLY -gt 1 ]]", "an operand of -gt"],
    [': "$(cat src/data.txt)"; sed -n 1p "$_"', "may be an option of sed"],
    ["[[ $(cat src/data.txt) =~ .* ]]; exit $BASH_REMATCH", "of exit"],
    ["unset PATH; check.sh", "PATH can make programs load other files"],
    ["wait -p 'a[$(./check.sh)]'", "of wait"],
    ["exit 'a[$(./check.sh)]'", "of exit"],
    ['code=$(cat src/data.txt); exit "$code"', "of exit"],
    ["let 'a[$(./check.sh)]=1'", "`let`"],
    ["declare -i x='a[$(./check.sh)]'", "`declare`"],
    ["cat='a[$(./check.sh)]'; ((cat))", "arithmetic is not read"],
    ["echo $((1))", "arithmetic is not read"],
    ["RANDOM='a[$(./check.sh)]'", "RANDOM can make"],
    ["OPTIND=$(cat src/data.txt)", "OPTIND can make"],
    ["set -k; cat LD_PRELOAD=./x.so", "of set"],
    ["export 'LD_PRELOAD=./x.so'; cat", "LD_PRELOAD can make"],
    ['export "$(cat src/data.txt)"; cat', "of export"],
    ["OPENSSL_CONF=x.cnf curl https://x", "OPENSSL_CONF can make"],
    ["DBUS_SESSION_BUS_ADDRESS=unixexec:path=./check.sh notify-send x", "DBUS_SESSION_BUS_ADDRESS can make"],
    ['$"./check.sh"', "is not read"],
  ])("%s", refuses);
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

  test.each([
    ["check.mjs", 'import { spawnSync } from "node:child_process";\nspawnSync("tools/x.sh", { stdio: "inherit" });'],
    ["check.mjs", 'import { execSync } from "node:child_process";\nexecSync("sh tools/x.sh");'],
    [
      "check.mjs",
      'import * as cp from "child_process";\ncp.execFileSync(process.env.AGENT_PROJECT_DIR + "/tools/x.sh", [input.path]);',
    ],
    ["check.py", 'import os, subprocess\nsubprocess.run([os.environ["AGENT_PROJECT_DIR"] + "/tools/x.sh"])'],
    ["check.py", 'import subprocess\nsubprocess.run(["sh", "tools/x.sh"])'],
  ])("the scripts that it names from the top of the project: %s: %s", async (name, text) => {
    const at = await prepare({ [`repository/hooks/${name}`]: `${text}\n` });
    const found = pin(`${name === "check.py" ? "python3" : "node"} hooks/${name}`, at);
    expect(pinnedBy(found, at)).toEqual(["hooks", "tools/x.sh"]);
  });

  test("the modules that it starts from the top of the project, but not what only looks like a path", async () => {
    const at = await prepare({
      "repository/hooks/check.sh": 'node "$AGENT_PROJECT_DIR/tools/x.js" && cat "$AGENT_PROJECT_DIR/src/data.txt"\n',
      "repository/hooks/check.mjs": 'console.log("src/data.txt", "tools/x.js");\n',
    });
    expect(pinnedBy(pin("sh hooks/check.sh", at), at)).toEqual(["hooks", "tools"]);
    expect(pinnedBy(pin("node hooks/check.mjs", at), at)).toEqual(["hooks"]);
  });

  test("a program of the project that it starts, and what that loads, without directories; a package there is refused", async () => {
    const at = await prepare({
      "repository/hooks/a.js": 'require("node:child_process").execSync("node src/cli.js --lint");\n',
      "repository/src/cli.js": 'import "./lib/util.js";\n',
      "repository/src/lib/util.js": 'import "../../hooks/b/c.js";\n',
      "repository/src/lib/other.js": "",
      "repository/hooks/b/c.js": "",
    });
    expect(pinnedBy(pin("node hooks/a.js", at), at)).toEqual(["hooks", "src/cli.js", "src/lib/util.js"]);
    at.write("repository/src/lib/util.js", 'import "lodash";\n');
    expect(pinnedBy(pin("node hooks/a.js", at), at)).toContain("it loads the package lodash from the workspace");
  });

  test("as one of its own files what it loads itself, also if a program that it starts loads the same", async () => {
    const at = await prepare({
      "repository/hooks/a.js":
        'import { fork } from "node:child_process";\nimport "../own/b.js";\nfork("src/cli.js");\n',
      "repository/own/b.js": 'import "../last/c.js";\n',
      "repository/last/c.js": "",
      "repository/src/cli.js": 'import "../last/c.js";\n',
    });
    expect(pinnedBy(pin("node hooks/a.js", at), at)).toEqual(["hooks", "last", "own", "src/cli.js"]);
  });

  test.each([
    ["node", "hooks/a.js", "// run by hand: node src/cli.js"],
    ["node", "hooks/a.js", "/**\n * Run by hand: node src/cli.js\n */"],
    ["python3", "hooks/a.py", "# run by hand: node src/cli.js"],
  ])("not what a comment names: %s %s: %s", async (program, name, text) => {
    const at = await prepare({ [`repository/${name}`]: `${text}\n`, "repository/src/cli.js": 'import "lodash";\n' });
    expect(pinnedBy(pin(`${program} ${name}`, at), at)).toEqual(["hooks"]);
  });

  test("what a private method of a class starts", async () => {
    const at = await prepare({
      "repository/hooks/a.js":
        'import { fork } from "child_process";\nclass A {\n  #run() { fork("src/cli.js"); }\n}\n',
      "repository/src/cli.js": "",
    });
    expect(pinnedBy(pin("node hooks/a.js", at), at)).toEqual(["hooks", "src/cli.js"]);
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

test("scripts with a hundred thousand hostile characters are pinned with the files that they name", async () => {
  const spaces = " ".repeat(100_000);
  const at = await prepare({
    "repository/tools/long.sh": `#!/bin/sh\n# ${"a".repeat(100_000)}!\n./check.sh\n`,
    "repository/other/long.js": `/*${spaces}!*/\nimport${spaces}"../lib/z.js";\n`,
    "repository/lib/z.js": "",
  });
  expect(pinnedBy(pin("tools/long.sh", at), at)).toEqual(["check.sh", "tools"]);
  expect(pinnedBy(pin("node other/long.js", at), at)).toEqual(["lib", "other"]);
});
