// The contexts of several repositories as one.
import type { Repository } from "@agentcli/engine";
import type { ProjectContext, ThreadTexts } from "./context.ts";
import type { PromptTexts } from "./prompt-texts.ts";
import { unknownSkillStart } from "./unknown-skill.ts";

/** `cwd` is the working directory of the model: the parent of its repositories if there are several. */
export const joinContexts = (contexts: ProjectContext[], cwd: string): ProjectContext => ({
  forThread: async () => joinTexts(await Promise.all(contexts.map((context) => context.forThread()))),
  sources: () => contexts.flatMap((context) => context.sources()),
  forPrompt: async (prompt) => joinPrompts(await Promise.all(contexts.map((context) => context.forPrompt(prompt)))),
  repository: joinRepositories(contexts, cwd),
});

const joinTexts = (texts: ThreadTexts[]): ThreadTexts => ({
  rules: texts.flatMap(({ rules }) => rules),
  catalogues: texts.flatMap(({ catalogues }) => catalogues),
  warnings: texts.flatMap(({ warnings }) => warnings),
});

/** A skill is unknown only if no repository has it. */
function joinPrompts(texts: PromptTexts[]): PromptTexts {
  const isKept = (warning: string) =>
    !warning.startsWith(unknownSkillStart) || texts.every(({ warnings }) => warnings.includes(warning));
  return {
    messages: texts.flatMap(({ messages }) => messages),
    warnings: [...new Set(texts.flatMap(({ warnings }) => warnings))].filter(isKept),
  };
}

/** Paths are as the model wrote them: relative to its working directory. */
const joinRepositories = (contexts: ProjectContext[], cwd: string): Repository => ({
  async textsFor(touched, given) {
    const paths = touched.map((path) => (path.startsWith("/") ? path : `${cwd}/${path}`));
    const read = await Promise.all(contexts.map(({ repository }) => repository.textsFor(paths, given)));
    return { texts: read.flatMap(({ texts }) => texts), warnings: read.flatMap(({ warnings }) => warnings) };
  },
});
