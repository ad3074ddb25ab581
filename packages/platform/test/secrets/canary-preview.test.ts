// A secret that a terminal or a dev server of the machine shows to people: the agent that reads them sees it redacted, and neither is recorded.
import { request } from "node:http";
import { call, replyWith } from "@agentcli/testkit";
import { expect, test } from "vitest";
import { openLog } from "../../src/foundation/telemetry/index.ts";
import { openEnvironmentHarness } from "../environments/environment-harness.ts";
import { findLeaks } from "../harness/leaks.ts";
import { localMachines } from "../harness/settings.ts";
import { canary, forms, formsIn } from "./canary-forms.ts";

const devServer = `
require("node:http")
  .createServer((request, response) => {
    console.log("asked for " + request.url);
    response.setHeader("x-secret", encodeURIComponent(process.env.RUNTIME));
    response.end(process.env.RUNTIME);
  })
  .listen(3000, "127.0.0.1", () => console.log("listening with " + process.env.RUNTIME));
`;

/** As a browser that finds every name below localhost on this machine. */
function visit(serverUrl: string, address: string, key: string): Promise<string> {
  const { host, pathname, search } = new URL(address);
  const { hostname, port } = new URL(serverUrl);
  const headers = { host, authorization: `Bearer ${key}` };
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, path: `${pathname}${search}`, headers }, (response) => {
      let text = "";
      response.on("data", (data: Buffer) => {
        text += data;
      });
      response.on("end", () => resolve(text));
    });
    sent.on("error", reject).end();
  });
}

test("what a terminal and a dev server show of a secret is for people: the agent reads it redacted, and it is recorded nowhere", async () => {
  const read =
    "tmux capture-pane -p -t platform:dev; tmux capture-pane -p -t platform:shell; curl -si http://127.0.0.1:3000/";
  const wait = `until [ -e typed ]; do sleep 0.1; done; ${read}`;
  const logged: string[] = [];
  const log = openLog({ write: (line) => logged.push(line), now: () => new Date() });
  const harness = await openEnvironmentHarness({
    executor: "machines",
    replies: [
      { when: { bodyIncludes: "HTTP/1.1 200" }, ...replyWith(`It showed ${canary}.`) },
      call("exec_command", { cmd: wait, yield_time_ms: 600_000 }),
    ],
    settings: { machines: localMachines },
    log,
  });
  const { client, fixture, requests } = harness;
  const { status, text } = await client.send("PUT", "/v1/team/secrets/RUNTIME", { value: canary });
  expect(status, text).toBe(201);
  const config = {
    terminals: [
      { name: "dev", command: "/run/agent/node server.cjs" },
      { name: "shell", command: "exec sh" },
    ],
    ports: [{ name: "Shop", port: 3000 }],
  };
  const files = { "server.cjs": devServer, ".platform/environment.json": JSON.stringify(config) };
  const url = await harness.repository("shop", files);
  const ids = await client.create({ prompt: { text: "look" }, repos: [{ url }] });
  const at = (path: string) => `/v1/agents/${ids.agentId}${path}`;
  await expect
    .poll(async () => (await client.get(at("/terminals/dev"))).text, { timeout: 120_000 })
    .toContain("listening");
  const { items } = await client.getJson<{ items: { origin: string }[] }>(at("/ports"));
  const origin = items[0]?.origin ?? expect.fail("no port");
  expect(await visit(client.url, `${origin}/${encodeURIComponent(canary)}?q=1`, fixture.key)).toBe(canary);
  await client.post(at("/terminals/shell/input"), { text: `echo '${canary}'; touch typed\n` });
  const frames = await client.streamText(ids);
  const conversation = (await client.get(at("/conversation"))).text;
  const sent = JSON.stringify(requests().map(({ body }) => body));
  expect(sent).toContain("listening with [REDACTED]");
  for (const [name, seen] of Object.entries({ frames, conversation, sent }))
    expect({ name, forms: formsIn(seen) }).toEqual({ name, forms: [] });
  const leaks = await findLeaks({ ...fixture, key: async () => fixture.key }, logged, forms);
  expect(leaks.filter((path) => !/\/(?:workspaces|machines)\//.test(path))).toEqual([]);
});
