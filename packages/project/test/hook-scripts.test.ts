// What the scripts of a hook run: pinned where it is known, and otherwise the reason why the hook cannot be pinned.
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { temporaryDirectory } from "@agentcli/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { applyEdits, openWorkspace, pinCommand } from "../src/hooks/pin/index.ts";

const files = {
  "check.sh": "#!/bin/sh\n",
  "tools/x.sh": "#!/bin/sh\n",
  "tools/x.py": "import json\n",
  "tools/x.js": "",
  "tools/x.mjs": "#!/usr/bin/env node\n",
  "lib/x.sh": "loaded() { true; }\n",
  "lib/x": "true\n",
  "lib/x@1.sh": "true\n",
  "my lib/x.sh": "true\n",
  ".env": "A=1\n",
  ".ci/lib.sh": "true\n",
};

/** Options by which node evaluates no text. */
const heldToText = "--disallow-code-generation-from-strings --disable-proto=delete";

async function prepare(more: Record<string, string>): Promise<string> {
  const { path, remove } = await temporaryDirectory({ ...files, ...more });
  onTestFinished(remove);
  return path;
}

function pinIn(path: string, command: string) {
  const variables = new Map([
    ["AGENT_PROJECT_DIR", path],
    ["HOME", "/home/no-such-user"],
  ]);
  return pinCommand(command, openWorkspace([path], [path], variables));
}

/** hooks/a.sh with this text, as a hook. */
async function pinScript(text: string, more: Record<string, string> = {}) {
  const path = await prepare({ ...more, "hooks/a.sh": text });
  const pin = pinIn(path, "bash hooks/a.sh");
  const edits = pin.includes.get(join(path, "hooks/a.sh"))?.edits ?? [];
  return {
    path,
    unpinned: pin.unpinned,
    pinned: pin.unpinned ?? pin.files.map((file) => relative(path, file.path)),
    copied: applyEdits(text, edits, (file) => `COPY/${relative(path, file)}`),
  };
}

describe("a shell script is pinned with what it runs, and runs the copy of it", () => {
  test.each([
    [". ./tools/x.sh", ". 'COPY/tools/x.sh'", "tools"],
    ["X=1 lib/x", "X=1 'COPY/lib/x'", "lib"],
    ['. "./my lib/x.sh"', ". 'COPY/my lib/x.sh'", "my lib"],
    ["source lib/x@1.sh", "source 'COPY/lib/x@1.sh'", "lib"],
    ['. lib/"x".sh; loaded', ". 'COPY/lib/x.sh'; loaded", "lib"],
    [". \\\n  lib/x.sh", ". \\\n  'COPY/lib/x.sh'", "lib"],
    [". ./.env", ". 'COPY/.env'", ".env"],
    [". .ci/lib.sh", ". 'COPY/.ci/lib.sh'", ".ci"],
    ["python3.11 tools/x.py", "python3.11 'COPY/tools/x.py'", "tools"],
    ["nodejs tools/x.js", `nodejs ${heldToText} 'COPY/tools/x.js'`, "tools"],
    ["timeout 5 tools/x.mjs", `timeout 5 '/usr/bin/env' 'node' ${heldToText} 'COPY/tools/x.mjs'`, "tools"],
    ["bash -c 'node -e 1'", `bash -c 'node ${heldToText} -e 1'`, null],
    ["env A=1 timeout 5 lib/x", "env A=1 timeout 5 'COPY/lib/x'", "lib"],
    ["trap 'tools/x.sh' EXIT", "trap ''\\''COPY/tools/x.sh'\\''' EXIT", "tools"],
    ['F=lib/x.sh\n. "$F"', "F=lib/x.sh\n. 'COPY/lib/x.sh'", "lib"],
    ['LIB=lib; readonly DIR="$LIB"\n. "$DIR/x.sh"', `LIB=lib; readonly DIR="$LIB"\n. 'COPY/lib/x.sh'`, "lib"],
    ['sh "$AGENT_PROJECT_DIR/tools/x.sh"', "sh 'COPY/tools/x.sh'", "tools"],
    ["exec $\u007bAGENT_PROJECT_DIR}/tools/x.sh", "exec 'COPY/tools/x.sh'", "tools"],
    ['if . "$AGENT_PROJECT_DIR"/tools/x.sh; then true; fi', "if . 'COPY/tools/x.sh'; then true; fi", "tools"],
    ["cd tools || exit 1\n./x.sh", "cd tools || exit 1\n'COPY/tools/x.sh'", "tools"],
    ['[ -n "$CI" ] || exit 0\nif true; then echo; fi\ncd tools\nsh x.sh', null, "tools"],
    ["cat <<EOF\n$(tools/x.sh) \"'\nEOF\ncat <<'E'\n$(lib/y)`\nE\n", null, "tools"],
    ["f() { tools/x.sh; }\nfunction g {\n  f\n}\ng", null, "tools"],
  ])("%s", async (text, copied, pinned) => {
    const found = await pinScript(`#!/bin/bash\n${text}\n`);
    expect(found.pinned).toEqual([pinned, "hooks"].filter((each) => each !== null).sort());
    if (copied !== null) expect(found.copied).toBe(`#!/bin/bash\n${copied}\n`);
  });

  test.each([
    ['. "$(dirname "$0")/lib.sh"'],
    ['. "$(dirname -- "$\u007bBASH_SOURCE[0]}")/lib.sh"'],
    ['. "$\u007b0%/*}/lib.sh"'],
    ['DIR="$(cd "$(dirname "$0")" >/dev/null 2>&1 && pwd)"\n. "$DIR/lib.sh"'],
    ['cd "$(dirname "$0")" || exit 1\n. ./lib.sh'],
    ['ROOT=$(cd "$(dirname "$0")/.." && pwd -P)\n. "$ROOT/hooks/lib.sh"'],
  ])("beside itself: %s", async (text) => {
    const found = await pinScript(`${text}\n`, { "hooks/lib.sh": "true\n" });
    expect(found.pinned).toEqual(["hooks"]);
    expect(found.copied).toContain(". 'COPY/hooks/lib.sh'");
  });

  test("or with nothing else, if it only reads, compares and answers", async () => {
    const text = `#!/usr/bin/env bash
# Refuses what is dangerous: \`rm -rf\`, $(and so on).
set -euo pipefail
fail() { local reason="$1"; echo "$reason" >&2; exit 2; }
input=$(cat)
command=$(printf '%s' "$input" | jq -r '.tool_input.command // empty')
case "$command" in
  *"rm -rf"* | *'git push'*) fail "not here: $\u007bcommand:0:80}" ;;
  (migrations/[!a]*)
    fail "no: $\u007bcommand%% *}"
    ;;
  *) : ;;
esac
[[ "$command" =~ ^(sudo|doas)[[:space:]] ]] && fail 'no root'
printf '%s\\n' "$command" | while IFS= read -r line; do
  for word in $line; do
    [ "$word" = DROP ] && fail "$\u007bword:-none} is not allowed"
  done
done
names=(a "b c")
echo "$\u007b#names[@]} $\u007bnames[@]}" | grep -q a || exit 0
python3 -I -c 'import json; print(json.dumps({}))'
cat <<EOF
{"decision": "$command"}
EOF
`;
    expect(await pinScript(text)).toMatchObject({ pinned: ["hooks"], copied: text });
  });
});

describe("a shell script whose files cannot all be known makes the hook unpinned, and the reason names the line", () => {
  test.each([
    ['for f in lib/*.sh; do . "./$f"; done', 'the script `"./$f"` is known only when it runs'],
    ["source <(cat lib/x.sh)", "a process substitution is not read"],
    ['eval "$(cat lib/x.sh)"', "`eval`"],
    ['. "$LIB/x.sh"', "is known only when it runs"],
    ['LIB=lib; LIB=other; . "$LIB/x.sh"', "is known only when it runs"],
    ['read -r LIB; . "$LIB"', "is known only when it runs"],
    ["RUN=echo; $RUN ./check.sh", "the program `$RUN` is known only when it runs"],
    ["pushd lib", "`pushd`"],
    ['run() { "lib/$1.sh"; }\nrun x', 'the program `"lib/$1.sh"` is known only when it runs'],
    ["npm run -s x", "what `npm` runs or loads from the workspace is not known"],
    ["make -s x", "`make`"],
    ["git -C sub status", "`git`"],
    ["npx --no-install eslint", "`npx`"],
    ["unheard-of-program", "`unheard-of-program`"],
    ["echo a | xargs lib/x", "`xargs`"],
    ["find . -exec lib/x {} ';'", "the option -exec of find"],
    ["r=`lib/x`", "backticks"],
    ['cd "$(cat dir)/lib" && ./x.sh', "is known only when it runs"],
    ["(cd lib; ./x.sh)", "the directory that cd changes to"],
    ["node lib/y", "there is no file lib/y"],
    ["node ./lib", "there is no file ./lib"],
    ["PATH=node_modules/.bin:$PATH\nlint", "PATH can make programs load other files"],
    ['set -- lib/x.sh\nsource "$1"', "is known only when it runs"],
    ["bash < lib/x.sh", "reads its commands from standard input"],
    ["bash <<EOT\n. lib/x.sh\nEOT", "reads its commands from standard input"],
    ["cat lib/x.sh | bash", "reads its commands from standard input"],
    ["awk -flib/x.awk", "the option -flib/x.awk of awk"],
    ["[ -f ./.local ] && . ./.local", "there is no file ./.local"],
    ["test -x tools/extra && tools/extra", "there is no file tools/extra"],
    ['[ -f "$AGENT_PROJECT_DIR/l.sh" ] && . "$AGENT_PROJECT_DIR/l.sh"', "there is no file"],
    ['. "$(dirname "$0")/local.sh" 2>/dev/null || true', "there is no file"],
    ['S=(lib/x.sh)\nfor s in "$\u007bS[@]}"; do . "$s"; done', "is known only when it runs"],
    ["cat <<EOF\n$(make)\nEOF", "`make`"],
    ['echo "$\u007bX:-$(make)}"', "`make`"],
    ["X=($(make))", "`make`"],
    ["case $(make) in a) ;; esac", "`make`"],
    ["case a in a) make;; esac", "`make`"],
    ["for i in $(make); do true; done", "`make`"],
    ['X="$\u007b!Y}"', "the expansion"],
    ["echo $((x))", "arithmetic is not read"],
    ["cat <<EOF\nno end", "a here-document is not closed"],
    ["cat\r./check.sh", "there is a control character"],
    ["alias x=./check.sh\nx", "`alias`"],
  ])("%s", async (text, reason) => {
    const { unpinned, path } = await pinScript(`#!/bin/bash\ntrue\n${text}\n`);
    expect(unpinned).toContain(reason);
    expect(unpinned).toMatch(/^in line [3-6] of /);
    expect(unpinned).toContain(` of ${path}/hooks/a.sh, `);
  });

  test("also in a script that another one runs", async () => {
    const { unpinned, path } = await pinScript("tools/inner.sh\n", { "tools/inner.sh": "#!/bin/sh\n\nmake\n" });
    expect(unpinned).toBe(
      `in line 3 of ${path}/tools/inner.sh, what \`make\` runs or loads from the workspace is not known`,
    );
  });

  test("not with a function of a script that it reads, but of one that it runs", async () => {
    expect((await pinScript(". lib/x.sh\nloaded\n")).unpinned).toBeUndefined();
    expect((await pinScript("sh lib/x.sh\nloaded\n")).unpinned).toContain("`loaded`");
  });
});

test.each([
  ["in the workspace", "#!$WS/.venv/bin/interp\n", "is in the workspace"],
  ["in the workspace, by env", "#!/usr/bin/env ./interp\n", "is in the workspace"],
  ["that is a program itself", "\u007fELF\0\0", "what the program tools/b of the workspace runs or loads is not known"],
])("a script with an interpreter %s is refused, wherever it is named", async (_, first, reason) => {
  const path = await prepare({ ".venv/bin/interp": '#!/bin/sh\nexec sh "$@"\n', "check.sh": "tools/b\n" });
  writeFileSync(join(path, "tools/b"), first.replace("$WS", path));
  expect(pinIn(path, "tools/b").unpinned).toContain(reason);
  expect(pinIn(path, "sh check.sh").unpinned).toContain(reason);
  expect(pinIn(path, "tools/b/c").unpinned).toContain("there is no file");
});

test("a file beside a script that is a link out of its directory counts with its content", async () => {
  const path = await prepare({ "hooks/a.sh": '. "$(dirname "$0")/lib.sh"\n', "src/lib.sh": "true\n" });
  symlinkSync("../src/lib.sh", join(path, "hooks/lib.sh"));
  const pin = () => pinIn(path, "sh hooks/a.sh").files.map((file) => [relative(path, file.path), file.hash]);
  const before = pin();
  expect(before).toMatchObject([["hooks", expect.any(String)]]);
  writeFileSync(join(path, "src/lib.sh"), "false\n");
  expect(pin()).not.toEqual(before);
  mkdirSync(join(path, "more"));
  symlinkSync("../more", join(path, "hooks/more"));
  expect(pin().map(([name]) => name)).toEqual(["hooks/a.sh", "hooks/lib.sh"]);
});
