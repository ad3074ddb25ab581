// Instructions, rules and skills in the repositories of an agent, joined, with the paths that the model uses.
import { commandRoots, joinContexts, openContext, type ProjectContext, repositorySkillRoots } from "@agentcli/project";
import type { ContextMessage } from "@agentcli/protocol";
import type { AgentPaths } from "../agent-paths.ts";
import { withBuiltInSkills } from "./built-in-skills.ts";

export interface InstructionOptions {
  /** Working directory of the model, on the host: the parent of its repositories if there are several. */
  cwd: string;
  paths: AgentPaths;
  contextWindow: number;
  /** Skills and commands of other tools. */
  otherTools: "read" | "ignored";
}

export function readInstructions(roots: string[], options: InstructionOptions): ProjectContext {
  const { cwd, paths, contextWindow, otherTools } = options;
  const contexts = roots.map((root) =>
    openContext({
      root,
      cwd: root,
      home: null,
      skills: { roots: repositorySkillRoots({ root, cwd: root, otherTools }), catalogue: "listed" },
      commands: otherTools === "read" ? commandRoots({ root, cwd: root, userHome: null }) : [],
      contextWindow,
    }),
  );
  return withBuiltInSkills(seenInside(joinContexts(contexts, cwd), paths));
}

type Part = ContextMessage["parts"][number];

const partInside = (part: Part, toSandboxPath: AgentPaths["toSandboxPath"]): Part =>
  part.type === "text" ? { ...part, text: toSandboxPath(part.text) } : part;

const seenInside = (context: ProjectContext, { toSandboxPath, toHostPath }: AgentPaths): ProjectContext => ({
  sources: () => context.sources().map(toSandboxPath),
  async forThread() {
    const { rules, catalogues, warnings, ...texts } = await context.forThread();
    return {
      ...texts,
      rules: rules.map(toSandboxPath),
      catalogues: catalogues.map(toSandboxPath),
      warnings: warnings.map(toSandboxPath),
    };
  },
  async forPrompt(prompt) {
    const { messages, warnings } = await context.forPrompt(toHostPath(prompt));
    return {
      messages: messages.map(({ role, parts }) => ({
        role,
        parts: parts.map((part) => partInside(part, toSandboxPath)),
      })),
      warnings: warnings.map(toSandboxPath),
    };
  },
  repository: {
    async textsFor(touched, sent) {
      const read = await context.repository.textsFor(touched.map(toHostPath), sent.map(toHostPath));
      return {
        texts: read.texts.map(({ source, text }) => ({ source: toSandboxPath(source), text: toSandboxPath(text) })),
        warnings: read.warnings.map(toSandboxPath),
      };
    },
  },
});
