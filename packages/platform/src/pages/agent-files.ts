// Changes and artifacts of an agent, on its pages.
import { wholePatch } from "../agents/index.ts";
import type { RepositoryChange } from "../repositories/index.ts";
import { linkArtifact } from "../runs/index.ts";
import { diffView } from "./diff-view.ts";
import type { PageHost, Pages } from "./host.ts";
import { type Html, html } from "./html.ts";
import { answerPage } from "./layout.ts";

const diffLimitMs = 60_000;

export function addAgentFiles(pages: Pages, { api, agents, repositories: { diffs } }: PageHost): void {
  pages.get("/agents/:id/diff", async (context, visitor) => {
    api.admission.admitGitProcess(context, visitor.principal.teamId);
    const { id } = await agents.access.find(visitor.principal, context.req.param("id") ?? "", "read");
    const changes = await diffs.read(id, AbortSignal.timeout(diffLimitMs));
    const repository = context.req.query("repository");
    if (repository !== undefined) return wholePatch(changes, repository);
    return answerPage(context, { title: "Changes", visitor, body: diffPage(id, changes) });
  });
  pages.get("/agents/:id/artifacts", async (context, visitor) => {
    const agent = await agents.access.find(visitor.principal, context.req.param("id") ?? "", "read");
    const { url } = await linkArtifact(agents, agent, context.req.query("path") ?? "");
    return context.redirect(url);
  });
}

const diffPage = (agentId: string, changes: RepositoryChange[]): Html => html`
<section class="title"><h1>Changes</h1><p><a href="/agents/${agentId}">Back to the agent</a></p></section>
${changes.length === 0 && html`<p class="empty">It has no repository, or has not fetched it yet.</p>`}
${changes.map(
  ({ repoUrl, branch, patch }) =>
    html`<h2>${repoUrl} <code>${branch}</code></h2>${diffView(patch, { wholeUrl: `?${new URLSearchParams({ repository: repoUrl })}` })}`,
)}`;
