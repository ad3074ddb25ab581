// The steps of the workflow action, one word each: `node main.cjs STEP`.
import { checkActor } from "./actor.ts";
import { StepError } from "./errors.ts";
import { collectInputs, readInputs } from "./inputs.ts";
import { installCli } from "./install.ts";
import { dropRootAccess, reducePrivileges } from "./privileges.ts";
import { startProxy, stopProxy } from "./proxy.ts";
import { runAgent } from "./run.ts";
import { reportError, setOutput } from "./runner-files.ts";

const steps: Record<string, (variables: NodeJS.ProcessEnv, argument: string) => number | Promise<number>> = {
  async check(variables) {
    readInputs(variables);
    setOutput(variables, "inputs", collectInputs(variables));
    return checkActor(variables);
  },
  install: installCli,
  "start-proxy": startProxy,
  "reduce-privileges": reducePrivileges,
  // Started by the step before, as root.
  "drop-root-access": (_, user) => dropRootAccess(user),
  run: runAgent,
  "stop-proxy": stopProxy,
};

async function main([name = "", argument = ""]: string[]): Promise<number> {
  const step = steps[name];
  if (!step) throw new StepError(`Unknown step "${name}": one of ${Object.keys(steps).join(", ")}.`);
  return step(process.env, argument);
}

main(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    const { message } = error instanceof Error ? error : new Error(String(error));
    reportError(error instanceof StepError ? message : `Internal error: ${message}`);
    process.exitCode = 1;
  },
);
