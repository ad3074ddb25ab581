// The metadata that the socket of an agent serves: a tree of plain text.
import { existsSync, readdirSync } from "node:fs";
import { request } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { temporaryDirectory } from "@agentcli/testkit";
import { expect, onTestFinished, test } from "vitest";
import { type AgentSocketService, openAgentSocket } from "../src/agent-socket/index.ts";

const values = new Map([
  ["turn/id", "run-1"],
  ["agent/name", "Fix the build"],
  ["agent/id", "bc-1"],
]);
const service: AgentSocketService = {
  token: async () => ({ status: 200, body: {} }),
  metadata: async () => values,
};

async function open(served: AgentSocketService = service) {
  const { path, remove } = await temporaryDirectory();
  const directory = join(path, "agent");
  const socket = await openAgentSocket(served, { directory, connectsFor: "own-user" });
  onTestFinished(async () => {
    socket.close();
    await remove();
  });
  return { directory, socket };
}

function ask(directory: string, path: string, method = "GET") {
  return new Promise<{ status: number; text: string; type: string }>((resolve, reject) => {
    const asked = { socketPath: join(directory, "api.sock"), path, method, headers: { connection: "close" } };
    const sent = request(asked, async (response) => {
      let text = "";
      for await (const part of response) text += part;
      resolve({ status: response.statusCode ?? 0, text, type: response.headers["content-type"] ?? "" });
    });
    sent.on("error", reject);
    sent.end();
  });
}

test.each([
  { path: "/v1/meta-data", status: 200, text: "agent/\nturn/\n" },
  { path: "/v1/meta-data/", status: 200, text: "agent/\nturn/\n" },
  { path: "/v1/meta-data/agent", status: 200, text: "id\nname\n" },
  { path: "/v1/meta-data/agent/", status: 200, text: "id\nname\n" },
  { path: "/v1/meta-data/agent/name", status: 200, text: "Fix the build" },
  { path: "/v1/meta-data/agent/id?x=1", status: 200, text: "bc-1" },
])("GET $path is answered with plain text", async ({ path, status, text }) => {
  const { directory } = await open();
  expect(await ask(directory, path)).toEqual({ status, text, type: "text/plain; charset=utf-8" });
});

test.each([
  { path: "/v1/meta-data/agent/i", method: "GET", status: 404, error: "not_found" },
  { path: "/v1/meta-data/agent/id/more", method: "GET", status: 404, error: "not_found" },
  { path: "/v1/meta-datas", method: "GET", status: 404, error: "not_found" },
  { path: "/v1/meta-data/agent/id", method: "POST", status: 405, error: "method_not_allowed" },
])("$method $path is refused with $error and says how to ask", async ({ path, method, status, error }) => {
  const { directory } = await open();
  const answered = await ask(directory, path, method);
  expect(answered.status).toBe(status);
  expect(JSON.parse(answered.text)).toEqual({ error, usage: expect.stringContaining("/v1/meta-data") });
});

test("a refusal of the service is passed on, and its failure is a host_error", async () => {
  const refusing = await open({ ...service, metadata: async () => ({ status: 429, body: { error: "rate_limited" } }) });
  expect(await ask(refusing.directory, "/v1/meta-data/agent/id")).toMatchObject({ status: 429 });
  const failing = await open({ ...service, metadata: () => Promise.reject(new Error("no")) });
  expect((await ask(failing.directory, "/v1/meta-data/agent/id")).text).toBe('{"error":"host_error"}\n');
});

test("connections that send nothing are closed beyond a number, and keep later ones from no answer once they end", async () => {
  const { directory } = await open();
  let closed = 0;
  const idle = Array.from({ length: 40 }, () =>
    connect(join(directory, "api.sock"))
      .on("error", () => {})
      .on("close", () => {
        closed += 1;
      }),
  );
  await expect.poll(() => closed).toBe(8);
  for (const connection of idle) connection.destroy();
  await expect.poll(async () => (await ask(directory, "/v1/meta-data/agent/id")).status).toBe(200);
});

test("a second socket in the directory takes over, and the end of the first leaves it there", async () => {
  const { directory, socket } = await open();
  const other = { ...service, metadata: async () => new Map([["agent/id", "bc-2"]]) };
  const second = await openAgentSocket(other, { directory, connectsFor: "own-user" });
  socket.close();
  expect((await ask(directory, "/v1/meta-data/agent/id")).text).toBe("bc-2");
  expect(readdirSync(directory)).toEqual(["api.sock"]);
  second.close();
  expect(existsSync(join(directory, "api.sock"))).toBe(false);
});
