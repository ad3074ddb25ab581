// A custom agent: who it is, what it is told, and how far it is held back. A role only ever narrows what its parent may do.
import type { SandboxMode } from "@agentcli/protocol";

export interface AgentRole {
  name: string;
  /** When to use it, for the model that delegates. */
  description: string;
  /** What it is told beside the task; empty for none. */
  instructions: string;
  /** A model of its own, or its parent's. */
  model: string | "inherit";
  effort?: string;
  sandbox?: SandboxMode;
  /** The only tools it gets; all of its parent's where absent. */
  tools?: string[];
  readonly: boolean;
  /** The file it comes from, or `built-in`. */
  source: string;
}

/** What a definition says; what it leaves out comes from one of the same name further out, or is the default. */
export type RoleDefinition = Pick<AgentRole, "name" | "description" | "instructions" | "source"> &
  Partial<Omit<AgentRole, "name" | "description" | "instructions" | "source">>;

export const builtInRoles: AgentRole[] = [
  {
    name: "default",
    description: "A general agent with the same abilities as this one.",
    instructions: "",
    model: "inherit",
    readonly: false,
    source: "built-in",
  },
  {
    name: "explorer",
    description:
      "Answers one specific question about the code without changing anything. Give it a question that can be answered on its own; several can run beside each other.",
    instructions:
      "You answer a question about this repository. Change nothing. Search widely, read what matters, and answer with facts: name files and lines, quote what decides, and say what you could not find. Keep the answer short enough to be read at once.",
    model: "inherit",
    readonly: true,
    source: "built-in",
  },
  {
    name: "worker",
    description:
      "Carries out one bounded piece of work, such as a change in files that nobody else is changing. Say which files are its own.",
    instructions:
      "You carry out one piece of a larger task. Others work in the same repository: touch only what your task names, and leave changes you did not make alone. Prove that your part works, then report what you changed and what you checked.",
    model: "inherit",
    readonly: false,
    source: "built-in",
  },
];

export const completeRole = (definition: RoleDefinition, outer: AgentRole | undefined): AgentRole => ({
  ...(outer ?? { model: "inherit", readonly: false }),
  ...definition,
});
