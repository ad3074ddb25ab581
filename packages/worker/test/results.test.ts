// Results on disk: what a worker that was killed and started again still knows of the commands it ran.
import { existsSync, readdirSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Chunk, ExecResult } from "@agentcli/protocol";
import { temporaryDirectory } from "@agentcli/testkit";
import { openServer } from "@agentcli/workspace";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { bash } from "../../workspace/test/support/commands.ts";
import { recordResults } from "../src/recorded-workspace.ts";
import { openResults, removeResults, restoreSandboxes } from "../src/results.ts";
import { limitResults } from "../src/results-limit.ts";

const sandbox = { runId: "run-1", key: "workspace-write 1", incarnation: "i-1" };
let directory: string;
beforeEach(async () => {
  const folder = await temporaryDirectory();
  directory = folder.path;
  onTestFinished(folder.remove);
});

/** As a process of the worker opens it; the next one opens it again. */
async function open(name = sandbox) {
  const env = { PATH: process.env.PATH ?? "" };
  const server = await openServer({ root: directory, writable: [directory], env, orphans: "ended-by-watchdog" });
  const workspace = recordResults(server, openResults(directory, name));
  onTestFinished(() => workspace.close());
  return workspace;
}

const start = (script: string) => ({ argv: ["bash", "-c", script] });
const never = new AbortController().signal;

async function exec(workspace: Awaited<ReturnType<typeof open>>, request: Parameters<typeof workspace.exec>[0]) {
  const chunks: Chunk[] = [];
  const result = await workspace.exec(request, (chunk) => chunks.push(chunk), never);
  return { result, text: chunks.map(({ text }) => text).join(""), chunks };
}

const isKept = async (id: string): Promise<ExecResult | null | undefined> =>
  openResults(directory, sandbox).find(id)?.ended;

test("a finished command is not run again, and its output and exit code are replayed", async () => {
  const first = await open();
  const script = "echo ran >> count; cat count; echo error >&2; exit 3";
  const before = await exec(first, { id: "c1", start: start(script) });
  await expect.poll(() => isKept("c1")).toMatchObject({ state: "exited" });
  const after = await exec(await open(), { id: "c1", start: start(script) });
  expect(after).toEqual(before);
  expect(after.result).toMatchObject({ state: "exited", exitCode: 3 });
  expect((await bash(await open(), "cat count")).stdout).toBe("ran\n");
});

test("only output after the cursor of the reader is replayed", async () => {
  const { chunks } = await exec(await open(), { id: "c1", start: start("echo a; sleep 0.1; echo b") });
  await expect.poll(() => isKept("c1")).toMatchObject({ state: "exited" });
  const rest = await exec(await open(), { id: "c1", afterSeq: 1 });
  expect(rest.chunks).toEqual(chunks.slice(1));
});

test("a command that ran when the worker was killed is not started again; its outcome is unknown", async () => {
  const first = await open();
  const running = await exec(first, { id: "c1", start: start("echo begun; sleep 3600"), waitMs: 100 });
  expect(running.result.state).toBe("running");
  await expect.poll(async () => openResults(directory, sandbox).find("c1")?.chunks.length).toBe(1);
  const after = await exec(await open(), { id: "c1", start: start("echo twice") });
  expect(after).toMatchObject({ text: "begun\n", result: { state: "unknown" } });
  expect(after.result).toMatchObject({ message: expect.stringContaining("restarted while this command ran") });
});

test("commands that the worker itself ends are not kept as finished", async () => {
  const first = await open();
  await exec(first, { id: "c1", start: start("sleep 3600"), waitMs: 10 });
  await first.close();
  expect(await isKept("c1")).toBeNull();
});

test("results belong to one incarnation of one run", async () => {
  await exec(await open(), { id: "c1", start: start("true") });
  await expect.poll(() => isKept("c1")).toMatchObject({ state: "exited" });
  expect(restoreSandboxes(directory, "run-1")).toEqual(new Map([[sandbox.key, "i-1"]]));
  expect(openResults(directory, { ...sandbox, incarnation: "i-2" }).find("c1")).toBeUndefined();
  expect(restoreSandboxes(directory, "run-2")).toEqual(new Map());
  expect(restoreSandboxes(directory, "run-1")).toEqual(new Map());
});

test("a release and the end of the run remove what is kept", async () => {
  const first = await open();
  for (const id of ["c1", "c2"]) await exec(first, { id, start: start("true") });
  await expect.poll(async () => [await isKept("c1"), await isKept("c2")]).toMatchObject([{}, {}]);
  await first.release(["c1"]);
  expect([await isKept("c1"), await isKept("c2")]).toMatchObject([undefined, { state: "exited" }]);
  removeResults(directory);
  expect(await isKept("c2")).toBeUndefined();
});

test("of a long output the beginning is kept, and what is missing is counted", async () => {
  const { result } = await exec(await open(), { id: "c1", start: start("head -c 9000000 /dev/zero | tr '\\0' x") });
  expect(result).toMatchObject({ state: "exited" });
  await expect.poll(() => isKept("c1")).toMatchObject({ state: "exited" });
  const after = await exec(await open(), { id: "c1" });
  const dropped = after.result.state === "exited" ? after.result.droppedBytes : 0;
  expect(after.text.length).toBeLessThanOrEqual(8 * 1024 * 1024);
  expect(after.text.length + dropped).toBe(9_000_000);
});

test("of a run that printed too much the oldest output goes, and its commands are still not run again", async () => {
  const first = await open();
  const script = "echo ran >> count; head -c 50000 /dev/zero | tr '\\0' x";
  for (const id of ["c1", "c2"]) {
    await exec(first, { id, start: start(script) });
    await expect.poll(() => isKept(id)).toMatchObject({ state: "exited" });
  }
  limitResults(join(directory, "results"), 70_000);
  const second = await open();
  const [one, two] = [await exec(second, { id: "c1", start: start(script) }), await exec(second, { id: "c2" })];
  expect(one).toMatchObject({ text: "", result: { state: "exited", exitCode: 0, droppedBytes: 50_000 } });
  expect(two.text).toHaveLength(50_000);
  expect((await bash(second, "wc -l < count")).stdout.trim()).toBe("2");
});

test("a command runs although its result cannot be written", async () => {
  const workspace = await open();
  rmSync(join(directory, "results"), { recursive: true });
  writeFileSync(join(directory, "results"), "");
  expect(await exec(workspace, { id: "c1", start: start("echo ran") })).toMatchObject({ text: "ran\n" });
});

test("the file of a command whose end cannot be read is closed", async () => {
  const results = openResults(directory, sandbox);
  const failing = { exec: () => Promise.reject(new Error("the sandbox is gone")) } as unknown as Parameters<
    typeof recordResults
  >[0];
  const executed = recordResults(failing, results).exec({ id: "c1", start: start("true") }, () => {}, never);
  await expect(executed).rejects.toThrow("the sandbox is gone");
  await expect.poll(openFilesOf(join(directory, "results"))).toEqual([]);
  expect(results.find("c1")).toBeUndefined();
});

/** Of this process. */
const openFilesOf = (folder: string) => () =>
  readdirSync("/proc/self/fd")
    .map((name) => join("/proc/self/fd", name))
    .flatMap((path) => (existsSync(path) ? readlinkSync(path) : []))
    .filter((target) => target.startsWith(folder));
