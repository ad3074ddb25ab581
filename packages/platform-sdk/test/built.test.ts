// The package as users get it: without dependencies, its parts loaded when used, and declarations that stand alone.
import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { cp, readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { call, replyWith, temporaryDirectory } from "@agentcli/testkit";
import { expect, onTestFinished, test } from "vitest";
import { openLocalHarness } from "./local-harness.ts";

const dist = fileURLToPath(new URL("../dist", import.meta.url));

async function installed(): Promise<string> {
  const home = await temporaryDirectory({ "package.json": '{"type":"module"}' });
  onTestFinished(home.remove);
  const directory = join(home.path, "node_modules/platform-sdk");
  await cp(dist, directory, { recursive: true });
  await writeFile(join(directory, "package.json"), '{"type":"module","exports":"./index.js"}');
  return home.path;
}

test("it needs nothing but Node, and its errors keep their names", async () => {
  const home = await installed();
  const {
    Agent,
    Platform,
    DEFAULT_LOGIN_API_KEY_TTL_MS: _,
    ...errors
  } = await import(pathToFileURL(join(home, "node_modules/platform-sdk/index.js")).href);
  expect([typeof Agent.create, typeof Platform.me]).toEqual(["function", "function"]);
  for (const [name, Kind] of Object.entries<new (message: string, facts: object) => Error>(errors))
    expect(new Kind("x", {}).name).toBe(name);
  for (const file of await loadedAtOnce("index.js"))
    expect([file, await importsOf(file).then((all) => all.filter((from) => !/^(node:|\.)/.test(from)))]).toEqual([
      file,
      [],
    ]);
});

test("who only asks the platform loads nothing of the engine", async () => {
  const text = (await Promise.all((await loadedAtOnce("index.js")).map(textOf))).join("");
  expect(text).toContain("/v1/agents");
  expect(text).not.toContain("custom-user-tools");
  expect(text.length).toBeLessThan(40_000);
});

test("a local agent works from the installed package, in its sandbox", async () => {
  const outside = `../outside-${randomUUID()}`;
  const harness = await openLocalHarness([
    call("exec_command", { cmd: `touch inside ${outside}` }),
    replyWith("Tried."),
  ]);
  const home = await installed();
  await writeFile(
    join(home, "user.mjs"),
    `import { Agent } from "platform-sdk";
const local = { cwd: ${JSON.stringify(harness.repository.path)}, sandboxOptions: { enabled: true } };
const { status, error } = await Agent.prompt("Try", { model: { id: "scripted" }, local });
console.log(status, error?.message ?? "");`,
  );
  const { stdout } = await promisify(execFile)(process.execPath, [join(home, "user.mjs")], { env: harness.variables });
  expect(stdout.trim()).toBe("finished");
  const isThere = (path: string) => existsSync(join(harness.repository.path, path));
  expect([isThere("inside"), isThere(outside)]).toEqual([true, false]);
});

const textOf = (file: string): Promise<string> => readFile(join(dist, file), "utf8");

const importsOf = async (file: string): Promise<string[]> =>
  [...(await textOf(file)).matchAll(/(?:from|import)\s?["'`]([^"'`]+)/g)].map(([, from = ""]) => from);

/** A file of the package with all that it imports; not what it loads when it is used. */
async function loadedAtOnce(entry: string): Promise<string[]> {
  const files = new Set([entry]);
  for (const file of files)
    for (const from of await importsOf(file)) if (from.startsWith(".")) files.add(join(dirname(file), from));
  return [...files];
}

const user = `import { Agent, AgentBusyError, Platform, type AgentOptions, type Run, type SDKMessage } from "platform-sdk";
import type { ListResult, SDKAgentInfo, SDKUserMessage, ShellToolCall, TextDeltaUpdate, UsageCost } from "platform-sdk";
const options: AgentOptions = { model: { id: "m" }, cloud: { repos: [{ url: "u", startingRef: "main" }] } };
export async function work(): Promise<string> {
  const agent = await Agent.create(options);
  const run: Run = await agent.send("x", { onDelta: ({ update }) => console.log(update.type) });
  for await (const message of run.stream()) show(message);
  const { status, git } = await run.wait();
  const agents: ListResult<SDKAgentInfo> = await Agent.list({ runtime: "cloud", limit: 5 });
  const cost: UsageCost | undefined = (await agent.getUsage({ runId: run.id })).cost;
  const message: SDKUserMessage = { text: String(agents.items[0]?.lastModified ?? cost?.chargedCents) };
  await agent.send(message, { onStep: async ({ step }) => void step.type });
  const add = { description: "Adds", execute: (args: Record<string, unknown>) => String(args.a) };
  await Agent.prompt("y", { model: { id: "m" }, local: { sandboxOptions: { enabled: true }, customTools: { add } } });
  if (status === "finished") return git?.branches[0]?.prUrl ?? (await Platform.me()).apiKeyName;
  throw new AgentBusyError("x", { code: "y" });
}
export type Seen = [ShellToolCall["args"]["command"], TextDeltaUpdate["text"]];
function show(message: SDKMessage): void {
  if (message.type === "assistant") console.log(message.message.content[0]?.text);
  // @ts-expect-error there is no such member
  if (message.type === "thinking") console.log(message.message);
}
`;

test("its declarations are enough for a strict compiler", async () => {
  const home = await installed();
  await writeFile(join(home, "user.ts"), user);
  const compiler = join(createRequire(import.meta.url).resolve("typescript/package.json"), "../bin/tsc");
  const types = fileURLToPath(new URL("../../../node_modules/@types", import.meta.url));
  const flags = ["--noEmit", "--strict", "--target", "es2022", "--module", "nodenext", "--types", "node"];
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [compiler, "--ignoreConfig", ...flags, "--typeRoots", types, join(home, "user.ts")],
    { cwd: home },
  ).catch((failure: { stdout: string }) => failure);
  expect(stdout).toBe("");
});
