// Instructions, rules and skills of project and user, from the sources that the agent may read.
import { join } from "node:path";
import { noRepository } from "@agentcli/engine";
import type { ServiceInstructions } from "@agentcli/host";
import { commandRoots, openContext, repositorySkillRoots, type SkillRoot } from "@agentcli/project";
import { readRules, ruleTexts } from "@agentcli/project/instructions";
import type { Machine } from "../machine.ts";
import type { ResolvedOptions } from "../options.ts";

export interface InstructionsRequest {
  /** Of the project. */
  root: string;
  cwd: string;
  /** Other directories that are part of the work. */
  dirs: string[];
  sources: ResolvedOptions["sources"];
  contextWindow: number;
  machine: Machine;
}

export function readInstructions({
  root,
  cwd,
  dirs,
  sources,
  contextWindow,
  machine,
}: InstructionsRequest): ServiceInstructions {
  const { settingsHome, userHome } = machine;
  const isOfUser = sources.has("user");
  const added = moreDirectories(cwd, dirs);
  if (!sources.has("project") && !isOfUser) return { ...none, forThread: async () => ({ ...noTexts, rules: added }) };
  // Without the project, the user's own folder is all there is to read.
  const location = sources.has("project") ? { root, cwd } : { root: settingsHome, cwd: settingsHome };
  const skills = sources.has("project") ? repositorySkillRoots({ root, cwd, otherTools: "read" }) : [];
  const context = openContext({
    ...location,
    home: isOfUser && sources.has("project") ? settingsHome : null,
    commands: sources.has("project") ? commandRoots({ root, cwd, userHome: null }) : [],
    skills: { roots: [...skills, ...(isOfUser ? userSkills(machine) : [])], catalogue: "listed" },
    contextWindow,
  });
  return {
    ...context,
    async forThread() {
      const texts = await context.forThread();
      const own = isOfUser ? ruleTexts(readRules([userHome], userHome).rules, maxRuleBytes).texts : [];
      return { ...texts, rules: [...own, ...texts.rules, ...added] };
    },
  };
}

const moreDirectories = (cwd: string, dirs: string[]): string[] =>
  dirs.length > 0 ? [`Besides ${cwd} these directories are part of the work: ${dirs.join(", ")}`] : [];

const maxRuleBytes = 65_536;

export const userSkills = ({ userHome, settingsHome }: Machine): SkillRoot[] =>
  [join(userHome, ".agents", "skills"), join(settingsHome, "skills")].map((path) => ({ path, scope: "user" }));

const noTexts = { rules: [], catalogues: [], warnings: [] };

const none: ServiceInstructions = {
  forThread: async () => noTexts,
  forPrompt: async () => ({ messages: [], warnings: [] }),
  repository: noRepository,
};
