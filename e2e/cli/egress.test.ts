// A run whose commands may reach listed domains only: refused requests are in the events and in the session.
import { createServer, type Server } from "node:http";
import { call, replyWith } from "@agentcli/testkit";
import { itemsOf, openHarness, toolOutputs } from "@agentcli/testkit/cli";
import { afterAll, beforeAll, expect, test } from "vitest";

let server: Server;
let port = 0;
beforeAll(async () => {
  server = createServer((_incoming, response) => response.end("from the listed server"));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  port = (server.address() as { port: number }).port;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const curl = "curl -s --noproxy ''";

test("a listed server is reachable, another is refused and reported once, and there is no other network", async () => {
  const script = `${curl} http://127.0.0.1:${port}/; ${curl} http://evil.example/; ${curl} http://evil.example/again; getent hosts example.com || echo; echo no names`;
  const harness = await openHarness({
    replies: [call("exec_command", { cmd: script }), replyWith("Done.")],
    config: `[sandbox_workspace_write]\nallowed_domains = ["127.0.0.1:${port}", "*.npmjs.org"]\n`,
  });
  const { code, events } = await harness.events(["-s", "workspace-write", "fetch"]);
  expect(code).toBe(0);
  expect(events[0]).toMatchObject({ sandbox: { net: "proxy" } });
  const [command] = itemsOf(events, "command_execution");
  expect(command?.aggregated_output).toContain("from the listed server");
  expect(command?.aggregated_output).toContain(
    `evil.example:80 is not in allowed_domains (127.0.0.1:${port}, *.npmjs.org).`,
  );
  expect(command?.aggregated_output).toContain("no names");
  expect(itemsOf(events, "error")).toEqual([
    expect.objectContaining({ message: expect.stringContaining("The sandbox blocked a connection: evil.example:80") }),
    // The kernel counts what goes past the proxy, and knows no names.
    expect.objectContaining({ message: expect.stringMatching(/blocked a connection: \d+ packets .* had no way out/) }),
  ]);
  const notes = harness.records().filter(({ record }) => record.type === "noted" && record.kind === "policy");
  expect(notes).toMatchObject([
    { record: { data: { host: "evil.example", port: 80, by: "allowlist" } } },
    { record: { data: { host: "address without the proxy", by: "policy" } } },
  ]);
  expect(JSON.stringify(harness.requests()[0]?.body)).toContain(`only to 127.0.0.1:${port}, *.npmjs.org`);
});

test("an invalid domain is refused before any model request", async () => {
  const harness = await openHarness({
    config: '[sandbox_workspace_write]\nallowed_domains = ["https://example.com"]\n',
  });
  const { code, stderr } = await harness.run(["exec", "-s", "workspace-write", "fetch"]);
  expect(code).toBe(2);
  expect(stderr).toContain('Invalid domain "https://example.com"');
  expect(harness.requests()).toEqual([]);
});

test("in a read-only sandbox the network is off, whatever workspace-write allows", async () => {
  const harness = await openHarness({
    replies: [call("exec_command", { cmd: `cat < /dev/tcp/127.0.0.1/${port}` }), replyWith("Done.")],
    config: "[sandbox_workspace_write]\nnetwork_access = true\n",
  });
  const { events } = await harness.events(["-s", "read-only", "fetch"]);
  expect(events[0]).toMatchObject({ sandbox: { mode: "read-only", net: "off" } });
  expect(toolOutputs(harness.requests()[1])[0]).toContain("Connection refused");
});
