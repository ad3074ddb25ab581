import { Hono } from "hono";
import { expect, test } from "vitest";
import type { Env } from "../../src/foundation/index.ts";
import { addDocumentation } from "../../src/pages/documentation.ts";

function openSite() {
  const app = new Hono<Env>();
  addDocumentation(app);
  return async (path: string) => {
    const answer = await app.request(path);
    return { status: answer.status, type: answer.headers.get("content-type"), text: await answer.text() };
  };
}

test("every page of the documentation is reached from the first one, and every link of the site leads somewhere", async () => {
  const get = openSite();
  const seen = new Set<string>();
  const waiting = ["/docs"];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (seen.has(path)) continue;
    seen.add(path);
    const { status, text } = await get(path);
    expect([path, status]).toEqual([path, 200]);
    if (path.startsWith("/docs/files/")) continue;
    const links = [...text.matchAll(/(?:href|src)="(\/docs[^"#]*)/g)].map(([, link = ""]) => link);
    waiting.push(...links.filter((link) => link !== "/docs/api"));
  }
  expect([...seen]).toEqual(
    expect.arrayContaining(["/docs/exec", "/docs/automations", "/docs/glossary", "/docs/style.css"]),
  );
  expect(seen.size).toBeGreaterThan(60);
});

test("a page has the title, the anchors of its headings and no script, and marks itself in the contents", async () => {
  const { text, type } = await openSite()("/docs/exit-codes");
  expect(type).toBe("text/html; charset=utf-8");
  expect(text).toMatch(/<title>Exit codes · agentcli and platform<\/title>/);
  expect(text).toMatch(/<h1 id="exit-codes"><a class="anchor" href="#exit-codes">Exit codes<\/a><\/h1>/);
  expect(text).toContain('<a href="/docs/exit-codes" aria-current="page">');
  expect(text).not.toMatch(/<script|Generated from/);
});

test("examples are shown as text, and nothing outside the site is read", async () => {
  const get = openSite();
  const example = await get("/docs/files/examples/workflows/review.yml");
  expect([example.status, example.type]).toEqual([200, "text/plain; charset=utf-8"]);
  const others = [
    "nothing",
    "../web/index.html",
    "%2e%2e/web/index.html",
    "files/../../platform.mjs",
    "files",
    "screenshots/",
    "/etc/passwd",
  ];
  for (const path of others) expect([path, (await get(`/docs/${path}`)).status]).toEqual([path, 404]);
});
