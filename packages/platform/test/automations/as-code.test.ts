// Automations as files: export, plan and apply over the database of a server, and the problems of wrong files.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Automation } from "@agentcli/protocol/api";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { command } from "../harness/command.ts";
import { type TestServer, testServer } from "../harness/platform.ts";

let server: TestServer;
let keys: Record<"admin" | "member", string>;
let directory: string;
beforeAll(async () => {
  server = await testServer({ roles: ["api"] });
  keys = {
    admin: await server.key(),
    member: await server.key({ owner: { kind: "user", email: "member@example.com" } }),
  };
  directory = join(server.platform.settings.dataDirectory, ".platform/automations");
});
afterAll(() => server.close());
beforeEach(async () => {
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  await server.platform.db.deleteFrom("automations").execute();
});

const run = (...args: string[]) => command(server, "automations", ...args);
const write = (name: string, text: string) => writeFileSync(join(directory, name), text);
const list = async () => (await server.call(keys.member, "GET", "/v1/automations")).body as { items: Automation[] };
const contents = () => readdirSync(directory).map((name) => [name, readFileSync(join(directory, name), "utf8")]);

const nightly = (prompt: string) => `name: nightly
scope: team_owned
prompt:
  text: ${prompt}
triggers:
  - type: cron
    cron: 0 3 * * *
    timezone: Europe/Berlin
  - type: webhook
    filter:
      action: [opened, reopened]
`;

test("what was exported is what is there: the plan is empty, also after a second export", async () => {
  const created = await Promise.all([
    server.call(keys.member, "POST", "/v1/automations", {
      ...{ name: "own", prompt: { text: "line one\nline two: #3" }, triggers: [{ type: "cron", cron: "@daily" }] },
      ...{ limits: { concurrent: 2, usdPerDay: "2.50" }, scope: "team_visible", shadow: true },
    }),
    server.call(keys.admin, "POST", "/v1/automations", {
      ...{ name: "Of the team!", prompt: { text: "tidy" }, scope: "team_owned", enabled: false },
      triggers: [{ type: "webhook", filter: { "issue.state": ["open", null, 7, true] } }],
    }),
  ]);
  expect(created.map(({ status }) => status)).toEqual([201, 201]);
  expect(await run("export")).toBe(".platform/automations/of-the-team.yaml\n.platform/automations/own.yaml");
  const files = contents();
  expect(await run("plan")).toBe("0 to create, 0 to change, none to delete, 2 unchanged.");
  expect(await run("plan", "--json", "--delete")).toBe("[]");
  await run("export");
  expect(contents()).toEqual(files);
  // Deleted and applied again, they have the same ids.
  const before = (await list()).items.map(({ id }) => id).sort();
  await server.platform.db.deleteFrom("automations").execute();
  expect(await run("apply")).toContain("2 to create");
  expect((await list()).items.map(({ id }) => id).sort()).toEqual(before);
  expect(await run("plan")).toBe("0 to create, 0 to change, none to delete, 2 unchanged.");
});

test("a file is applied once, a change keeps the ids of the automation and of its triggers, and deletion needs its flag", async () => {
  write("nightly.yaml", nightly("tidy up"));
  expect(await run("plan")).toBe(
    "+ nightly  (.platform/automations/nightly.yaml)\n1 to create, 0 to change, none to delete, 0 unchanged.",
  );
  expect((await list()).items).toEqual([]);
  expect(await run("apply")).toMatch(/Applied\.$/);
  expect(await run("apply")).toContain("0 to create, 0 to change, none to delete, 1 unchanged.");
  const [first] = (await list()).items;
  expect(first).toMatchObject({ name: "nightly", nextFiringAt: expect.any(String), triggers: [{}, {}] });
  write("nightly.yaml", `${nightly("tidy up more")}enabled: false\nmodel: { id: practice }\n`);
  expect(await run("plan")).toBe(
    [
      "~ nightly  (.platform/automations/nightly.yaml)",
      "    enabled: true -> false",
      '    model.id: (none) -> "practice"',
      '    prompt.text: "tidy up" -> "tidy up more"',
      "0 to create, 1 to change, none to delete, 0 unchanged.",
    ].join("\n"),
  );
  await run("apply");
  const [second] = (await list()).items;
  expect(second).toMatchObject({ id: first?.id, prompt: { text: "tidy up more" }, enabled: false });
  expect(second?.disabledReason).toBe("Its file says so.");
  expect(second?.triggers).toEqual(first?.triggers);
  rmSync(join(directory, "nightly.yaml"));
  expect(await run("apply")).toContain(`nightly  (${first?.id}) has no file; it stays without --delete`);
  expect((await list()).items).toHaveLength(1);
  expect(await run("apply", "--delete")).toContain("1 to delete");
  expect((await list()).items).toEqual([]);
});

test("values of MCP servers are in no plan, a file that has them is applied once, and an exported one keeps them", async () => {
  const file = (value: string) =>
    `${nightly("tidy")}tools:\n  mcpServers:\n    - { name: tickets, url: "https://mcp.example.com/", headers: { authorization: "${value}" } }\n`;
  write("nightly.yaml", file("Bearer first"));
  const created = [await run("plan"), await run("plan", "--json")];
  await run("apply");
  expect(await run("plan")).toBe("0 to create, 0 to change, none to delete, 1 unchanged.");
  write("nightly.yaml", file("Bearer second"));
  const changed = [await run("plan"), await run("plan", "--json"), await run("apply")];
  expect(changed[0]).toContain("tools.mcpServers.0.headers.authorization: *** -> *** (another value)");
  expect([...created, ...changed].join("\n")).not.toMatch(/first|second/);
  rmSync(join(directory, "nightly.yaml"));
  await run("export");
  expect(contents().join()).toContain("***");
  expect(await run("plan")).toBe("0 to create, 0 to change, none to delete, 1 unchanged.");
});

test("automations of users are never deleted by files, and a broken change changes nothing at all", async () => {
  const own = { name: "own", prompt: { text: "mine" }, triggers: [{ type: "webhook" }] };
  expect((await server.call(keys.member, "POST", "/v1/automations", own)).status).toBe(201);
  expect(await run("apply", "--delete")).toContain("0 to delete");
  write("a.yaml", nightly("tidy"));
  write("b.yaml", nightly("tidy").replace("nightly", "other").replace("team_owned", "private\nowner: no@example.com"));
  await expect(run("apply")).rejects.toThrow(/^owner: the team has no user no@example\.com\./);
  expect((await list()).items.map(({ name }) => name)).toEqual(["own"]);
});

test("an owner is the user with this address, whatever the case of its letters, and no other one", async () => {
  await server.key({ owner: { kind: "user", email: "Kim@Example.com" } });
  const owned = (email: string) => nightly("tidy").replace("team_owned", `private\nowner: ${email}`);
  write("a.yaml", owned("kIM@example.COM"));
  expect(await run("apply")).toContain("1 to create");
  // The Kelvin sign is another letter than K: the file is refused.
  write("a.yaml", owned("\u212aim@example.com").replace("nightly", "other"));
  await expect(run("apply")).rejects.toThrow(/owner/);
  expect(await run("plan").catch(String)).not.toContain("to create");
});

test.each([
  ["a member that there is not", nightly("x").replace("scope:", "scpoe:"), "2: scpoe: unknown member"],
  ["a bad schedule", nightly("x").replace("0 3 * * *", "0 3 * *"), "6: triggers.0: expected five fields"],
  ["an unknown variable", nightly('"{{event.nope}}"'), "4: prompt.text: there is no variable {{event.nope}}"],
  ["a missing prompt", nightly("x").replace(/prompt:\n.*\n/, ""), "1: prompt: "],
  ["a wrong value in a list", nightly("x").replace("type: webhook", "type: webhok"), "9: triggers.1"],
  ["no YAML", "name: [nightly\n", "2: not valid YAML: "],
  ["two documents", `${nightly("x")}---\n${nightly("y")}`, "12: not valid YAML: one automation per file"],
  ["a key twice", `${nightly("x")}name: again\n`, "12: not valid YAML: "],
  ["a user's without its owner", nightly("x").replace("team_owned", "private"), "2: scope: private needs owner"],
  ["an id of another form", `id: nightly\n${nightly("x")}`, "1: id: must be auto-<uuid>"],
])("a file with %s is refused with its line and the reason", async (_, text, problem) => {
  write("bad.yaml", text);
  const refused = await run("plan").catch((error: Error) => error.message);
  expect(refused).toContain(`.platform/automations/bad.yaml:${problem}`);
});

test("two files for one automation are refused", async () => {
  write("a.yaml", nightly("x"));
  write("b.yaml", `# A copy.\n${nightly("y")}`);
  await expect(run("plan")).rejects.toThrow(
    ".platform/automations/b.yaml:2: name: .platform/automations/a.yaml declares the same automation",
  );
});
