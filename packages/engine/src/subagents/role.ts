// Roles of sub-agents.
import type { SandboxMode } from "@agentcli/protocol";

export interface AgentRole {
  name: string;
  /** Tells the model when to use it. */
  description: string;
  instructions: string;
  /** `inherit` is the model of the parent. */
  model: string;
  /** Absent: where models of that name are. */
  provider?: string;
  effort?: string;
  /** Can only narrow what the parent may do. */
  sandbox?: SandboxMode;
  /** Names of its tools; absent: all tools of the parent. */
  tools?: string[];
  /** Absent: the name of the role. */
  nicknames?: string[];
}

export const builtInRoles: AgentRole[] = [
  {
    name: "default",
    description: "A general agent with the same abilities as this one.",
    instructions: "",
    model: "inherit",
  },
  {
    name: "explorer",
    description:
      "Answers one specific question about the code without changing anything. Give it a question that can be answered on its own; several can run beside each other.",
    instructions:
      "You answer a question about this repository. Change nothing. Search widely, read what matters, and answer with facts: name files and lines, quote what decides, and say what you could not find. Keep the answer short enough to be read at once.",
    model: "inherit",
    sandbox: "read-only",
  },
  {
    name: "test_writer",
    description: "Adds tests for behaviour that has none. Say which behaviour, and how the project runs its tests.",
    instructions:
      "You write tests and change nothing else. Follow the project's own test style and helpers. Test what users of the code see, one behaviour per test, and see each new test fail for the right reason before you rely on it. Run the tests, then report which you added, how to run them and what they showed; if the code is wrong, report that instead of changing it.",
    model: "inherit",
    sandbox: "workspace-write",
  },
  {
    name: "worker",
    description:
      "Does one bounded piece of work, such as a change in files that no other agent is changing. Say which files are its own.",
    instructions:
      "You do one piece of a larger task. Others work in the same repository: touch only what your task names, and leave changes you did not make alone. Prove that your part works, then report what you changed and what you checked.",
    model: "inherit",
  },
];

const strictness: Record<SandboxMode, number> = { "danger-full-access": 0, "workspace-write": 1, "read-only": 2 };

/** Never wider than the parent. */
export const narrower = (parent: SandboxMode, requested: SandboxMode | undefined): SandboxMode =>
  requested && strictness[requested] > strictness[parent] ? requested : parent;
