// The pages of agents: the list with a form for a new agent, and one agent with its runs.
import {
  type Agent,
  type AgentListItem,
  type Artifact,
  describeRunModel,
  outcomeWords,
  type Run,
  type RunModel,
  type UnsavedArtifact,
} from "@agentcli/protocol/api";
import { type Html, html } from "./html.ts";
import { hiddenToken, moment } from "./layout.ts";
import type { SharedView } from "./shared-view.ts";
import { hiddenSubmission } from "./submission.ts";

export interface AgentsView {
  agents: AgentListItem[];
  repositories: { name: string; url: string }[];
  models: { id: string; displayName: string }[];
  /** By agent. */
  latestModels: Map<string, RunModel>;
  token: string;
  next: string | undefined;
}

export const agentsPage = ({ agents, latestModels, repositories, models, token, next }: AgentsView): Html => html`
<section class="card">
<h1>New agent</h1>
<form method="post" action="/agents">
${hiddenToken(token)}${hiddenSubmission()}
<label>What should it do?<textarea name="prompt" rows="3" required placeholder="Fix the failing test"></textarea></label>
<div class="row">
<label>Repository<select name="repository"><option value="">None</option>
${repositories.map(({ name, url }, index) => html`<option value="${url}"${index === 0 && html` selected`}>${name}</option>`)}
</select></label>
<label>Model<select name="model">${models.map(({ id, displayName }) => html`<option value="${id}">${displayName}</option>`)}</select></label>
<label>Mode<select name="mode"><option value="agent">Work</option><option value="plan">Plan only</option></select></label>
<label class="check"><input type="checkbox" name="pullRequest" checked> Open a draft pull request</label>
<button>Start</button>
</div>
</form>
</section>
<section>
<h2>Agents</h2>
${
  agents.length === 0
    ? html`<p class="empty">No agents yet. Start one above.</p>`
    : html`<table>
<thead><tr><th>Name</th><th>Status</th><th>Model</th><th>Repository</th><th>Created</th></tr></thead>
<tbody>${agents.map((agent) => agentRow(agent, latestModels.get(agent.id)))}</tbody>
</table>`
}
${next && html`<p><a href="/agents?cursor=${next}">Older agents</a></p>`}
</section>`;

const agentRow = (
  { id, name, status, repos = [], createdAt }: AgentListItem,
  model: RunModel | undefined,
): Html => html`<tr>
<td><a href="/agents/${id}">${name ?? id}</a></td>
<td>${badge(status)}</td>
<td>${model && html`<span class="model">${describeRunModel(model)}</span>`}</td>
<td>${repos.map(({ url }) => html`<span class="repo">${url.replace(/^https?:\/\//, "")}</span>`)}</td>
<td>${moment(createdAt)}</td>
</tr>`;

export interface AgentView {
  agent: Agent;
  /** Newest first. */
  runs: (Run & { prompt: string })[];
  token: string;
  /** Pull requests of the embedded git host, by URL. */
  pulls: Map<string, string>;
  artifacts: Artifact[];
  shared: SharedView;
}

export function agentPage({ agent, runs, token, pulls, artifacts, shared }: AgentView): Html {
  const [latest] = runs;
  const isActive = agent.status === "ACTIVE";
  return html`
<section class="title">
<div><h1>${agent.name ?? agent.id}</h1>
<p class="facts">${badge(agent.status)} <code>${agent.id}</code> ${moment(agent.createdAt)}</p></div>
<div class="row">
${agent.repos !== undefined && html`<a href="/agents/${agent.id}/diff">Diff</a>`}
${shared.mayCancel && isActive && latest && button(`/agents/${agent.id}/runs/${latest.id}/cancel`, "Cancel", token)}
${shared.mayManage && (agent.status === "ARCHIVED" ? button(`/agents/${agent.id}/unarchive`, "Unarchive", token) : button(`/agents/${agent.id}/archive`, "Archive", token))}
</div>
</section>
${shared.notice !== null && html`<p class="facts">${shared.notice}</p>`}
${branches(latest, pulls)}
${artifactList(agent.id, artifacts)}
${[...runs].reverse().map((run) => runSection(agent.id, run))}
${
  agent.status === "IDLE" &&
  shared.mayFollowUp &&
  html`<section class="card">
<form method="post" action="/agents/${agent.id}/runs">
${hiddenToken(token)}${hiddenSubmission()}
<label>Follow up<textarea name="prompt" rows="2" required></textarea></label>
<button>Send</button>
</form>
</section>`
}`;
}

/** A repository without changes has no branch. */
function branches(run: Run | undefined, pulls: Map<string, string>): Html | false {
  const shown = (run?.git?.branches ?? []).filter(({ branch, heldBack }) => branch !== undefined || heldBack);
  return (
    shown.length > 0 &&
    html`<section class="card"><h2>Changes</h2><ul class="plain">${shown.map(
      ({ repoUrl, branch, prUrl, heldBack = [] }) =>
        html`<li>${branch !== undefined && html`<code>${branch}</code> in `}${repoUrl} ${prUrl && html`<a href="${pulls.get(prUrl) ?? prUrl}">Pull request</a>`}
${heldBack.length > 0 && html`<p class="facts">Held back, because they look like secrets or leftovers: ${heldBack.map(({ path }) => html`<code>${path}</code> `)}</p>`}</li>`,
    )}</ul></section>`
  );
}

/** Empty if the agent has no artifacts. */
const artifactList = (agentId: string, artifacts: Artifact[]): Html | false =>
  artifacts.length > 0 &&
  html`<section class="card"><h2>Files</h2><ul class="plain">${artifacts.map(
    ({ path, sizeBytes }) =>
      html`<li><a href="/agents/${agentId}/artifacts?path=${encodeURIComponent(path)}">${path}</a> ${sizeBytes} bytes</li>`,
  )}</ul></section>`;

/** Filled in by the stream; the result of an ended run is shown without it. */
const runSection = (
  agentId: string,
  { id, status, prompt, result, error, durationMs, model, unsavedArtifacts = [] }: Run & { prompt: string },
): Html => html`
<section class="run" id="${id}" data-stream="/agents/${agentId}/runs/${id}/stream" data-status="${status}">
<div class="message user">${prompt}</div>
<div class="steps"></div>
<noscript>${result && html`<div class="message assistant">${result}</div>`}</noscript>
<template class="fallback">${result}</template>
<p class="facts"><span class="status">${outcome(status)}</span> ${durationMs !== undefined && html`${(durationMs / 1000).toFixed(1)} s`} ${model && html`<span class="model">${describeRunModel(model)}</span>`}</p>
${error && html`<p class="problem"><strong>${error.code ?? "error"}</strong> ${error.message}</p>`}
${unsavedList(unsavedArtifacts)}
</section>`;

const unsavedList = (artifacts: UnsavedArtifact[]): Html | false =>
  artifacts.length > 0 &&
  html`<div class="problem"><strong>Files that were not kept</strong><ul class="plain">${artifacts.map(
    ({ path, message }) => html`<li>${path}: ${message}</li>`,
  )}</ul></div>`;

export const button = (action: string, text: string, token: string): Html =>
  html`<form method="post" action="${action}">${hiddenToken(token)}<button class="quiet">${text}</button></form>`;

export const badge = (status: string): Html =>
  html`<span class="badge ${status.toLowerCase()}">${status.toLowerCase()}</span>`;

const outcome = (status: Run["status"]): Html =>
  html`<span class="badge ${status.toLowerCase()}">${outcomeWords[status]}</span>`;
