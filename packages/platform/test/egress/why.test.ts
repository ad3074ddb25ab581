// `platform egress why`: the rule that decides about a host for an agent.
import { openClient } from "@agentcli/testkit/platform";
import { expect, onTestFinished, test } from "vitest";
import { command } from "../harness/command.ts";
import { testServer } from "../harness/platform.ts";

test("it names the rule that allows or refuses a host for an agent, before its first run", async () => {
  const server = await testServer({ roles: ["api"] });
  onTestFinished(() => server.close());
  const client = openClient(server.url, await server.key());
  const egress = { mode: "allowlist_only", allowlist: ["*.listed.example"], locked: true };
  expect((await client.send("PATCH", "/v1/team/settings", { egress })).status).toBe(200);
  const { agentId } = await client.create({ prompt: { text: "go" } });
  const why = (host: string) => command(server, "egress", "why", host, "--agent", agentId);
  expect(await why("api.listed.example")).toContain('is allowed: "*.listed.example" allows it');
  expect(await why("evil.example")).toContain(
    "is denied: evil.example:443 is not in the egress policy of the team (allowlist_only, locked)",
  );
  expect(await why("api.listed.example:25")).toContain("on port 80 and 443 only");
  const bad = await client.send("PATCH", "/v1/team/settings", { egress: { ...egress, allowlist: ["*.10.0.0.1"] } });
  expect(bad.status).toBe(400);
});
