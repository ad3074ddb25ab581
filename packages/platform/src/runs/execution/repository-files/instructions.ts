// Instructions, rules and skills in the repositories of an agent, joined.
import { joinContexts, openContext, type ProjectContext, repositorySkillRoots } from "@agentcli/project";

/** `cwd` is the working directory of the model: the parent of its repositories if there are several. */
export function readInstructions(roots: string[], cwd: string, contextWindow: number): ProjectContext {
  const contexts = roots.map((root) =>
    openContext({
      root,
      cwd: root,
      home: null,
      skills: { roots: repositorySkillRoots(root, root), catalogue: "listed" },
      contextWindow,
    }),
  );
  return joinContexts(contexts, cwd);
}
