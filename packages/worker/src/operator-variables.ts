// The variables for programs of the operator, which run outside of any sandbox.
import { openHostPrograms } from "@agentcli/workspace";

/** PATH without what an agent may have written: npx puts the programs of a project there. `directory` is where agents work. */
export function operatorVariables(variables: NodeJS.ProcessEnv, directory?: string): NodeJS.ProcessEnv {
  const { PLATFORM_API_KEY: _, PLATFORM_AUTH_TOKEN: __, ...others } = variables;
  const untrusted = directory === undefined ? [] : [directory];
  return openHostPrograms({ path: others.PATH, home: others.HOME ?? "/", untrusted }).environment(others);
}
