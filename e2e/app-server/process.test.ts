// The app server as a process: start, addresses, exit, published types and schemas.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, join } from "node:path";
import { cliProgram, expectNoProcesses, processesIn, temporaryDirectory, waitForExit } from "@agentcli/testkit";
import { openHarness } from "@agentcli/testkit/cli";
import Ajv from "ajv/dist/2020.js";
import { expect, onTestFinished, test } from "vitest";
import { connectTo, listenAddress, startServer, wires } from "./client.ts";

test.each(wires)("a client reads, writes and runs a command over %s", async (wire) => {
  const harness = await openHarness({ files: { "a.txt": "hello" } });
  const server = await startServer(harness, wire);
  const client = await server.connect();
  const path = join(harness.repository, "a.txt");
  const { dataBase64 } = await client.request("fs/readFile", { path });
  expect(Buffer.from(dataBase64, "base64").toString()).toBe("hello");
  const command = ["sh", "-c", "cat a.txt; exit 3"];
  expect(await client.request("command/exec", { command, cwd: harness.repository })).toEqual({
    exitCode: 3,
    stdout: "hello",
    stderr: "",
  });
  await expect(client.request("fs/readFile", { path: `${path}.missing` })).rejects.toThrow(/a\.txt\.missing/);
  expect(await server.end()).toBe(wire === "stdio" ? 0 : 143);
});

test("the end of the input ends running commands of a client", async () => {
  const harness = await openHarness();
  const server = await startServer(harness, "stdio");
  const client = await server.connect();
  const command = ["sh", "-c", "echo $$; exec sleep 1000"];
  const running = client.request("command/exec", {
    command,
    cwd: harness.repository,
    processId: "p",
    streamStdoutStderr: true,
  });
  running.catch(() => {});
  await client.notification("command/exec/outputDelta");
  expect(processesIn(harness.repository).some((line) => line.includes("sleep 1000"))).toBe(true);
  expect(await server.end()).toBe(0);
  await expectNoProcesses(harness.repository);
});

test.each([
  ["SIGTERM", 143],
  ["SIGINT", 130],
] as const)("%s ends a listening server with its own exit code, and removes its socket", async (signal, code) => {
  const { start, home } = await openHarness();
  const child = start(["app-server", "--listen", "unix://"]);
  const ending = waitForExit(child);
  const path = (await listenAddress(child)).slice("unix://".length);
  expect(path).toBe(join(home, "app-server-control", "app-server-control.sock"));
  expect(statSync(path).mode & 0o777).toBe(0o600);
  const client = await connectTo(`unix://${path}`);
  expect(await client.request("thread/loaded/list")).toMatchObject({ data: [] });
  child.kill(signal);
  expect(await ending).toMatchObject({ code });
  expect(existsSync(path)).toBe(false);
});

test("a closed output pipe ends the server", async () => {
  const { start } = await openHarness();
  const child = start(["app-server"], { stdin: "open" });
  const ending = waitForExit(child);
  child.stdout?.destroy();
  child.stdin?.write('{"id":1,"method":"initialize"}\n'.repeat(10));
  expect(await ending).toMatchObject({ code: 141 });
});

test("a public address without authentication is refused", async () => {
  const { run } = await openHarness();
  const { code, stderr } = await run(["app-server", "--listen", "ws://0.0.0.0:0"]);
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: expect.stringContaining("Add --ws-auth capability-token or signed-bearer-token, or listen on 127.0.0.1."),
  });
});

test("the program in the documentation runs a whole turn", async () => {
  const { repository, home } = await openHarness({ files: { "README.md": "# Sample\n" } });
  const page = readFileSync(new URL("../../docs/app-server.md", import.meta.url), "utf8");
  const code = /```js\n(.*?)```/s.exec(page)?.[1] ?? "";
  const tools = await temporaryDirectory();
  onTestFinished(tools.remove);
  symlinkSync(cliProgram, join(tools.path, "agentcli"));
  const env = { ...process.env, AGENT_HOME: home, PATH: `${tools.path}${delimiter}${process.env.PATH}` };
  const child = spawn(process.execPath, ["--input-type=module", "-e", code], { cwd: repository, env });
  const { stdout, code: exit } = await waitForExit(child);
  expect({ exit, lines: stdout.trim().split("\n") }).toEqual({
    exit: 0,
    lines: ["userMessage", "agentMessage", "commandExecution", "agentMessage", "completed"],
  });
});

test("the published types compile, and the published schemas fit the messages of the server", async () => {
  const harness = await openHarness();
  const target = await temporaryDirectory();
  onTestFinished(target.remove);
  for (const kind of ["ts", "json-schema"])
    expect(await harness.run(["app-server", `generate-${kind}`, "--out", join(target.path, kind)])).toMatchObject({
      code: 0,
    });

  writeFileSync(
    join(target.path, "tsconfig.json"),
    JSON.stringify({
      compilerOptions: { strict: true, module: "nodenext", target: "es2022", noEmit: true, types: [] },
      include: ["ts"],
    }),
  );
  const compiler = createRequire(import.meta.url)
    .resolve("typescript/package.json")
    .replace("package.json", "bin/tsc");
  const compiled = spawnSync(process.execPath, [compiler, "-p", target.path], { encoding: "utf8" });
  expect(compiled.stdout + compiled.stderr).toBe("");

  const schemas = join(target.path, "json-schema");
  for (const name of ["agentcli_app_server_protocol.schemas.json", "agentcli_app_server_protocol.v2.schemas.json"])
    expect(JSON.parse(readFileSync(join(schemas, name), "utf8"))).toMatchObject({ version: "2.0" });
  const ajv = new Ajv({ strict: false, validateFormats: false });
  const validatorOf = (file: string) => ajv.compile(JSON.parse(readFileSync(join(schemas, file), "utf8")));
  const server = await startServer(harness, "stdio");
  const client = await server.connect();
  const { thread } = await client.request("thread/start");
  await client.notification("thread/started");
  expect(validatorOf("v2/Thread.json")(thread)).toBe(true);
  const fitsNotification = validatorOf("ServerNotification.json");
  expect(client.received.filter((message) => !fitsNotification(message))).toEqual([]);
  expect(await server.end()).toBe(0);
});
