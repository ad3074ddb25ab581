// What the pages of agents show and do: the same as the API, for whoever is logged in.
import { CreateAgent, CreateRun } from "@agentcli/protocol/api";
import {
  archiveAgent,
  cancelRun,
  checkModel,
  createAgent,
  createRun,
  findToFollowUp,
  readAgentPage,
  readConversation,
  unarchiveAgent,
} from "../agents/index.ts";
import { shownArtifacts } from "../artifacts/index.ts";
import { listModels } from "../catalogue/index.ts";
import { ApiProblem, invalid } from "../http/index.ts";
import { streamRun } from "../streams/index.ts";
import { addAgentFiles } from "./agent-files.ts";
import { agentPage, agentsPage } from "./agent-pages.ts";
import type { Fields } from "./form.ts";
import type { PageHost } from "./host.ts";
import { answerPage } from "./layout.ts";
import type { Pages } from "./routes.ts";
import { doorOf, type Visitor, visitorOf } from "./session.ts";
import { sharedView } from "./shared-view.ts";

export function addAgentPages(pages: Pages, host: PageHost): void {
  addList(pages, host);
  addOne(pages, host);
  addDeeds(pages, host);
  addAgentFiles(pages, host);
}

function addList(pages: Pages, { platform, agents, githost }: PageHost): void {
  pages.get("/agents", async (context, visitor) => {
    // The address that v0 gives out.
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
      next: page.nextCursor,
      repositories,
      models: listModels(platform.settings.models),
      token: visitor.formToken,
    });
    return answerPage(context, { title: "Agents", visitor, body });
  });

  pages.form("/agents", async (context, visitor, fields) => {
    const wish = read(CreateAgent, wishOf(fields));
    checkModel(wish.model, platform.settings);
    await agents.checkRepositories(visitor.principal, wish.repos ?? []);
    const { agentId } = await platform.db
      .transaction()
      .execute((tx) =>
        createAgent(
          { tx, platform, asking: asking(visitor, context.get("requestId")) },
          { ...wish, webhook: undefined },
        ),
      );
    return context.redirect(`/agents/${agentId}`, 303);
  });
}

function addOne(pages: Pages, { platform, agents, githost, streams }: PageHost): void {
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

  const door = doorOf(platform);
  pages.get("/agents/:id/runs/:runId/stream", async (context, { principal }) => {
    const { id = "", runId = "" } = context.req.param();
    const whoAsks = async () => {
      const visitor = await visitorOf(door, context);
      if (!visitor) throw new ApiProblem("unauthorized", "The session is over. Log in again.");
      return visitor.principal;
    };
    return streamRun(context, { ...streams, principal, whoAsks, agentId: id, runId });
  });
}

function addDeeds(pages: Pages, { platform, agents }: PageHost): void {
  const { db } = platform;
  const { access } = agents;

  pages.form("/agents/:id/runs", async (context, visitor, { prompt = "" }) => {
    const agent = await findToFollowUp(agents, visitor.principal, context.req.param("id") ?? "");
    const wish = read(CreateRun, { prompt: { text: prompt } });
    await db
      .transaction()
      .execute((tx) => createRun({ tx, platform, asking: asking(visitor, context.get("requestId")) }, agent.id, wish));
    return context.redirect(`/agents/${agent.id}`, 303);
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

const asking = ({ principal }: Visitor, requestId: string) => ({ principal, requestId, source: "WEBSITE" });

const wishOf = ({ prompt = "", repository = "", model = "", mode = "agent", pullRequest }: Fields) => ({
  prompt: { text: prompt },
  mode,
  ...(model !== "" && { model: { id: model } }),
  ...(repository !== "" && { repos: [{ url: repository }], autoCreatePR: pullRequest === "on" }),
});

interface Schema<Value> {
  safeParse(
    value: unknown,
  ): { success: true; data: Value } | { success: false; error: { issues: { message: string }[] } };
}

function read<Value>(schema: Schema<Value>, value: unknown): Value {
  const parsed = schema.safeParse(value);
  if (!parsed.success) throw invalid(parsed.error.issues.map(({ message }) => message));
  return parsed.data;
}
