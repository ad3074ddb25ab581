// Instructions, rules and skills in the repositories of an agent, joined.
import type { Repository } from "@agentcli/engine";
import {
  openContext,
  type ProjectContext,
  type PromptTexts,
  repositorySkillRoots,
  type ThreadTexts,
} from "@agentcli/project";

export type Instructions = Omit<ProjectContext, "sources">;

/** `cwd` is the working directory of the model: the parent of its repositories if there are several. */
export function readInstructions(roots: string[], cwd: string, contextWindow: number): Instructions {
  const contexts = roots.map((each) =>
    openContext({
      root: each,
      cwd: each,
      home: null,
      skills: { roots: repositorySkillRoots(each, each), catalogue: "listed" },
      contextWindow,
    }),
  );
  return {
    forThread: () => joined(contexts.map((context) => context.forThread())),
    forPrompt: (prompt) => joinedPrompts(contexts.map((context) => context.forPrompt(prompt))),
    repository: joinedRepository(contexts, cwd),
  };
}

const joined = (texts: ThreadTexts[]): ThreadTexts => ({
  rules: texts.flatMap(({ rules }) => rules),
  catalogues: texts.flatMap(({ catalogues }) => catalogues),
  warnings: texts.flatMap(({ warnings }) => warnings),
});

const joinedPrompts = (texts: PromptTexts[]): PromptTexts => ({
  messages: texts.flatMap(({ messages }) => messages),
  warnings: texts.flatMap(({ warnings }) => warnings),
});

/** Paths are as the model wrote them: relative to its working directory. */
function joinedRepository(contexts: ProjectContext[], cwd: string): Repository {
  return {
    async textsFor(touched, given) {
      const paths = touched.map((path) => (path.startsWith("/") ? path : `${cwd}/${path}`));
      const read = await Promise.all(contexts.map(({ repository }) => repository.textsFor(paths, given)));
      return { texts: read.flatMap(({ texts }) => texts), warnings: read.flatMap(({ warnings }) => warnings) };
    },
  };
}
