// What repository and user have written for the model, as the configuration says where to look for it.

import type { Environment } from "@agentcli/host";
import {
  commandRoots,
  openContext as openProjectContext,
  type ProjectContext,
  type SkillRoot,
  skillRoots,
} from "@agentcli/project";
import type { Config } from "@agentcli/protocol";

export type { ProjectContext, PromptTexts, ThreadTexts } from "@agentcli/project";

export interface ContextRequest {
  /** Of the project. */
  root: string;
  cwd: string;
  config: Config;
  environment: Environment;
  /** Tokens; null where it is not known. */
  contextWindow: number | null;
}

export function openContext({ root, cwd, config, environment, contextWindow }: ContextRequest): ProjectContext {
  const { skills = {} } = config;
  return openProjectContext({
    root,
    cwd,
    home: environment.agentHome,
    maxBytes: config.project_doc_max_bytes,
    fallbackNames: config.project_doc_fallback_filenames,
    skills: {
      roots: rootsOfSkills({ root, cwd, config }, environment),
      switches: skills.config,
      catalogue: skills.include_instructions === false ? "omitted" : "listed",
      maxTokens: skills.max_context_tokens,
    },
    commands: readsOtherTools(config) ? commandRoots({ root, cwd, userHome: environment.userHome }) : [],
    contextWindow,
  });
}

/** Whether skills, commands and agents of other tools are used. */
export const readsOtherTools = ({ compatible_folders }: Config): boolean => compatible_folders !== false;

/** What a sandbox has to show. Not the repository's: a link there could lead to what must stay hidden. */
export const ownSkillPaths = (cwd: string, config: Config, environment: Environment): string[] =>
  rootsOfSkills({ root: cwd, cwd, config }, environment).flatMap(({ path, scope }) =>
    scope === "repository" ? [] : [path],
  );

export const rootsOfSkills = (
  { root, cwd, config }: { root: string; cwd: string; config: Config },
  { userHome, agentHome }: Environment,
): SkillRoot[] =>
  skillRoots({ root, cwd, userHome, agentHome, otherTools: readsOtherTools(config) ? "read" : "ignored" });
