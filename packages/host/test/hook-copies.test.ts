// Private copies of hook scripts: what is left of runs that were killed is removed, what living runs use is not.
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
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
