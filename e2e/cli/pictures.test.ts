// Pictures of the documentation show what the program shows: `npm run screenshots` makes all of them anew.
import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { projectRoot } from "@agentcli/testkit";
import { expect, test } from "vitest";

const run = promisify(execFile);
const pages = ["README.md", ...readdirSync(join(projectRoot, "docs")).map((name) => `docs/${name}`)];
const used = pages
  .filter((page) => page.endsWith(".md"))
  .flatMap((page) => [...readFileSync(join(projectRoot, page), "utf8").matchAll(/screenshots\/([\w-]+)\.(?:png|svg)/g)])
  .map(([, name = ""]) => name);

test("every picture is one that the command makes and a page shows, and the program still shows what is on it", {
  timeout: 900_000,
}, async () => {
  const { stdout } = await run("node", ["scripts/screenshots.mjs", "--check"], { cwd: projectRoot });
  const checked = [...stdout.matchAll(/([\w-]+)\.(?:png|svg): the same/g)].map(([, name]) => name);
  const stored = readdirSync(join(projectRoot, "docs/screenshots")).map((file) => file.replace(/\.\w+$/, ""));
  expect(checked.sort()).toEqual(stored.sort());
  expect([...new Set(used)].sort()).toEqual(stored);
});

test("README has a picture of the terminal interface and a recording, and its commands are those of the recording", () => {
  const readme = readFileSync(join(projectRoot, "README.md"), "utf8");
  expect(readme).toContain("docs/screenshots/transcript-120.png");
  const recording = readFileSync(join(projectRoot, "docs/screenshots/first-steps.svg"), "utf8");
  for (const text of ["$ npx agentcli exec", "2 steps done", "$ npx agentcli exec resume", "1 step done"])
    expect(recording).toContain(text);
});
