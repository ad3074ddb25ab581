import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { temporaryDirectory } from "@agentcli/testkit";
import { expect, onTestFinished, test } from "vitest";
import { buildAction } from "../../../scripts/build-action.mjs";

const root = fileURLToPath(new URL("../../..", import.meta.url));

test("the bundle in the repository is what its sources give", async () => {
  const directory = await temporaryDirectory();
  onTestFinished(directory.remove);
  const file = join(directory.path, "main.cjs");
  await buildAction(file);
  const committed = readFileSync(join(root, "packages/action/dist/main.cjs"), "utf8");
  expect(committed === readFileSync(file, "utf8"), "Run npm run build and commit packages/action/dist.").toBe(true);
});

test("the action installs the version of agentcli that it was released with", () => {
  const { version } = JSON.parse(readFileSync(join(root, "packages/cli/package.json"), "utf8"));
  expect(readFileSync(join(root, "action.yml"), "utf8")).toContain(`    default: ${version}\n`);
});
