// A thread as a document for people.
import type { Thread, ThreadItem } from "@agentcli/protocol/app-server";

export function exported(thread: Thread, format: "markdown" | "html"): string {
  const text = document(thread);
  return format === "markdown" ? text : page(thread.name ?? thread.id, text);
}

function document({ id, cwd, turns }: Thread): string {
  const sections = turns.flatMap(({ items }) => items.map(section)).filter((text) => text !== "");
  return `# Thread ${id}\n\nDirectory: ${cwd}\n\n${sections.join("\n\n")}\n`;
}

function section(item: ThreadItem): string {
  switch (item.type) {
    case "userMessage":
      return `## Prompt\n\n${item.content
        .map((part) => (part.type === "text" ? part.text : `[${part.type}]`))
        .join("\n")
        .replace(/^/gm, "> ")}`;
    case "agentMessage":
      return item.text;
    case "commandExecution":
      return fenced(
        `$ ${item.commandActions[0]?.command ?? item.command}\n${item.aggregatedOutput ?? ""}`,
        `exit code ${item.exitCode ?? "unknown"}`,
      );
    case "fileChange":
      return item.changes
        .map(({ path, kind, diff }) => `${kind.type} \`${path}\`\n\n${fenced(diff, item.status)}`)
        .join("\n\n");
    case "mcpToolCall":
      return `Tool \`${item.tool}\` of \`${item.server}\`: ${item.status}`;
    case "webSearch":
      return `Web: ${item.query}`;
    case "reasoning":
      return item.summary.join("\n\n").replace(/^/gm, "> ");
    default:
      return "";
  }
}

/** The fence is longer than any within. */
function fenced(text: string, state: string): string {
  const fence = "`".repeat(Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length)) + 1);
  return `${fence}\n${text.trimEnd()}\n${fence}\n\n_${state}_`;
}

const page = (title: string, text: string): string =>
  `<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>${escaped(title)}</title></head>\n<body><pre style="white-space: pre-wrap; max-width: 60rem; margin: 2rem auto">${escaped(text)}</pre></body></html>\n`;

const escaped = (text: string): string =>
  text.replace(/[&<>"]/g, (found) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[found] ?? found);
