// A thread as a Markdown document for people.
import type { StoredRecord } from "@agentcli/engine";
import type { ExecEvent, RecordOf, ThreadItem } from "@agentcli/protocol";
import { execEvents } from "@agentcli/surfaces/exec-jsonl";

export function toMarkdown(records: StoredRecord[]): string {
  const project = execEvents();
  const sections = records.flatMap((stored) => {
    const events = project(stored);
    const { record } = stored;
    if (record.type === "thread.created") return [heading(record, stored.at)];
    if (record.type === "turn.begun") return [prompt(record, stored.at)];
    if (record.type === "context.compacted") return [`_The history up to here was summarised._`];
    return events.map(showEvent).filter((text) => text !== "");
  });
  return `${sections.join("\n\n")}\n`;
}

function heading({ threadId, settings, forkedFrom, worktree }: RecordOf<"thread.created">, at: string): string {
  const facts = [
    `Started: ${at}`,
    `Directory: ${settings.cwd}`,
    ...(forkedFrom ? [`Forked from: ${forkedFrom}`] : []),
    ...(worktree ? [`Worktree: ${worktree.path} (branch ${worktree.branch})`] : []),
  ];
  return `# Session ${threadId}\n\n${facts.map((fact) => `- ${fact}`).join("\n")}`;
}

function prompt({ input, settings, tags }: RecordOf<"turn.begun">, at: string): string {
  const words = input.map((part) => (part.type === "text" ? part.text : `[image ${part.name ?? ""}]`)).join("\n");
  const labels = Object.entries(tags ?? {}).map(([key, value]) => ` · ${key}=${value}`);
  return `## Prompt\n\n_${at} · ${settings.model} · ${settings.sandbox}${labels.join("")}_\n\n${quoted(words)}`;
}

function showEvent(event: ExecEvent): string {
  switch (event.type) {
    case "item.completed":
      return showItem(event.item);
    case "turn.completed":
      return `_Completed: ${event.usage.input_tokens} tokens in, ${event.usage.output_tokens} out._`;
    case "turn.failed":
      return `**Failed (${event.error.code}):** ${event.error.message}`;
    case "error":
      return `**Error:** ${event.message}`;
    case "thread.started":
    case "turn.started":
    case "item.started":
    case "item.updated":
      return "";
  }
}

function showItem(item: ThreadItem): string {
  switch (item.type) {
    case "agent_message":
      return item.text;
    case "reasoning":
      return quoted(item.text);
    case "command_execution": {
      const how = item.exit_code === null ? item.status : `exit code ${item.exit_code}`;
      const why = item.reason ? ` (${item.reason})` : "";
      return `${fenced(`$ ${item.command}\n${item.aggregated_output}`)}\n\n_${how}${why}_`;
    }
    case "web_search":
      return `Web: ${item.query}`;
    case "file_change": {
      const changes = item.changes.map(({ kind, path }) => `- ${kind} \`${path}\``).join("\n");
      return `Files, ${item.status}${item.reason ? ` (${item.reason})` : ""}:\n\n${changes}`;
    }
    case "todo_list":
      return item.items.map(({ text, completed }) => `- [${completed ? "x" : " "}] ${text}`).join("\n");
    case "mcp_tool_call":
      return `Tool \`${item.tool}\` of \`${item.server}\`: ${item.status}`;
    case "mcp_server":
      return `MCP server \`${item.name}\`: ${item.status}${item.reason ? ` (${item.reason})` : ""}`;
    case "collab_tool_call":
      return `Agents, ${item.tool}: ${Object.entries(item.agents_states)
        .map(([id, { status }]) => `\`${id}\` ${status}`)
        .join(", ")}`;
    case "hook":
      return item.status === "completed" ? "" : `_Hook ${item.event} ${item.status}: ${item.reason}_`;
    case "error":
      return `**Warning:** ${item.message}`;
  }
}

const quoted = (text: string): string =>
  text
    .split("\n")
    .map((line) => `> ${line}`.trimEnd())
    .join("\n");

/** The fence is longer than any within. */
function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}\n${text.trimEnd()}\n${fence}`;
}
