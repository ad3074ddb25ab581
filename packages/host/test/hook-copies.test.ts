// Private copies of hook scripts: how they run, and that what is left of runs that were killed is removed.
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { pinHook, type ScriptSearch } from "@agentcli/project/hooks";
import type { HookOf } from "@agentcli/protocol";
import { temporaryDirectory } from "@agentcli/testkit";
import { expect, onTestFinished, test } from "vitest";
import { copyHooks } from "../src/hook-copies.ts";

const dayMs = 24 * 60 * 60 * 1000;

test("copies that no run has used for a month are removed, the others stay, and a run removes its own", async () => {
  const temporary = await temporaryDirectory({ "repository/check.sh": "#!/bin/sh\nexit 0\n", "home/x": "" });
  onTestFinished(temporary.remove);
  const path = realpathSync(temporary.path);
  const copies = join(path, "home/hook-copies");
  for (const [name, ageDays] of [
    ["run-old", 31],
    ["run-young", 29],
  ] as const) {
    mkdirSync(join(copies, name, "hook-a"), { recursive: true, mode: 0o700 });
    writeFileSync(join(copies, name, "hook-a/check.sh"), "", { mode: 0o500 });
    const usedAt = new Date(Date.now() - ageDays * dayMs);
    utimesSync(join(copies, name), usedAt, usedAt);
  }

  const repository = join(path, "repository");
  const search: ScriptSearch = { directories: [repository], repository, pinning: "files" };
  const definition = hook("./check.sh");
  const opened = copyHooks([{ ...definition, files: pinHook(definition, search).files }], {
    search,
    locations: [join(path, "home")],
  });
  const command = opened.commandOf(definition) ?? "";
  const [own = ""] = readdirSync(copies).filter((name) => name !== "run-young");
  expect(readdirSync(copies).sort()).toEqual([own, "run-young"].sort());
  expect(own).toMatch(/^run-/);
  expect(command).toContain(join(copies, own));
  expect(existsSync(command.replaceAll("'", ""))).toBe(true);
  opened.close();
  expect(readdirSync(copies)).toEqual(["run-young"]);
});

test.each<[string, (copies: string) => void]>([
  ["that others can write", (copies) => chmodSync(copies, 0o777)],
  [
    "that leads to one that others can write",
    (copies) => {
      renameSync(copies, `${copies}-elsewhere`);
      chmodSync(`${copies}-elsewhere`, 0o777);
      symlinkSync(`${copies}-elsewhere`, copies);
    },
  ],
  ["in a directory that others can write", (copies) => chmodSync(dirname(copies), 0o777)],
])("no hook is copied to a directory %s", async (_what, change) => {
  const temporary = await temporaryDirectory({ "repository/check.sh": "#!/bin/sh\nexit 0\n" });
  onTestFinished(temporary.remove);
  const path = realpathSync(temporary.path);
  const repository = join(path, "repository");
  const copies = join(path, "home/hook-copies");
  mkdirSync(copies, { recursive: true, mode: 0o700 });
  change(copies);
  const search: ScriptSearch = { directories: [repository], repository, pinning: "files" };
  const definition = hook("./check.sh");
  const copy = () =>
    copyHooks([{ ...definition, files: pinHook(definition, search).files }], {
      search,
      locations: [join(repository, "inside"), join(path, "home")],
    });
  expect(copy).toThrow(`other users can change what is in ${copies}`);
  expect(readdirSync(copies)).toEqual([]);
});

/** The way of the text through the script is one that no reader follows. */
const evaluating = `#!/usr/bin/env node
const { readFileSync, writeFileSync } = require("node:fs");
function run() {}
const text = readFileSync("data.txt", "utf8");
const key = readFileSync("key.txt", "utf8").trim();
const [made] = [run].map((each) => each[key]);
try {
  const own = { make: made };
  own.make(text)();
} catch (error) {
  writeFileSync("error.txt", String(error));
}
const all = {}, path = readFileSync("path.txt", "utf8").trim().split(".");
try {
  all[path[0]][path[1]] = "x";
} catch {}
writeFileSync("changed.txt", String({}.changed));
`;

test.each([["node hooks/x.cjs"], ["hooks/x.cjs"], ["timeout 20 hooks/x.cjs"], ["sh hooks/x.sh"]])(
  "a pinned hook in JavaScript evaluates no text of the workspace, whatever its code does with it: %s",
  async (command) => {
    const temporary = await temporaryDirectory({
      "repository/hooks/x.cjs": evaluating,
      "repository/hooks/x.sh": '#!/bin/sh\nexec "$AGENT_PROJECT_DIR/hooks/x.cjs"\n',
      "repository/data.txt": 'process.getBuiltinModule; require("node:fs").writeFileSync("evil.txt", "")',
      "repository/key.txt": "constructor\n",
      "repository/path.txt": "__proto__.changed\n",
      "home/x": "",
    });
    onTestFinished(temporary.remove);
    const repository = join(realpathSync(temporary.path), "repository");
    chmodSync(join(repository, "hooks/x.cjs"), 0o755);
    const search: ScriptSearch = { directories: [repository], repository, pinning: "files" };
    const definition = hook(command);
    const { files, unpinned } = pinHook(definition, search);
    expect(unpinned).toBeUndefined();
    const opened = copyHooks([{ ...definition, files }], { search, locations: [join(repository, "../home")] });
    onTestFinished(() => opened.close());
    const env = { ...process.env, AGENT_PROJECT_DIR: repository };
    execFileSync("sh", ["-c", opened.commandOf(definition) ?? "exit 9"], { cwd: repository, env });
    expect(readFileSync(join(repository, "error.txt"), "utf8")).toContain("Code generation from strings disallowed");
    expect(readFileSync(join(repository, "changed.txt"), "utf8")).toBe("undefined");
    expect(existsSync(join(repository, "evil.txt"))).toBe(false);
  },
);

const hook = (command: string): HookOf<"command"> => ({
  dialect: "agentcli",
  event: "Stop",
  matcher: null,
  timeoutMs: 1_000,
  failClosed: false,
  loopLimit: null,
  async: false,
  contextTokens: 1_000,
  source: { kind: "project", path: "hooks.json" },
  key: "hooks.json:stop:0",
  hash: "sha256:0",
  command,
});
