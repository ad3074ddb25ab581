// The tools with which a model uses sub-agents.
import type { AgentRole } from "../subagents/role.ts";
import { builtIn } from "./offer.ts";
import type { Tool } from "./tool.ts";

export const agentTools = (roles: AgentRole[]): Tool[] => [
  builtIn({
    name: "spawn_agent",
    description: `Start a sub-agent on a task of its own; it works beside you and shares the files. Only for parts that are independent. agent_type: ${roles.map((role) => `${role.name}: ${role.description}`).join(" ")}`,
    onResume: "once",
    createsWithId: true,
    parallel: true,
  }),
  builtIn({
    name: "send_input",
    description:
      "Give a sub-agent another message; it works on it when it is done with the one before, or at once with interrupt.",
    onResume: "once",
    createsWithId: true,
    parallel: false,
  }),
  builtIn({
    name: "wait_agent",
    description: "Wait until one of these sub-agents ends, and read its final message.",
    onResume: "rerun",
    parallel: false,
  }),
  builtIn({
    name: "close_agent",
    description: "Close a sub-agent that is no longer needed; one that is still working is stopped.",
    onResume: "rerun",
    parallel: false,
  }),
  builtIn({
    name: "resume_agent",
    description: "Open a closed sub-agent again, to send it more input.",
    onResume: "rerun",
    parallel: false,
  }),
];
