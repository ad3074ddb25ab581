// Routes of the pages of agents: the API's actions for logged-in users.
import { CreateAgent, CreateRun } from "@agentcli/protocol/api";
import {
  archiveAgent,
  cancelRun,
  readAgentPage,
  readConversation,
  readLatestModels,
  unarchiveAgent,
} from "../agents/index.ts";
import { ApiError, validate } from "../foundation/index.ts";
import { listModels } from "../inference/index.ts";
import { shownArtifacts, streamRun } from "../runs/index.ts";
import { addAgentFiles } from "./agent-files.ts";
import { agentPage, agentsPage } from "./agent-pages.ts";
import type { Fields } from "./form.ts";
import type { PageHost, Pages } from "./host.ts";
import { answerPage } from "./layout.ts";
import { visitorOf } from "./session.ts";
import { sharedView } from "./shared-view.ts";
import { submissionOf } from "./submission.ts";

export function addAgentPages(pages: Pages, host: PageHost): void {
  addList(pages, host);
  addOne(pages, host);
  addActions(pages, host);
  addAgentFiles(pages, host);
}

function addList(pages: Pages, { platform, agents, repositories: { githost } }: PageHost): void {
  pages.get("/agents", async (context, visitor) => {
    // The URL that API v0 returns.
    const id = context.req.query("id");
    if (id !== undefined) return context.redirect(`/agents/${encodeURIComponent(id)}`);
    const { teamId } = visitor.principal;
    const page = await readAgentPage(agents, visitor.principal, context.req.query("cursor"));
    const repositories = (await githost.repositories.list(teamId)).map(({ name }) => ({
      name,
      url: githost.cloneUrl(name),
    }));
    const body = agentsPage({
      agents: page.items,
      latestModels: await readLatestModels(agents, page.items),
      next: page.nextCursor,
      repositories,
      models: listModels(platform.settings.models),
      token: visitor.formToken,
    });
    return answerPage(context, { title: "Agents", visitor, body });
  });

  pages.form("/agents", async (context, visitor, fields) => {
    const { webhook: _, ...request } = validate(CreateAgent, agentIn(fields), "body");
    const { agentId } = await agents.submit.createAgent(request, submissionOf(context, visitor, fields));
    return context.redirect(`/agents/${agentId}`, 303);
  });
}

function addOne(pages: Pages, { platform, identity, agents, repositories: { githost }, streams }: PageHost): void {
  pages.get("/agents/:id", async (context, visitor) => {
    const { principal } = visitor;
    const found = await agents.access.find(principal, context.req.param("id") ?? "", "read");
    const view = await readConversation(agents, found);
    const pulls = new Map(
      view.runs.flatMap(({ git }) =>
        (git?.branches ?? []).flatMap(({ prUrl }) => {
          const own = prUrl && githost.readPullRequestUrl(prUrl);
          return prUrl && own ? [[prUrl, `/repositories/${own.name}/pulls/${own.number}`] as const] : [];
        }),
      ),
    );
    const shared = await sharedView(agents, principal, found);
    const artifacts = await shownArtifacts(platform, found);
    const body = agentPage({ ...view, pulls, artifacts, shared, token: visitor.formToken });
    return answerPage(context, { title: view.agent.name ?? "Agent", visitor, body, scripts: ["/assets/stream.js"] });
  });

  pages.get("/agents/:id/runs/:runId/stream", async (context, { principal }) => {
    const { id = "", runId = "" } = context.req.param();
    const whoAsks = async () => {
      const visitor = await visitorOf(identity.sessionAuthenticator, context);
      if (!visitor) throw new ApiError("unauthorized", "The session has ended. Log in again.");
      return visitor.principal;
    };
    return streamRun(context, { ...streams, principal, authenticate: whoAsks, agentId: id, runId });
  });
}

function addActions(pages: Pages, { platform, agents }: PageHost): void {
  const { access, submit } = agents;

  pages.form("/agents/:id/runs", async (context, visitor, fields) => {
    const request = validate(CreateRun, { prompt: { text: fields.prompt ?? "" } }, "body");
    const submission = submissionOf(context, visitor, fields);
    const { agentId } = await submit.createRun(context.req.param("id") ?? "", request, submission);
    return context.redirect(`/agents/${agentId}`, 303);
  });

  pages.form("/agents/:id/runs/:runId/cancel", async (context, { principal }) => {
    const { id = "", runId = "" } = context.req.param();
    const agent = await access.findToCancel(principal, id, runId);
    await cancelRun(platform, runId.toLowerCase());
    return context.redirect(`/agents/${agent.id}`, 303);
  });

  for (const [verb, act] of [
    ["archive", archiveAgent],
    ["unarchive", unarchiveAgent],
  ] as const)
    pages.form(`/agents/:id/${verb}`, async (context, { principal }) => {
      const agent = await access.find(principal, context.req.param("id") ?? "", "manage");
      await act(platform, agent.id);
      return context.redirect(`/agents/${agent.id}`, 303);
    });
}

const agentIn = ({ prompt = "", repository = "", model = "", mode = "agent", pullRequest }: Fields) => ({
  prompt: { text: prompt },
  mode,
  ...(model !== "" && { model: { id: model } }),
  ...(repository !== "" && { repos: [{ url: repository }], autoCreatePR: pullRequest === "on" }),
});
