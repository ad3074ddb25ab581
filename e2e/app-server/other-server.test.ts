// A sandboxed command cannot drive a server that another process of this program started, even where it may open unix sockets.
import type { ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { waitForExit } from "@agentcli/testkit";
import { type Harness, openHarness } from "@agentcli/testkit/cli";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { type OrdinaryUser, ordinaryUser } from "../cli/ordinary-user.ts";
import { connectTo, listenAddress } from "./client.ts";

let user: OrdinaryUser;
beforeAll(() => {
  user = ordinaryUser();
});
afterAll(() => user.remove());

type As = "this user" | "an ordinary user";

async function listenOn(socket: string, harness: Harness, as: As): Promise<string> {
  const argv = ["app-server", "--listen", `unix://${socket}`];
  const env = { PATH: process.env.PATH ?? "", HOME: harness.home, AGENT_HOME: harness.home, SHELL: "/bin/bash" };
  for (const directory of [harness.repository, harness.home]) if (as !== "this user") user.own(directory);
  const child: ChildProcess =
    as === "this user" ? harness.start(argv) : user.start(argv, { cwd: harness.repository, env });
  const ending = waitForExit(child);
  onTestFinished(async () => {
    child.kill("SIGTERM");
    await ending;
  });
  return listenAddress(child);
}

const dialler = (socketPath: string) => `
const headers = { connection: "upgrade", upgrade: "websocket", "sec-websocket-version": 13,
  "sec-websocket-key": Buffer.alloc(16).toString("base64") };
const request = require("http").get({ socketPath: ${JSON.stringify(socketPath)}, headers }, (response) => {
  process.stdout.write(response.statusCode + " ");
  response.pipe(process.stdout);
});
request.on("upgrade", (response, socket) => { process.stdout.write("accepted"); socket.destroy(); });
request.on("error", (error) => process.stdout.write(error.message));`;

test.each<As>(["this user", "an ordinary user"])(
  "a command in bubblewrap that may open unix sockets cannot use the socket of another server, run by %s",
  async (as) => {
    const directory = mkdtempSync("/var/tmp/other-server-");
    onTestFinished(() => rmSync(directory, { recursive: true }));
    if (as !== "this user") user.own(directory);
    const other = join(directory, "other.sock");
    await listenOn(other, await openHarness(), as);
    const harness = await openHarness({ config: "[sandbox_workspace_write]\nunix_sockets = true\n" });
    const client = await connectTo(await listenOn(join(harness.home, "own.sock"), harness, as));
    const dial = async (type: string) => {
      const command = [process.execPath, "-e", dialler(other)];
      const request = { command, cwd: harness.repository, sandboxPolicy: { type } };
      return (await client.request("command/exec", request)).stdout;
    };
    expect(await dial("dangerFullAccess")).toBe("accepted");
    for (const type of ["workspaceWrite", "readOnly"])
      expect(await dial(type)).toBe("403 Sandboxed processes must not connect to this server.\n");
  },
);
