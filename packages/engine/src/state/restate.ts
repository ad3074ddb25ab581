// The state of the work as text: a summary written by a model may forget what still runs.
import type { AgentState } from "@agentcli/protocol";
import { truncateForModel } from "../output.ts";
import type { ThreadState } from "./state.ts";

export interface AgentOverview {
  id: string;
  nickname: string;
  role: string;
  status: AgentState["status"];
}

const maxEntries = 100;
const maxEntryLength = 300;
const maxTokens = 2_000;

/** Empty if there is nothing to state. */
export function restate({ work, backgroundProcesses, settings }: ThreadState, agents: AgentOverview[]): string {
  const sections = [
    section(
      "Your plan",
      work.plan.map(({ step, status }) => `[${status}] ${step}`),
    ),
    section(
      "Commands that still run (write_stdin, kill_session)",
      [...backgroundProcesses].map(([id, { command }]) => `session ${id}: ${command}`),
    ),
    section(
      "Your sub-agents (wait_agent, send_input, close_agent)",
      agents.map(({ id, nickname, role, status }) => `${id} (${nickname}, ${role}): ${status}`),
    ),
    section("Files you have changed", [...work.changedFiles]),
    section("Questions that the user has not answered", work.openQuestions),
  ];
  const text = sections.filter((part) => part !== "").join("\n");
  return truncateForModel(text, Math.min(maxTokens, Math.floor((settings?.compactAt ?? Infinity) / 8)));
}

function section(title: string, entries: string[]): string {
  if (entries.length === 0) return "";
  const shown = entries.slice(0, maxEntries).map((entry) => `- ${shortened(entry)}`);
  const rest = entries.length - shown.length;
  return [`${title}:`, ...shown, ...(rest > 0 ? [`- and ${rest} more`] : [])].join("\n");
}

const shortened = (entry: string): string =>
  entry.length <= maxEntryLength ? entry : `${entry.slice(0, maxEntryLength)}…`;
