// The project under test: where it is, what of it is trusted, and the environment that its cases see.
import type { Environment, RunOptions } from "@agentcli/host";
import { findProject } from "@agentcli/project";
import { hiddenByDefault } from "@agentcli/workspace";
import type { Invocation } from "../command.ts";
import { existingDirectory } from "../config/request.ts";
import { runOptions } from "../config/run-options.ts";
import { settle } from "../config/settings.ts";
import type { Program } from "../program.ts";
import type { CaseRunner } from "./run-case.ts";

export interface CaseProject {
  root: string;
  trust: Pick<CaseRunner, "options" | "hooks">;
  /** Without anything of the user: the same on every machine. */
  environment(home: string): Environment;
}

export async function openCaseProject(invocation: Invocation, { environment }: Program): Promise<CaseProject> {
  const cwd = existingDirectory(invocation.text("cd") ?? ".", environment.cwd);
  const given = runOptions(invocation);
  const { loaded } = await settle({ ...given, directory: cwd }, environment, null);
  const isTrusting = given.bypassHookTrust || given.trustHooks.length > 0;
  const options: RunOptions = {
    ...given,
    ephemeral: true,
    trustProject: loaded.project.trusted,
    // A program that is configured for users has nothing to do with a test.
    overrides: [...given.overrides, "notify=[]"],
  };
  return {
    root: findProject(cwd, loaded.config.project_root_markers).root,
    trust: { options, hooks: isTrusting ? "as-trusted" : "sandboxed" },
    environment: (home) => isolated(environment, home),
  };
}

/** What is hidden from commands stays hidden: the home of the user is not that of the run. */
function isolated(environment: Environment, home: string): Environment {
  const { variables, userHome, agentHome, ownFiles = [] } = environment;
  const kept = Object.entries(variables).filter(([name]) => !/^AGENT_|_API_KEY$/.test(name));
  return {
    ...environment,
    variables: { ...Object.fromEntries(kept), HOME: home },
    userHome: home,
    agentHome: home,
    ownFiles: [...ownFiles, ...hiddenByDefault(userHome, agentHome)],
  };
}
