// The package as users get it: one file without dependencies, and declarations that stand alone.
import { execFile } from "node:child_process";
import { cp, readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { temporaryDirectory } from "@agentcli/testkit";
import { expect, onTestFinished, test } from "vitest";

const dist = fileURLToPath(new URL("../dist", import.meta.url));

async function installed(): Promise<string> {
  const home = await temporaryDirectory({ "package.json": '{"type":"module"}' });
  onTestFinished(home.remove);
  const place = join(home.path, "node_modules/platform-sdk");
  await cp(dist, place, { recursive: true });
  await writeFile(join(place, "package.json"), '{"type":"module","exports":"./index.js"}');
  return home.path;
}

test("it needs nothing but Node, and its errors keep their names", async () => {
  const home = await installed();
  const { Agent, Platform, ...errors } = await import(
    pathToFileURL(join(home, "node_modules/platform-sdk/index.js")).href
  );
  expect([typeof Agent.create, typeof Platform.me]).toEqual(["function", "function"]);
  for (const [name, Kind] of Object.entries<new (message: string, facts: object) => Error>(errors))
    expect(new Kind("x", {}).name).toBe(name);
  const imports = [...(await readFile(join(dist, "index.js"), "utf8")).matchAll(/from\s?["'`]([^"'`]+)/g)];
  expect(imports.filter(([, from]) => !from?.startsWith("node:"))).toEqual([]);
});

const user = `import { Agent, AgentBusyError, Platform, type AgentOptions, type Run, type SDKMessage } from "platform-sdk";
const options: AgentOptions = { model: { id: "m" }, cloud: { repos: [{ url: "u", startingRef: "main" }] } };
export async function work(): Promise<string> {
  const agent = await Agent.create(options);
  const run: Run = await agent.send("x", { onDelta: ({ update }) => console.log(update.type) });
  for await (const message of run.stream()) show(message);
  const { status, git } = await run.wait();
  if (status === "finished") return git?.branches[0]?.prUrl ?? (await Platform.me()).apiKeyName;
  throw new AgentBusyError("x", { code: "y" });
}
function show(message: SDKMessage): void {
  if (message.type === "assistant") console.log(message.message.content[0]?.text);
  // @ts-expect-error there is no such member
  if (message.type === "thinking") console.log(message.message);
}
`;

test("its declarations are enough for a strict compiler", { timeout: 120_000 }, async () => {
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
