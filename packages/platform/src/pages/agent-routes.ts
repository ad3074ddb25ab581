// The pages of agents: the web app, for visitors who may see what they show.
import { readDetails } from "../agents/index.ts";
import { ApiError } from "../foundation/index.ts";
import { linkArtifact } from "../runs/index.ts";
import { agentFallback } from "./agent-fallback.ts";
import type { AnswerApp } from "./app-shell.ts";
import type { PageHost, Pages } from "./host.ts";
import { html } from "./html.ts";

export function addAgentPages(pages: Pages, host: PageHost, answer: AnswerApp): void {
  const { agents, overview } = host;
  pages.get("/agents", async (context, visitor) => {
    // The URL that API v0 returns.
    const id = context.req.query("id");
    return id === undefined ? answer(context, { visitor }) : context.redirect(`/agents/${encodeURIComponent(id)}`);
  });
  for (const path of appPaths) pages.get(path, (context, visitor) => answer(context, { visitor }));

  for (const path of agentPaths)
    pages.get(path, async (context, visitor) => {
      const { principal } = visitor;
      try {
        const agent = await agents.access.find(principal, context.req.param("id") ?? "", "read");
        const fallback = agentFallback(await readDetails(overview, principal, agent));
        return await answer(context, { visitor, fallback });
      } catch (error) {
        if (!(error instanceof ApiError && error.status === 404)) throw error;
        return answer(context, { visitor, fallback: html`<h1>Not found</h1><p>${error.message}</p>`, status: 404 });
      }
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
