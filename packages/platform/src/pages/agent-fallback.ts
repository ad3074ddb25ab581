// An agent for browsers without JavaScript: what was asked, what came of it, and where the work is. Nothing can be changed here.
import { type AgentDetails, describeRunModel, outcomeWords, type RunWithPrompt } from "@agentcli/protocol/api";
import { type Html, html } from "./html.ts";

export const agentFallback = (agent: AgentDetails): Html => html`
<h1>${agent.name ?? agent.id}</h1>
<p>This page needs JavaScript to follow the agent. This is what there is so far.</p>
${agent.permissions.notice !== undefined && html`<p>${agent.permissions.notice}</p>`}
${agent.pullRequests.map(({ url, page }) => html`<p><a href="${page ?? url}">Pull request</a></p>`)}
${[...agent.runs].reverse().map(runSection)}
${
  agent.artifacts.length > 0 &&
  html`<h2>Files</h2><ul>${agent.artifacts.map(
    ({ path, sizeBytes }) =>
      html`<li><a href="/agents/${agent.id}/artifacts?path=${encodeURIComponent(path)}">${path}</a> ${sizeBytes} bytes</li>`,
  )}</ul>`
}`;

const runSection = ({ prompt, status, result, error, model, unsavedArtifacts = [] }: RunWithPrompt): Html => html`
<section>
<blockquote>${prompt}</blockquote>
${result !== undefined && html`<p>${result}</p>`}
<p><strong>${outcomeWords[status]}</strong> ${model && describeRunModel(model)}</p>
${error && html`<p>${error.code ?? "error"}: ${error.message}</p>`}
${unsavedArtifacts.map(({ path, message }) => html`<p>Not kept: ${path}: ${message}</p>`)}
</section>`;
