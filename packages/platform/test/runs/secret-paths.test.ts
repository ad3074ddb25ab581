// Agents do not run where a directory that they can read leads to a file of the operator.
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "@agentcli/testkit";
import { expect, onTestFinished, test } from "vitest";
import { findReadableSecret } from "../../src/runs/execution/sandbox/secret-paths.ts";
import { testSettings } from "../harness/settings.ts";

test("a key of the operator is found behind a system directory that is a link, and so is a readable directory in the data", async () => {
  const { path, remove } = await temporaryDirectory();
  onTestFinished(remove);
  const [data, tools, link] = ["data", "tools", "go"].map((name) => join(path, name)) as [string, string, string];
  for (const directory of [join(data, "workspaces"), tools]) mkdirSync(directory, { recursive: true });
  symlinkSync(tools, link);
  const settings = { ...testSettings(data), kekFile: join(tools, "kek"), readableDirectories: [] as string[] };
  expect(await findReadableSecret(settings, [])).toBeNull();
  expect(await findReadableSecret(settings, [link])).toMatchObject({
    reason: `The key-encryption key ${tools}/kek is in ${tools}, which agents can read.`,
  });
  const own = { ...settings, readableDirectories: [join(data, "workspaces")] };
  expect(await findReadableSecret(own, [])).toMatchObject({ reason: expect.stringContaining("in the data directory") });
});
