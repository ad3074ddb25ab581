// What repository and user have written for the model, as the configuration says where to look for it.

import { readFileSync } from "node:fs";
import { CommandError } from "@agentcli/command-line";
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
  const context = openProjectContext({
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
  const forThread = async () => ({ ...(await context.forThread()), ...configuredInstructions(config) });
  return { ...context, forThread };
}

const configuredInstructions = ({ model_instructions_file: file, developer_instructions }: Config) => ({
  baseInstructions: file === undefined ? undefined : readInstructionsFile(file),
  developerInstructions: developer_instructions?.trim() || undefined,
});

function readInstructionsFile(path: string): string {
  const text = readText(path);
  if (text.trim() !== "") return text;
  throw new CommandError(
    "usage",
    `model_instructions_file: ${path} is empty. Write instructions into it, or remove the key.`,
  );
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new CommandError("usage", `model_instructions_file cannot be read: ${(error as Error).message}.`);
  }
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
