// Agents do not run where a directory that they can read leads to a file of the operator.
import { once } from "node:events";
import { mkdirSync, rmdirSync, symlinkSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { temporaryDirectory } from "@agentcli/testkit";
import { expect, onTestFinished, test } from "vitest";
import { openSandboxes } from "../../src/runs/execution/sandbox/sandboxes.ts";
import { findReadableSecret } from "../../src/runs/execution/sandbox/secret-paths.ts";
import { testSettings } from "../harness/settings.ts";

test("a key of the operator is found behind a system directory that is a link, and so is a readable directory in the data", async () => {
  const { path, remove } = await temporaryDirectory();
  onTestFinished(remove);
  const [data, tools, link] = ["data", "tools", "go"].map((name) => join(path, name)) as [string, string, string];
  for (const directory of [join(data, "workspaces"), tools]) mkdirSync(directory, { recursive: true });
  symlinkSync(tools, link);
  const settings = { ...testSettings(data), kekFile: join(tools, "kek"), readableDirectories: [] as string[] };
  expect(await findReadableSecret(settings, { systemPaths: [] })).toBeNull();
  expect(await findReadableSecret(settings, { systemPaths: [link] })).toMatchObject({
    reason: `The key-encryption key ${tools}/kek is in ${link}, which agents can read.`,
  });
  const own = { ...settings, readableDirectories: [join(data, "workspaces")] };
  expect(await findReadableSecret(own, { systemPaths: [] })).toMatchObject({
    reason: expect.stringContaining("in the data directory"),
  });
});

test("the data directory is found where it, or a part of it, is mounted a second time below a readable directory", async () => {
  const settings = { ...testSettings("/srv/data"), readableDirectories: ["/opt/tools"] };
  const find = (...mounts: string[]) => {
    const mountTable = ["1 0 8:1 / / rw - ext4 x rw", "2 1 8:2 / /srv rw - ext4 x rw", ...mounts].join("\n");
    return findReadableSecret(settings, { systemPaths: ["/usr"], mountTable });
  };
  expect(await find()).toBeNull();
  expect(await find("3 1 8:2 /other /opt/tools/other rw - ext4 x rw")).toBeNull();
  for (const [root, point] of [
    ["/data", "/opt/tools/d"],
    ["/", "/opt/tools/srv"],
    ["/data/workspaces", "/opt/tools/w"],
    ["/data", "/usr/share/d"],
  ])
    expect(await find(`3 1 8:2 ${root} ${point} rw - ext4 x rw`), root).toMatchObject({
      reason: `The data directory /srv/data is in ${point}, which agents can read.`,
    });
  expect(await find("3 1 8:2 /data/workspaces /opt/tools rw - ext4 x rw")).toMatchObject({
    reason: expect.stringContaining("in the data directory"),
  });
});

test("the object store and the file of telemetry are found in a readable directory", async () => {
  const settings = { ...testSettings("/srv/data"), readableDirectories: ["/opt/tools"] };
  const store = { ...settings, objectStore: { kind: "directory" as const, path: "/opt/tools/store" } };
  expect(await findReadableSecret(store, { systemPaths: [] })).toMatchObject({
    reason: "The object store /opt/tools/store is in /opt/tools, which agents can read.",
  });
  const telemetry = { ...settings, otel: { file: "/opt/tools/otel.jsonl" } };
  expect(await findReadableSecret(telemetry, { systemPaths: [] })).toMatchObject({
    reason: expect.stringContaining("The file of telemetry /opt/tools/otel.jsonl is in /opt/tools"),
  });
});

test("agents do not start once a readable directory leads to the data directory, though they did before", async () => {
  const { path, remove } = await temporaryDirectory();
  onTestFinished(remove);
  const [data, tools] = [join(path, "data"), join(path, "tools")];
  for (const directory of [data, tools]) mkdirSync(directory);
  const sandboxes = openSandboxes({ ...testSettings(data), readableDirectories: [tools] });
  const before = await sandboxes.obstacle();
  rmdirSync(tools);
  symlinkSync(data, tools);
  expect(await sandboxes.obstacle()).not.toBe(before);
  expect(await sandboxes.obstacle()).toContain(`${tools} of sandbox.readable is in the data directory`);
});

test("a socket that a program listens on is found in a readable directory, and not once it has ended", async () => {
  const { path, remove } = await temporaryDirectory();
  onTestFinished(remove);
  const settings = { ...testSettings("/srv/data"), readableDirectories: [path] };
  const server = createServer().listen(join(path, "daemon.sock"));
  await once(server, "listening");
  expect(await findReadableSecret(settings, { systemPaths: [] })).toEqual({
    reason: `${path}/daemon.sock is a socket in ${path}, which agents can read and could connect to.`,
    remedy: `Move it elsewhere, or remove ${path} from sandbox.readable.`,
  });
  server.close();
  await once(server, "close");
  expect(await findReadableSecret(settings, { systemPaths: [] })).toBeNull();
});
