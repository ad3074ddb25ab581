import { readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { replyWith } from "@agentcli/testkit";
import { openHarness } from "@agentcli/testkit/cli";
import { expect, test } from "vitest";

/** Records the files of the program in the order in which they are read. */
const recorder = `
const fs = require("node:fs");
const { readFileSync } = fs;
const read = new Set();
fs.readFileSync = (path, ...rest) => (read.add(String(path)), readFileSync(path, ...rest));
process.on("exit", () => fs.writeFileSync(process.env.LOADED, [...read].join("\\n")));
`;

async function loadedBy(args: string[]): Promise<string[]> {
  const harness = await openHarness({ replies: [replyWith("Done.")] });
  const preload = join(harness.home, "recorder.cjs");
  const list = join(harness.home, "loaded.txt");
  writeFileSync(preload, recorder);
  const { code } = await harness.run(args, { nodeArguments: ["--require", preload], env: { LOADED: list } });
  expect(code).toBe(0);
  const paths = readFileSync(list, "utf8").split("\n");
  return paths.filter((path) => path.includes("/cli/dist/")).map((path) => basename(path));
}

test("asking for the version loads neither a command nor the run", async () => {
  expect(await loadedBy(["--version"])).toEqual(["agentcli.cjs", "rolldown-runtime.cjs"]);
});

test("a run loads its code in compiled form before anything else of it", async () => {
  const files = await loadedBy(["exec", "hello"]);
  expect(files.slice(0, 4)).toEqual(["agentcli.cjs", "rolldown-runtime.cjs", "run.cjs.compiled", "run.cjs"]);
});

test("a run without a terminal loads nothing of what only a terminal shows, and no help", async () => {
  const files = await loadedBy(["exec", "hello"]);
  expect(files.filter((name) => /terminal|live|help/.test(name))).toEqual([]);
});
