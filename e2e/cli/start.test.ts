import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { replyWith } from "@agentcli/testkit";
import { type Harness, openHarness } from "@agentcli/testkit/cli";
import { expect, test } from "vitest";
import { openMemoryTerminal } from "../support/terminal.ts";

/** Records the files of the program in the order in which they are read. */
const recorder = `
const fs = require("node:fs");
const { readFileSync } = fs;
const read = new Set();
fs.readFileSync = (path, ...rest) => (read.add(String(path)), readFileSync(path, ...rest));
process.on("exit", () => fs.writeFileSync(process.env.LOADED, [...read].join("\\n")));
`;

async function loadedBy(args: string[], opened?: Harness): Promise<string[]> {
  const harness = opened ?? (await openHarness({ replies: [replyWith("Done.")] }));
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

test("commands that open no terminal interface load nothing of it", async () => {
  const commands = [
    ["hooks", "list"],
    ["sessions", "list"],
    ["mcp", "list"],
    ["skills", "list"],
  ];
  for (const args of commands) expect(await loadedBy(args), args.join(" ")).not.toContain("interactive.cjs");
});

test("a thread is resumed with its own part of the code, in compiled form, beyond that of a run", async () => {
  const harness = await openHarness({ replies: [replyWith("Done."), replyWith("Done.")] });
  expect(await harness.run(["exec", "first"])).toMatchObject({ code: 0 });
  const files = await loadedBy(["exec", "resume", "--last", "hello"], harness);
  expect(files).toContain("resume.cjs.compiled");
  expect(files).not.toContain("interactive.cjs");
});

test("the terminal interface loads its server in parts, in compiled form, after the first paint", async () => {
  const { repository, home } = await openHarness();
  const preload = join(home, "recorder.cjs");
  const list = join(home, "loaded.txt");
  writeFileSync(preload, recorder);
  const env = { AGENT_HOME: home, NODE_OPTIONS: `--require=${preload}`, LOADED: list };
  const terminal = openMemoryTerminal({ cwd: repository, env });
  await expect.poll(terminal.screen).toContain("workspace-write");
  terminal.type("\u0004");
  expect(await terminal.ended).toBe(0);
  const read = readFileSync(list, "utf8").split("\n");
  const parts = ["tui", "interactive", "schemas", "protocol", "serving"];
  const loaded = read.flatMap((path) => (path.includes("/cli/dist/chunks/") ? [basename(path)] : []));
  expect(loaded.filter((name) => parts.includes(name.split(".")[0] ?? ""))).toEqual(
    parts.flatMap((name) => [`${name}.cjs.compiled`, `${name}.cjs`]),
  );
});

/** Before the packages were divided anew (194e90a), on Node 20.20. */
const maxLoaded = { files: 8, bytes: 465_606 };

/** As `npm run bench` counts: the first run tries out the sandbox, every further one is a plain start. */
async function loadedByStart(): Promise<{ files: number; bytes: number; modules: string[] }> {
  const harness = await openHarness({ replies: [replyWith("Done."), replyWith("Done.")] });
  const preload = fileURLToPath(new URL("../../bench/loaded.cjs", import.meta.url));
  const report = join(harness.home, "loaded.json");
  const options = { nodeArguments: ["--require", preload], env: { LOADED_FILE: report } };
  for (const prompt of ["first", "hello"])
    expect(await harness.run(["exec", prompt], options)).toMatchObject({ code: 0 });
  return JSON.parse(readFileSync(report, "utf8"));
}

test("a run loads no more files and bytes than the stated limit", async () => {
  const { files, bytes } = await loadedByStart();
  expect(files).toBeLessThanOrEqual(maxLoaded.files);
  expect(bytes).toBeLessThanOrEqual(maxLoaded.bytes);
});

test("a run loads Node's cryptography only if a request needs it", async () => {
  const list = "require('node:http'); console.log(JSON.stringify(process.moduleLoadList))";
  const neededByRequest: string[] = JSON.parse(execFileSync(process.execPath, ["-e", list], { encoding: "utf8" }));
  const { modules } = await loadedByStart();
  const isCryptography = (name: string) => name === "NativeModule crypto";
  expect(modules.filter(isCryptography)).toEqual(neededByRequest.filter(isCryptography));
});
