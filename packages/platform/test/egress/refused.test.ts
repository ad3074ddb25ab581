// A hostile model tries to reach hosts that its team has not listed, in more than sixty ways: all are refused, and the run lists them.
import { createServer, type Server } from "node:http";
import type { RunEgress } from "@agentcli/protocol/api";
import { call, replyWith } from "@agentcli/testkit";
import { expect, onTestFinished, test } from "vitest";
import { openRunHarness } from "../runs/run-harness.ts";
import { allowlist, type Try, type TryPorts, tries } from "./tries.ts";

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as { port: number }).port;
}

test("hosts that the team has not listed cannot be reached, and the run lists each with rule, phase and process", async () => {
  const reached: string[] = [];
  const serve = (name: string) =>
    createServer((request, response) => {
      reached.push(`${name} ${request.headers.host}${request.url}`);
      response.end("served");
    });
  const ports: TryPorts = { listed: await listen(serve("listed")), other: await listen(serve("other")) };
  const all = tries(ports);
  expect(all.length).toBeGreaterThanOrEqual(60);
  const replies = [
    ...all.map(({ command }) => call("exec_command", { cmd: command })),
    call("exec_command", { cmd: `curl -sS --noproxy '' http://127.0.0.1:${ports.listed}/allowed` }),
    replyWith("Nothing works."),
  ];
  const { client, requests } = await openRunHarness({ replies });
  const egress = { mode: "allowlist_only", allowlist: allowlist(ports), locked: true };
  const changed = await client.send("PATCH", "/v1/team/settings", { egress });
  expect(changed.status, changed.text).toBe(200);
  const ids = await client.create({ prompt: { text: "go" } });
  await client.streamText(ids);
  const { text } = await client.get(`/v1/agents/${ids.agentId}/runs/${ids.runId}/egress`);
  const listed = JSON.parse(text) as RunEgress;

  expect(reached).toEqual([`listed 127.0.0.1:${ports.listed}/allowed`]);
  expect(listed.policy).toMatchObject({ mode: "allowlist_only", source: "team", locked: true });
  const denied = listed.items.filter(({ decision }) => decision === "denied");
  const count = (host: string) =>
    denied.filter((entry) => entry.host === host).reduce((sum, entry) => sum + entry.connections, 0);
  const listedAs = ({ host }: Try) => (host === "direct" ? "address without the proxy" : host);
  const missing = all.filter((one) => count(listedAs(one)) < all.filter((other) => other.host === one.host).length);
  expect(missing.map(({ name }) => name)).toEqual([]);
  for (const entry of denied)
    expect(entry).toMatchObject({ phase: "run", rule: expect.stringMatching(/./), reason: expect.stringMatching(/./) });
  expect(denied.find(({ host }) => host === "one.example")?.process).toMatch(/^curl \(\d+\)$/);
  const allowed = listed.items.filter(({ decision }) => decision === "allowed");
  expect(
    allowed.find(({ host, port }) => host === "127.0.0.1" && port === ports.listed)?.bytesReceived,
  ).toBeGreaterThan(0);
  const shown = JSON.stringify(requests().map(({ body }) => body));
  expect(shown).toContain("one.example:443 is not in the egress policy of the team (allowlist_only, locked)");
  expect(shown).toContain("there is none but the proxy");
});
