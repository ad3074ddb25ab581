// What kind of worker a sub-agent is.
import type { SandboxMode } from "@agentcli/protocol";

export interface AgentRole {
  name: string;
  /** Tells the model when to use it. */
  description: string;
  instructions: string;
  /** `inherit` is the model of the parent. */
  model: string;
  effort?: string;
  /** Can only narrow what the parent may do. */
  sandbox?: SandboxMode;
  /** Names of the tools it has; absent: all that the parent has. */
  tools?: string[];
}

export const builtInRoles: AgentRole[] = [
  { name: "default", description: "A general worker.", instructions: "", model: "inherit" },
  {
    name: "explorer",
    description: "Answers a specific question about the code. Reads only.",
    instructions:
      "You answer one question about this code base for another agent. Read and search, change nothing. Answer with facts, file paths and line numbers; say what you could not find.",
    model: "inherit",
    sandbox: "read-only",
  },
  {
    name: "worker",
    description: "Carries out one well-defined piece of work.",
    instructions:
      "You carry out one piece of work for another agent, who will read your last message. Do exactly that piece; others may be changing other files at the same time. Report what you changed and how you verified it.",
    model: "inherit",
  },
];

const strictness: Record<SandboxMode, number> = { "danger-full-access": 0, "workspace-write": 1, "read-only": 2 };

/** Never wider than the parent. */
export const narrower = (parent: SandboxMode, wanted: SandboxMode | undefined): SandboxMode =>
  wanted && strictness[wanted] > strictness[parent] ? wanted : parent;
