// Starts processes of a workspace: their directory, their environment, and pipes or a terminal.
import { resolve } from "node:path";
import type { ExecRequest } from "@agentcli/protocol";
import type { ChildEvents, Launch } from "./child.ts";
import { type Environment, openLoginEnvironments } from "./login-environment.ts";
import { startPiped } from "./piped.ts";
import { openPipeSupply } from "./pipes.ts";
import { startOnTerminal } from "./pty.ts";
import { markerName, pipeVariables, terminalVariables } from "./tool-environment.ts";

export type Start = NonNullable<ExecRequest["start"]>;

export interface LauncherConfig {
  root: string;
  incarnation: string;
  env: Environment;
  isDenied: (name: string) => boolean;
  warmLoginShell?: string | undefined;
  terminalModule?: string | undefined;
}

export interface Given {
  /** The value of the marker variable. */
  marker: string;
  /** All of its input, when that is known at the start. */
  input: string | undefined;
}

export interface Launcher {
  launch(how: Start, given: Given, events: ChildEvents): Promise<Launch>;
  close(): Promise<void>;
}

export function openLauncher(config: LauncherConfig): Launcher {
  const pipes = openPipeSupply();
  const plain = { ...config.env, [markerName]: `${config.incarnation}/` };
  const logins = openLoginEnvironments({ cwd: config.root, env: plain, isDenied: config.isDenied });
  pipes.warm();
  if (config.warmLoginShell !== undefined) void logins.of(config.warmLoginShell);

  /** Later ones win: workspace, login shell, what every tool gets, the request. */
  async function environmentOf(how: Start): Promise<Environment> {
    const login = how.loginShell === undefined ? plain : await logins.of(how.loginShell);
    const always = how.terminal === undefined ? pipeVariables : terminalVariables;
    return { ...login, ...always, ...how.env };
  }

  return {
    async launch(how, { marker, input }, events) {
      const cwd = resolve(config.root, how.cwd ?? ".");
      const env = { ...(await environmentOf(how)), PWD: cwd, [markerName]: marker };
      const spec = { argv: how.argv, cwd, env, input };
      if (how.terminal === undefined) return startPiped(spec, pipes, events);
      return startOnTerminal({ spec, size: how.terminal, modulePath: config.terminalModule }, events);
    },
    close: pipes.close,
  };
}
