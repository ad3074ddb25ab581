// Every page with texts of attackers, at three widths, light and dark; and what a member sees of what is not theirs.
// Without SWEEP=full each page at one width, at another each day.
import { isFullSweep, sampleOf } from "@agentcli/testkit";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { loginLink } from "../../platform/src/pages/index.ts";
import { openPull } from "../../platform/test/repositories/open-pull.ts";
import { openRunHarness } from "../../platform/test/runs/run-harness.ts";
import { findOverflow, photograph, startChromium, visit } from "./chromium.ts";
import { hostileTexts } from "./hostile-texts.ts";

startChromium();

const sizes = isFullSweep
  ? ([1440, 820, 390] as const).flatMap((width) =>
      (["light", "dark"] as const).map((scheme) => [width, scheme] as const),
    )
  : ([
      [1440, "light"],
      [820, "dark"],
      [390, "light"],
    ] as const);

async function openHostilePlatform(texts: string[]) {
  const harness = await openRunHarness({ replies: [], settings: { roles: ["api"] } });
  const { client, fixture } = harness;
  const make = async (path: string, body: object): Promise<string> => {
    const { status, bytes } = await client.send("POST", path, body);
    expect([200, 201], bytes.toString()).toContain(status);
    return JSON.parse(bytes.toString()).id;
  };
  let agentId = "";
  const names = texts.map((text) => text.slice(0, 100));
  for (const [index, text] of texts.entries()) {
    const metadata = { [text.slice(0, 64)]: text.slice(0, 512) };
    const created = await client.create({ prompt: { text }, metadata, ...(isName(text) && { name: names[index] }) });
    agentId = created.agentId;
  }
  const waits = texts.slice(0, 20).map((note) => ({ source: "timer", delaySeconds: 3_600, note }));
  for (const filter of waits) await make(`/v1/agents/${agentId}/subscriptions`, { filter });
  const { db } = fixture.platform;
  const ended = { status: "ERROR", ended_at: new Date(), cost_usd: "1.25", input_tokens: 1000 } as const;
  await db.updateTable("runs").set(ended).execute();
  const printable = names.filter(isName);
  const automations = await Promise.all(
    printable
      .slice(0, 20)
      .map((name) =>
        make("/v1/automations", { name, description: name, prompt: { text: name }, triggers: [{ type: "webhook" }] }),
      ),
  );
  await client.send("POST", `/v1/automations/${automations[0]}/disable`);
  const environments = await Promise.all(
    printable.slice(0, 20).map((name) =>
      make("/v1/environments", {
        owner: "team",
        name,
        repos: [],
        environmentJson: JSON.stringify({ install: name }),
      }),
    ),
  );
  const { id: buildId } = await db
    .selectFrom("environment_builds")
    .select("id")
    .where("environment_id", "=", environments[0] ?? "")
    .executeTakeFirstOrThrow();
  for (const name of printable.slice(0, 5)) {
    await make("/v1/service-accounts", { name });
    await fixture.platform.principals.createKey({
      ...{ name, team: "default", owner: { kind: "service_account", name }, scopes: null, expiresAt: null },
    });
  }
  const { teamId } = fixture.principal;
  const about = { team_id: teamId, kind: "issue", number: 7, prompt: Buffer.alloc(0), retry_at: new Date() } as const;
  const refused = printable.slice(0, 20).map((text, index) => ({
    ...{
      ...about,
      id: `mention-${index}`,
      user_id: null,
      agent_id: null,
      is_new_agent: true,
      status: "refused" as const,
    },
    ...{ sender: text, repo_url: text, reason: text, created_at: new Date() },
  }));
  await db.insertInto("mentions").values(refused).execute();
  await client.send("PUT", "/v1/team/secrets/TEAM_TOKEN", { value: "never shown" });
  const files = Object.fromEntries(
    printable.filter((text) => !/[/]/.test(text) && text.trim() === text).map((text) => [text, texts.join("\n")]),
  );
  const { name, number } = await openPull(client.url, client.key, "shop", files);
  const { items } = await client.getJson<{ items: { commit: string }[] }>(`/v1/repositories/${name}/commits`);
  const [fileName = ""] = Object.keys(files);
  const pull = `/v1/repositories/${name}/pulls/${number}`;
  await client.send("PATCH", pull, { title: printable[0], body: printable.join("\n\n") });
  for (const body of printable.slice(0, 20)) await make(`${pull}/comments`, { body, path: "README.md", line: 3 });
  await client.send("POST", `/git/${name}/pulls/${number}/labels`, { labels: printable.slice(0, 5) });
  const paths = [
    "/inbox",
    "/agents",
    `/agents/${agentId}`,
    `/agents/${agentId}/changes`,
    `/agents/${agentId}/files`,
    `/agents/${agentId}/waits`,
    `/agents/${agentId}/events`,
    `/agents/${agentId}/usage`,
    "/agents/new",
    `/compare?agents=${agentId}`,
    "/automations",
    `/automations/${automations[0]}`,
    "/environments",
    `/environments/${environments[0]}`,
    `/environments/${environments[0]}/builds/${buildId}`,
    `/environments/${environments[0]}/diff`,
    "/secrets",
    "/usage?of=team",
    "/audit",
    "/members",
    "/keys",
    "/service-accounts",
    "/settings",
    "/repositories",
    `/repositories/${name}`,
    `/repositories/${name}?path=${encodeURIComponent(fileName)}`,
    `/repositories/${name}/commits`,
    `/repositories/${name}/commits/${items[0]?.commit}`,
    `/repositories/${name}/pulls`,
    `/repositories/${name}/pulls/${number}`,
    "/accounts",
    "/sessions",
    "/workers",
    "/api-reference?q=agents",
  ];
  return { ...harness, paths, environmentId: environments[0] ?? "", buildId };
}

const isName = (text: string): boolean => !/[\p{C}\p{Zl}\p{Zp}]/u.test(text.slice(0, 100));

/** Six rounds through all pages take minutes. */
const timeout = 1_200_000;

test("texts of attackers stay texts on every page: nothing runs, nothing sticks out, axe finds nothing", {
  timeout,
}, async () => {
  expect(hostileTexts).toHaveLength(100);
  const { fixture, client, paths } = await openHostilePlatform(hostileTexts);
  for (const [shift, [width, colorScheme]] of sizes.entries()) {
    const { page, complaints, findBarriers } = await visit(await loginLink(fixture.platform, client.url), {
      width,
      colorScheme,
    });
    for (const path of sampleOf(paths, { every: sizes.length, shift })) {
      await page.goto(`${client.url}${path}`);
      await page.getByRole("heading", { level: 1 }).waitFor();
      await page.locator(".skeleton").first().waitFor({ state: "detached" });
      if (path === "/automations") await page.locator("[data-mention='mention-0']").waitFor();
      expect([width, path, await findOverflow(page)]).toEqual([width, path, 0]);
      expect([width, path, await findSpilledFacts(page)]).toEqual([width, path, []]);
      expect([width, path, await findBarriers()]).toEqual([width, path, []]);
      await photograph(page, `${nameOf(path)}-${width}-${colorScheme}`);
      expect([path, await page.evaluate("window.attacked ?? null")]).toEqual([path, null]);
    }
    expect(complaints).toEqual([]);
  }
});

/** Of a picture. */
const nameOf = (path: string): string =>
  path
    .split("?")
    .map((part, index) => (index === 0 ? part.replaceAll(/[/]|[0-9a-f-]{30,}/g, "_") : part.replace(/=.*/, "")))
    .join("-");

/** Facts of a row whose text stands over the next one. */
const findSpilledFacts = async (page: Page): Promise<string[]> =>
  (await page.evaluate(`[...document.querySelectorAll(".row-facts > *")]
    .filter((fact) => fact.scrollWidth > fact.clientWidth && getComputedStyle(fact).overflowX === "visible")
    .map(({ textContent }) => textContent)`)) as string[];

/** What a member of the team sees to press on pages that show something of others; on all other pages nothing. */
const buttonsOfMembers: Record<string, string[]> = {
  "/agents": ["Mine", "Archived", "SDK"],
  "/agents/ID/changes": ["Unified", "Split", "Refresh"],
  "/agents/new": ["Add files", "Add an attempt", "Start agent"],
  "/inbox": ["Unread"],
  "/keys": ["Create key", "Rotate", "Revoke"],
  "/repositories": ["Create repository"],
  "/repositories/shop/commits/ID": ["Unified", "Split"],
  "/repositories/shop/pulls/1": [
    ...["Close", "Merge", "Unified", "Split", "+", "Comment", "Ask for changes", "Approve"],
  ],
  "/secrets": ["Set secret"],
  "/settings": ["Save", "Turn on in this browser"],
};

test("on every page a member sees only buttons for what is theirs, and no page shows what the API refuses", {
  timeout,
}, async () => {
  const { fixture, client, paths } = await openHostilePlatform(hostileTexts.slice(0, 2));
  const owner = { kind: "user", email: "bob@x" } as const;
  await fixture.platform.principals.createKey({ name: "k", team: "default", owner, scopes: null, expiresAt: null });
  const { page, complaints } = await visit(await loginLink(fixture.platform, client.url, "bob@x"));
  const refused: string[] = [];
  page.on("response", (response) => {
    if (response.status() === 403) refused.push(new URL(response.url()).pathname);
  });
  const seen: Record<string, string[]> = {};
  for (const path of paths) {
    await page.goto(`${client.url}${path}`);
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.locator(".skeleton").first().waitFor({ state: "detached" });
    const names = await page.locator("main :is(button, input[type=submit])").allInnerTexts();
    const shown =
      path.replaceAll(/bc-[0-9a-f-]+|env-[\w-]+|bld-[\w-]+|auto-[\w-]+|[0-9a-f-]{36,}/g, "ID").split("?")[0] ?? "";
    seen[shown] = [...new Set(names.map((text) => text.replaceAll(/\s+/g, " ").trim()))].filter(Boolean);
  }
  expect(seen).toEqual(Object.fromEntries(Object.keys(seen).map((path) => [path, buttonsOfMembers[path] ?? []])));
  expect([...new Set(refused)].sort()).toEqual(["/v1/audit", "/v1/service-accounts", "/v1/usage"]);
  expect(complaints).toEqual([]);
});

test("a member sees neither buttons nor data of administrators, and the API refuses as well", async () => {
  const { fixture, client, environmentId, buildId } = await openHostilePlatform(hostileTexts.slice(0, 2));
  const { platform } = fixture;
  const owner = { kind: "user", email: "bob@x" } as const;
  const { key } = await platform.principals.createKey({
    ...{ name: "k", team: "default", owner, scopes: null, expiresAt: null },
  });
  const { page } = await visit(await loginLink(platform, client.url, "bob@x"));
  expect(await page.getByRole("link", { name: "Audit" }).count()).toBe(0);
  await page.goto(`${client.url}/audit`);
  await page.getByRole("alert").waitFor();
  expect(await page.locator(".table").count()).toBe(0);
  await page.goto(`${client.url}/inbox`);
  await page.getByText("Nothing needs you").waitFor();
  await page.goto(`${client.url}/secrets`);
  await page.getByText("TEAM_TOKEN").waitFor();
  expect(await page.getByRole("button", { name: "Remove" }).count()).toBe(0);
  expect(await page.getByLabel("For", { exact: true }).count()).toBe(0);
  await page.goto(`${client.url}/members`);
  await page.locator("[data-member='bob@x']").waitFor();
  expect(await page.locator("main").getByRole("button").count()).toBe(0);
  await page.goto(`${client.url}/service-accounts`);
  await page.getByRole("alert").waitFor();
  expect(await page.locator("main").getByRole("button", { name: "Create" }).count()).toBe(0);
  await page.goto(`${client.url}/environments/${environmentId}`);
  await page.getByRole("heading", { name: "Builds" }).waitFor();
  for (const name of ["Build now", "Cancel", "Activate"])
    expect(await page.getByRole("button", { name }).count()).toBe(0);
  await page.goto(`${client.url}/automations`);
  await page.getByText("No automations yet").waitFor();
  await page.goto(`${client.url}/usage?of=team`);
  await page.getByRole("alert").waitFor();
  expect(await page.locator(".figure").count()).toBe(0);

  const statusOf = async (method: string, path: string, body?: object) => {
    const response = await fetch(`${client.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      ...(body && { body: JSON.stringify(body) }),
    });
    await response.arrayBuffer();
    return response.status;
  };
  expect(await statusOf("GET", "/v1/audit")).toBe(403);
  expect(await statusOf("GET", "/v1/usage?of=team")).toBe(403);
  expect(await statusOf("DELETE", "/v1/team/secrets/TEAM_TOKEN")).toBe(403);
  expect(await statusOf("GET", "/v1/invitations")).toBe(403);
  expect(await statusOf("GET", "/v1/service-accounts")).toBe(403);
  expect(await statusOf("POST", `/v1/environments/${environmentId}/builds/${buildId}/cancel`, {})).toBe(403);
});
