// Starts processes of a workspace: their directory, their environment, and pipes or a terminal.

import { resolve } from "node:path";
import type { ExecRequest } from "@agentcli/protocol";
import type { Environment } from "../../environment/index.ts";
import type { ChildEvents, Launch } from "./child.ts";
import { openFallbackIdentity } from "./fallback-identity.ts";
import { openLoginEnvironments } from "./login-environment.ts";
import { startPiped } from "./piped.ts";
import { openPipeSupply } from "./pipes.ts";
import { markerName, pipeVariables, terminalVariables } from "./process-variables.ts";
import { startOnTerminal } from "./pty.ts";

export type Start = NonNullable<ExecRequest["start"]>;

export interface LauncherConfig {
  root: string;
  incarnation: string;
  env: Environment;
  isDenied: (name: string, value: string) => boolean;
  warmLoginShell?: string | undefined;
  allowLoginShell?: boolean | undefined;
  terminalModule?: string | undefined;
}

export interface LaunchInput {
  /** The value of the marker variable. */
  marker: string;
  /** All of its input, when that is known at the start. */
  input: string | undefined;
}

export interface Launcher {
  launch(start: Start, input: LaunchInput, events: ChildEvents): Promise<Launch>;
  /** Waits for processes that it runs for itself. */
  settle(): Promise<void>;
  close(): Promise<void>;
}

export function openLauncher(config: LauncherConfig): Launcher {
  const pipes = openPipeSupply();
  const identity = openFallbackIdentity();
  const plain = { ...config.env, [markerName]: `${config.incarnation}/` };
  const logins = openLoginEnvironments({ cwd: config.root, env: plain, isDenied: config.isDenied });
  pipes.warm();
  if (config.warmLoginShell !== undefined) void logins.of(config.warmLoginShell);

  // Of almost a hundred variables two differ from one command to the next.
  const onPipes = keptByLogin((login) => ({ ...login, ...pipeVariables, ...identity.variablesFor(login) }));
  const onTerminal = keptByLogin((login) => ({ ...login, ...terminalVariables, ...identity.variablesFor(login) }));

  /** Later ones win: workspace, login shell, what every tool gets, the identity for git, the request. */
  async function environmentOf(start: Start): Promise<Environment> {
    const login =
      start.loginShell === undefined || config.allowLoginShell === false ? plain : await logins.of(start.loginShell);
    const shared = start.terminal === undefined ? onPipes(login) : onTerminal(login);
    return start.env === undefined ? shared : { ...shared, ...start.env };
  }

  return {
    async launch(start, { marker, input }, events) {
      const cwd = resolve(config.root, start.cwd ?? ".");
      const env = { ...(await environmentOf(start)), PWD: cwd, [markerName]: marker };
      const spec = { argv: start.argv, cwd, env, input };
      const noted = withNote(events, identity.watch(spec));
      if (start.terminal === undefined) return startPiped(spec, pipes, noted);
      return startOnTerminal({ spec, size: start.terminal, modulePath: config.terminalModule }, noted);
    },
    async close() {
      identity.close();
      await pipes.close();
    },
    settle: pipes.settle,
  };
}

function keptByLogin(make: (login: Environment) => Environment): (login: Environment) => Environment {
  const kept = new WeakMap<Environment, Environment>();
  return (login) => {
    const made = kept.get(login) ?? make(login);
    kept.set(login, made);
    return made;
  };
}

const withNote = (events: ChildEvents, takeNote: () => string | undefined): ChildEvents => ({
  ...events,
  exited(exitCode) {
    const note = takeNote();
    if (note !== undefined) events.output("stderr", note);
    events.exited(exitCode);
  },
});
