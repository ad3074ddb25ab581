// What project and user have written for the model: instructions, rules and skills, as far as their files count.
import { join } from "node:path";
import { noRepository } from "@agentcli/engine";
import {
  openContext,
  type ProjectContext,
  readRules,
  repositorySkillRoots,
  ruleTexts,
  type SkillRoot,
} from "@agentcli/project";
import type { Machine } from "../machine.ts";
import type { Wishes } from "../options.ts";

export interface WrittenRequest {
  /** Of the project. */
  root: string;
  cwd: string;
  sources: Wishes["sources"];
  contextWindow: number;
  machine: Machine;
}

export type Written = Omit<ProjectContext, "sources">;

export function readWritten({ root, cwd, sources, contextWindow, machine }: WrittenRequest): Written {
  const { settingsHome, userHome } = machine;
  const isOfUser = sources.has("user");
  if (!sources.has("project") && !isOfUser) return nothing;
  // Without the project, the user's own folder is all there is to read.
  const place = sources.has("project") ? { root, cwd } : { root: settingsHome, cwd: settingsHome };
  const skills = sources.has("project") ? repositorySkillRoots(root, cwd) : [];
  const context = openContext({
    ...place,
    home: isOfUser && sources.has("project") ? settingsHome : null,
    skills: { roots: [...skills, ...(isOfUser ? userSkills(machine) : [])], catalogue: "listed" },
    contextWindow,
  });
  if (!isOfUser) return context;
  return {
    ...context,
    forThread() {
      const texts = context.forThread();
      const own = ruleTexts(readRules([userHome], userHome).rules, mostRuleBytes);
      return { ...texts, rules: [...own.texts, ...texts.rules] };
    },
  };
}

const mostRuleBytes = 65_536;

export const userSkills = ({ userHome, settingsHome }: Machine): SkillRoot[] =>
  [join(userHome, ".agents", "skills"), join(settingsHome, "skills")].map((path) => ({ path, scope: "user" }));

const nothing: Written = {
  forThread: () => ({ rules: [], catalogues: [], warnings: [] }),
  forPrompt: () => ({ messages: [], warnings: [] }),
  repository: noRepository,
};
