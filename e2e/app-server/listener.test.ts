// Who can use a listening app server: holders of its token, and never a command in one of its sandboxes.
import type { ChildProcess } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readlinkSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { unusedPort, waitForExit } from "@agentcli/testkit";
import { type Harness, openHarness } from "@agentcli/testkit/cli";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type OrdinaryUser, ordinaryUser } from "../cli/ordinary-user.ts";
import { connectTo, listenAddress, serverToken } from "./client.ts";

let user: OrdinaryUser;
beforeAll(() => {
  user = ordinaryUser();
});
afterAll(() => user.remove());

/** A PATH on which bubblewrap fails, so that Landlock is used. */
function pathWithoutBubblewrap(): string {
  const directory = mkdtempSync(join(tmpdir(), "no-bubblewrap-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  chmodSync(directory, 0o755);
  writeFileSync(join(directory, "bwrap"), "#!/bin/sh\nexit 1\n", { mode: 0o755 });
  return `${directory}:${process.env.PATH}`;
}

interface Listening {
  child: ChildProcess;
  harness: Harness;
  where: string;
  stderr(): string;
}

async function listen(as: "this user" | "an ordinary user", args: string[] = [], path = process.env.PATH ?? "") {
  const harness = await openHarness();
  const argv = ["app-server", "--listen", "ws://127.0.0.1:0", ...args];
  if (as === "an ordinary user") for (const directory of [harness.repository, harness.home]) user.own(directory);
  const env = { PATH: path, HOME: harness.home, AGENT_HOME: harness.home, SHELL: "/bin/bash" };
  const child =
    as === "this user"
      ? harness.start(argv, { env: { PATH: path } })
      : user.start(argv, { cwd: harness.repository, env });
  const ending = waitForExit(child);
  onTestFinished(async () => {
    child.kill("SIGTERM");
    await ending;
  });
  let stderr = "";
  child.stderr?.on("data", (chunk) => {
    stderr += chunk;
  });
  const listening: Listening = { child, harness, where: await listenAddress(child), stderr: () => stderr };
  return listening;
}

/** Prints status and text of a refused upgrade, or that it was accepted. */
const dialler = (where: string, token: string, socketPath?: string) => `
const headers = { connection: "upgrade", upgrade: "websocket", "sec-websocket-version": 13,
  "sec-websocket-key": Buffer.alloc(16).toString("base64"), authorization: "Bearer ${token}" };
const request = require("http").get("${where.replace("ws:", "http:")}", { headers, socketPath: ${JSON.stringify(socketPath)} }, (response) => {
  process.stdout.write(response.statusCode + " ");
  response.pipe(process.stdout);
});
request.on("upgrade", (response, socket) => { process.stdout.write("accepted"); socket.destroy(); });
request.on("error", (error) => process.stdout.write(error.message));`;

describe.each(["this user", "an ordinary user"] as const)("run by %s", (as) => {
  test("a server that listens loads no package from NODE_PATH or the home", async () => {
    const harness = await openHarness();
    const { home, repository } = harness;
    const mark = join(home, "loaded");
    for (const folder of [join(repository, "node_modules"), join(home, ".node_modules")])
      for (const name of ["bufferutil", "utf-8-validate"]) {
        mkdirSync(join(folder, name), { recursive: true });
        // It fails once it has run: a package without its functions would only make the server hang.
        writeFileSync(
          join(folder, name, "index.js"),
          `require("fs").appendFileSync(${JSON.stringify(mark)}, "${name} "); throw new Error("planted");`,
        );
      }
    const env = { NODE_PATH: join(repository, "node_modules"), HOME: home, PATH: process.env.PATH ?? "" };
    const argv = ["app-server", "--listen", "ws://127.0.0.1:0"];
    if (as === "an ordinary user") for (const directory of [repository, home]) user.own(directory);
    const child =
      as === "this user"
        ? harness.start(argv, { env })
        : user.start(argv, { cwd: repository, env: { ...env, AGENT_HOME: home } });
    const ending = waitForExit(child);
    const client = await connectTo(await listenAddress(child), serverToken(home));
    await client.close();
    child.kill("SIGTERM");
    await ending;
    expect(existsSync(mark)).toBe(false);
  });

  test("a server on a port demands the token in a private file whose path it prints", async () => {
    const { harness, where, stderr } = await listen(as);
    const path = join(harness.home, "app-server-control", "ws-token");
    expect(stderr()).toContain(`Clients send the token in ${path} as "Authorization: Bearer TOKEN".`);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    await expect(connectTo(where)).rejects.toThrow("401");
    await expect(connectTo(where, "guess")).rejects.toThrow("401");
    const client = await connectTo(where, serverToken(harness.home));
    expect(await client.request("thread/loaded/list")).toMatchObject({ data: [] });
  });

  test("a server without authentication warns, and takes a client without a token", async () => {
    const { where, stderr } = await listen(as, ["--ws-auth", "none"]);
    expect(stderr()).toContain("every user and program of this machine can run commands as you");
    const client = await connectTo(where);
    expect(await client.request("thread/loaded/list")).toMatchObject({ data: [] });
  });

  test.each([
    ["bubblewrap", { type: "workspaceWrite", networkAccess: true }],
    ["Landlock", { type: "readOnly", networkAccess: true }],
  ])("a command in %s with the network on cannot read the token, nor connect even with it", async (name, policy) => {
    const path = name === "Landlock" ? pathWithoutBubblewrap() : undefined;
    const { harness, where } = await listen(as, [], path);
    const token = serverToken(harness.home);
    const client = await connectTo(where, token);
    const run = (command: string[], sandboxPolicy: object) =>
      client.request("command/exec", { command, cwd: harness.repository, sandboxPolicy });
    const dial = [process.execPath, "-e", dialler(where, token)];
    const file = join(harness.home, "app-server-control", "ws-token");
    const namespace = await run(["readlink", "/proc/self/ns/user"], policy);
    expect(namespace.stdout.trim() === readlinkSync("/proc/self/ns/user")).toBe(name === "Landlock");
    expect((await run(["cat", file], policy)).stdout).toBe("");
    expect((await run(dial, policy)).stdout).toBe("403 Sandboxed processes must not connect to this server.\n");
    expect((await run(dial, { type: "dangerFullAccess" })).stdout).toBe("accepted");
  });
});

const frame = (message: object): Buffer => {
  const text = Buffer.from(JSON.stringify(message));
  return Buffer.concat([Buffer.from([0x81, 0xfe, text.length >> 8, text.length & 255, 0, 0, 0, 0]), text]);
};

/** Sends the upgrade and a whole conversation at once, and hangs up before the server looks who it is. */
function hurriedDialler(port: string, file: string): string[] {
  const head = ["GET / HTTP/1.1", "Host: 127.0.0.1", "Connection: upgrade", "Upgrade: websocket"];
  const key = ["Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==", "", ""];
  const clientInfo = { name: "hurried", title: "x".repeat(200), version: "1" };
  const params = { command: ["touch", file, "x".repeat(200)], sandboxPolicy: { type: "dangerFullAccess" } };
  const messages = [
    { id: 1, method: "initialize", params: { clientInfo } },
    { id: 2, method: "command/exec", params },
  ];
  const bytes = Buffer.concat([Buffer.from([...head, ...key].join("\r\n")), ...messages.map(frame)]).toString("base64");
  const script = `use IO::Socket::INET; use MIME::Base64; my $bytes = decode_base64("${bytes}");
for (1..20) { my $socket = IO::Socket::INET->new("127.0.0.1:${port}") or die; syswrite($socket, $bytes); close($socket); }`;
  return ["perl", "-e", script];
}

test.each(["this user", "an ordinary user"] as const)(
  "a command that hangs up before %s's server without authentication looks at it has said nothing",
  async (as) => {
    const { harness, where } = await listen(as, ["--ws-auth", "none"]);
    const client = await connectTo(where);
    const file = join(harness.repository, "taken");
    const run = (sandboxPolicy: object) =>
      client.request("command/exec", {
        command: hurriedDialler(new URL(where).port, file),
        cwd: harness.repository,
        sandboxPolicy,
      });
    expect(await run({ type: "workspaceWrite", networkAccess: true })).toMatchObject({ exitCode: 0 });
    // Connections are served in turn: a later one that was served is behind it.
    await connectTo(where);
    await connectTo(where);
    expect(existsSync(file)).toBe(false);
  },
);

test("a server without authentication refuses sandboxed commands all the same", async () => {
  const { harness, where } = await listen("this user", ["--ws-auth", "none"]);
  const client = await connectTo(where);
  const { stdout } = await client.request("command/exec", {
    command: [process.execPath, "-e", dialler(where, "none")],
    cwd: harness.repository,
    sandboxPolicy: { type: "workspaceWrite", networkAccess: true },
  });
  expect(stdout).toBe("403 Sandboxed processes must not connect to this server.\n");
});

/** Connects through the proxy of the sandbox. */
const proxiedDialler = (port: number) => `
const socket = require("net").connect(3128, "127.0.0.1", () => socket.write("CONNECT 127.0.0.1:${port} HTTP/1.1\\r\\nHost: 127.0.0.1:${port}\\r\\n\\r\\n"));
socket.once("data", (answer) => {
  process.stdout.write(answer.toString().split("\\r\\n")[0] + ", ");
  socket.on("data", (data) => { process.stdout.write(data.toString().split("\\r\\n")[0]); socket.destroy(); });
  socket.write("GET / HTTP/1.1\\r\\nHost: 127.0.0.1\\r\\nConnection: upgrade\\r\\nUpgrade: websocket\\r\\nSec-WebSocket-Version: 13\\r\\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\\r\\n\\r\\n");
});`;

test("a command does not reach its own server through the proxy either, even if configuration lists the address", async () => {
  const port = await unusedPort();
  const harness = await openHarness({
    config: `[sandbox_workspace_write]\nallowed_domains = ["127.0.0.1:${port}"]\n`,
  });
  const child = harness.start(["app-server", "--listen", `ws://127.0.0.1:${port}`, "--ws-auth", "none"]);
  const ending = waitForExit(child);
  onTestFinished(async () => {
    child.kill("SIGTERM");
    await ending;
  });
  const client = await connectTo(await listenAddress(child));
  const { stdout } = await client.request("command/exec", {
    command: [process.execPath, "-e", proxiedDialler(port)],
    cwd: harness.repository,
    sandboxPolicy: { type: "workspaceWrite", networkAccess: true },
  });
  expect(stdout).toBe("HTTP/1.1 200 Connection established, HTTP/1.1 403 Forbidden");
});

test.each(["this user", "an ordinary user"] as const)(
  "a command in Landlock that may open unix sockets cannot use the socket of its own server, run by %s",
  async (as) => {
    const harness = await openHarness({ config: "[sandbox_workspace_write]\nunix_sockets = true\n" });
    const directory = mkdtempSync("/var/tmp/listener-");
    onTestFinished(() => rmSync(directory, { recursive: true }));
    for (const path of [harness.repository, harness.home, directory]) if (as !== "this user") user.own(path);
    const socket = join(directory, "app.sock");
    const argv = ["app-server", "--listen", `unix://${socket}`];
    const env = { PATH: pathWithoutBubblewrap(), HOME: harness.home, AGENT_HOME: harness.home, SHELL: "/bin/bash" };
    const child =
      as === "this user" ? harness.start(argv, { env }) : user.start(argv, { cwd: harness.repository, env });
    const ending = waitForExit(child);
    onTestFinished(async () => {
      child.kill("SIGTERM");
      await ending;
    });
    const client = await connectTo(await listenAddress(child));
    const run = (type: string) =>
      client.request("command/exec", {
        command: [process.execPath, "-e", dialler("ws://localhost", "none", socket)],
        cwd: harness.repository,
        sandboxPolicy: { type },
      });
    expect((await run("dangerFullAccess")).stdout).toBe("accepted");
    expect((await run("readOnly")).stdout).toBe("403 Sandboxed processes must not connect to this server.\n");
  },
);

test("a command that may open unix sockets cannot reach the socket of its own server, nor read its token file", async () => {
  const harness = await openHarness({ config: "[sandbox_workspace_write]\nunix_sockets = true\n" });
  const socket = join(harness.repository, "app.sock");
  const token = join(harness.repository, "token");
  writeFileSync(token, "open-sesame");
  const args = ["--ws-auth", "capability-token", "--ws-token-file", token];
  const child = harness.start(["app-server", "--listen", `unix://${socket}`, ...args]);
  const ending = waitForExit(child);
  onTestFinished(async () => {
    child.kill("SIGTERM");
    await ending;
  });
  const client = await connectTo(await listenAddress(child), "open-sesame");
  const run = (command: string[], type: string) =>
    client.request("command/exec", { command, cwd: harness.repository, sandboxPolicy: { type } });
  const dial = [process.execPath, "-e", dialler("ws://localhost", "open-sesame", socket)];
  expect((await run(dial, "dangerFullAccess")).stdout).toBe("accepted");
  expect((await run(dial, "workspaceWrite")).stdout).toContain("ECONNREFUSED");
  expect((await run(["cat", token], "workspaceWrite")).stdout).toBe("");
});
