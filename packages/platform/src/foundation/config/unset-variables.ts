// Variables that the configuration names and the environment lacks. A server refuses to start without them; commands that do
// not use them go on.
import { SettingError } from "./setting-error.ts";
import type { Settings, UnsetVariable } from "./settings.ts";

interface Named {
  /** Dotted: `metrics.token_env`. */
  setting: string;
  variable: string | undefined;
  remedy: string;
}

export const findUnset = (named: Named[], variables: NodeJS.ProcessEnv): UnsetVariable[] =>
  named.flatMap(({ setting, variable, remedy }) =>
    variable === undefined || variables[variable] ? [] : [{ setting, variable, remedy }],
  );

/** Throws SettingError. Otherwise the server would start without a secret, and serve less or more than was meant. */
export function requireVariables({ unsetVariables: [first] }: Settings): void {
  if (first) throw new SettingError(describeUnset(first));
}

export const describeUnset = ({ setting, variable, remedy }: UnsetVariable): string =>
  `${setting}: the variable ${variable} is not set. ${remedy}`;
