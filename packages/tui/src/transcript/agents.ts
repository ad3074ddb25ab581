// Sub-agents that work now, as a tree: one line each, with what it does.
import type { Notice } from "@agentcli/surfaces/app-server";
import { cutLine, type Line, span, visible } from "../text/index.ts";
import { commandText } from "./cells.ts";

export interface Agents {
  /** A notification of a thread other than the own. */
  notice(notice: Notice): void;
  /** What it was started for. */
  assign(id: string, task: string): void;
  rows(columns: number): Line[];
  clear(): void;
}

interface AgentEntry {
  name: string;
  task: string;
  parentId: string | null;
  doing: string;
  isActive: boolean;
}

export function openAgents(): Agents {
  const agents = new Map<string, AgentEntry>();
  const entry = (id: string): AgentEntry => {
    const known = agents.get(id) ?? { name: "agent", task: "", parentId: null, doing: "starting", isActive: true };
    agents.set(id, known);
    return known;
  };
  return {
    notice(notice) {
      switch (notice.method) {
        case "thread/started": {
          const { id, agentRole, agentNickname, parentThreadId } = notice.params.thread;
          if (!parentThreadId) return;
          Object.assign(entry(id), {
            name: visible(agentNickname ?? agentRole ?? "agent"),
            parentId: parentThreadId,
          });
          return;
        }
        case "turn/started":
          Object.assign(entry(notice.params.threadId), { doing: "thinking", isActive: true });
          return;
        case "turn/completed":
          Object.assign(entry(notice.params.threadId), { doing: notice.params.turn.status, isActive: false });
          return;
        case "item/started":
          entry(notice.params.threadId).doing = phrase(notice.params.item);
          return;
        default:
          return;
      }
    },
    assign(id, task) {
      entry(id).task = visible(task).replace(/\s+/g, " ").trim();
    },
    rows(columns) {
      const shown = [...agents];
      if (!shown.some(([, { isActive }]) => isActive)) return [];
      const line = ([, agent]: [string, AgentEntry], index: number): Line => {
        const branch = `${"  ".repeat(depthOf(agent, agents) + 1)}${index === shown.length - 1 ? "└" : "├"} `;
        const name = span(agent.name, { color: "magenta", ...(agent.isActive && { bold: true }) });
        const task = agent.task === "" ? [] : cutLine([span(` ${agent.task} ·`)], Math.floor(columns / 2));
        return cutLine(
          [span(branch, { dim: true }), name, ...task, span(` ${agent.doing}`, { dim: true })],
          columns - 1,
        );
      };
      return [[], [span("◆ ", { color: "magenta", bold: true }), span("Agents", { bold: true })], ...shown.map(line)];
    },
    clear: () => agents.clear(),
  };
}

function depthOf({ parentId }: AgentEntry, agents: Map<string, AgentEntry>): number {
  let depth = 0;
  for (let parent = parentId; parent !== null && agents.has(parent) && depth < 8; depth++)
    parent = agents.get(parent)?.parentId ?? null;
  return depth;
}

type Item = Extract<Notice, { method: "item/started" }>["params"]["item"];

function phrase(item: Item): string {
  if (item.type === "commandExecution") return `running ${visible(commandText(item)).split("\n")[0]}`;
  if (item.type === "mcpToolCall") return `calling ${visible(`${item.server}/${item.tool}`)}`;
  if (item.type === "fileChange") return "editing";
  return item.type === "agentMessage" ? "answering" : "thinking";
}
