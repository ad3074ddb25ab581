// The pages of agents: the web app, for visitors who may see what they show.
import type { Context } from "hono";
import { readDetails } from "../agents/index.ts";
import type { Env } from "../foundation/index.ts";
import { linkArtifact } from "../runs/index.ts";
import { agentFallback } from "./agent-fallback.ts";
import type { PageHost, Pages } from "./host.ts";
import { type Html, html } from "./html.ts";
import { navigation } from "./layout.ts";
import { isAdmin, teamNameOf, type Visitor } from "./session.ts";
import { openWebApp } from "./web-files.ts";

export function addAgentPages(pages: Pages, host: PageHost): void {
  const { api, agents, overview } = host;
  const app = openWebApp();
  api.app.get("/push-worker.js", (context) => app.worker(context));
  api.app.get("/assets/web/:name", (context) => app.file(context, context.req.param("name")));
  const answer = async (context: Context<Env>, visitor: Visitor, fallback: Html = needsScript) =>
    app.document(context, {
      session: await sessionOf(host, context, visitor),
      fallback: html`${navigation(visitor)}${fallback}`,
    });

  pages.get("/agents", async (context, visitor) => {
    // The URL that API v0 returns.
    const id = context.req.query("id");
    return id === undefined ? answer(context, visitor) : context.redirect(`/agents/${encodeURIComponent(id)}`);
  });
  for (const path of appPaths) pages.get(path, (context, visitor) => answer(context, visitor));

  for (const path of agentPaths)
    pages.get(path, async (context, visitor) => {
      const { principal } = visitor;
      const agent = await agents.access.find(principal, context.req.param("id") ?? "", "read");
      return answer(context, visitor, agentFallback(await readDetails(overview, principal, agent)));
    });
  pages.get("/agents/:id/artifacts", async (context, visitor) => {
    const agent = await agents.access.find(visitor.principal, context.req.param("id") ?? "", "read");
    const { url } = await linkArtifact(agents, agent, context.req.query("path") ?? "");
    return context.redirect(url);
  });
}

const agentPaths = ["", "/changes", "/files", "/waits", "/events", "/usage", "/machine"].map(
  (tab) => `/agents/:id${tab}`,
);

/** Pages of the app whose data is fetched by the app alone. */
const appPaths = [
  "/agents/new",
  "/compare",
  "/inbox",
  "/automations",
  "/automations/:id",
  "/environments",
  "/environments/:id",
  "/environments/:id/builds/:build",
  "/environments/:id/diff",
  "/api-reference",
  "/secrets",
  "/usage",
  "/audit",
  "/members",
  "/keys",
  "/service-accounts",
  "/settings",
  "/repositories",
  "/repositories/:name",
  "/repositories/:name/commits",
  "/repositories/:name/commits/:commit",
  "/repositories/:name/pulls",
  "/repositories/:name/pulls/:number",
  "/accounts",
  "/sessions",
  "/workers",
  "/design",
];

const needsScript = html`<p>This page needs JavaScript. Enable it, or use the <a href="/docs/api">API</a>.</p>`;

async function sessionOf({ platform: { db } }: PageHost, context: Context<Env>, visitor: Visitor) {
  const { principal, formToken } = visitor;
  const notice = context.get("notice") ?? null;
  const { userId, email } = principal;
  return { userId, email, team: await teamNameOf(db, visitor), isAdmin: isAdmin(visitor), formToken, notice };
}
