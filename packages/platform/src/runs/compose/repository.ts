// What the repositories of an agent have written for the model: each for itself, told together.
import type { Repository } from "@agentcli/engine";
import {
  openContext,
  type ProjectContext,
  type PromptTexts,
  repositorySkillRoots,
  type ThreadTexts,
} from "@agentcli/project";
import type { OpenWorkspace } from "../../workspaces/index.ts";

export type Written = Omit<ProjectContext, "sources">;

export function readRepositories({ root, repositories }: OpenWorkspace, contextWindow: number): Written {
  const roots = repositories.length === 0 ? [root] : repositories.map(({ path }) => path);
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
    repository: joinedRepository(contexts, root),
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

/** Paths are as the model wrote them: from where it works, which is above its repositories where there are several. */
function joinedRepository(contexts: ProjectContext[], cwd: string): Repository {
  return {
    async textsFor(touched, given) {
      const paths = touched.map((path) => (path.startsWith("/") ? path : `${cwd}/${path}`));
      const found = await Promise.all(contexts.map(({ repository }) => repository.textsFor(paths, given)));
      return { texts: found.flatMap(({ texts }) => texts), warnings: found.flatMap(({ warnings }) => warnings) };
    },
  };
}
