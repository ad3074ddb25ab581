// The sessions of this worker: an agent claims it and releases it. Commands of the operator run at both, and an idle worker ends.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { alreadyUsed } from "@agentcli/protocol/worker-link";

export interface SessionOptions {
  /** Shell commands of the operator; they run outside of any sandbox. */
  onStart: string | undefined;
  onEnd: string | undefined;
  /** After so long without work, once an agent was there; 0: never. */
  idleTimeoutMs: number;
  /** Ends after its first agent. */
  isSingleUse: boolean;
  /** Names the first agent, so that a worker that is started again has no other. */
  usedFile: string;
  variables: NodeJS.ProcessEnv;
  log(line: string): void;
}

export interface Sessions {
  /** Whether it is a new session: the agent had released this process, or never claimed it. Throws if the command of the operator fails. */
  claimed(agent: string, runId: string): Promise<boolean>;
  released(agent: string): Promise<void>;
  /** Its run has ended: the platform has its files. */
  finished(agent: string): void;
  /** A request has come, or a command is running. */
  used(): void;
  /** The run that has last claimed this worker for the agent; undefined after its release. */
  runOf(agent: string): string | undefined;
  isActive(): boolean;
  lastActivityMs(): number;
  /** Settles with the reason when the worker has served its purpose. */
  over: Promise<string>;
  close(): Promise<void>;
}

/** Of a worker for one agent: another one never gets the machine. */
class AlreadyUsed extends Error {
  override message = "This worker is for one agent alone, and has had another.";
  readonly code: typeof alreadyUsed = "already_used";
}

const checkMs = 1_000;
const commandTimeoutMs = 600_000;
/** A run may wait for its model this long without a request. */
const runTimeoutMs = 600_000;

/** `isBusy`: commands of agents are running; background work counts. */
export function openSessions(options: SessionOptions, isBusy: () => boolean): Sessions {
  const { onStart, onEnd, idleTimeoutMs, isSingleUse, usedFile, variables, log } = options;
  const agents = new Map<string, string>();
  const running = new Set<string>();
  const { used, idleMs, lastActivityMs } = openActivity();
  let hasServed = false;
  let end: (reason: string) => void = () => {};
  const over = new Promise<string>((resolve) => {
    end = resolve;
  });
  const timer = setInterval(() => {
    if (isBusy()) used();
    const limitMs = running.size > 0 ? Math.max(idleTimeoutMs, runTimeoutMs) : idleTimeoutMs;
    if (hasServed && idleTimeoutMs > 0 && idleMs() >= limitMs)
      end(`No agent has used this worker for ${idleTimeoutMs / 1_000} seconds.`);
  }, checkMs);
  const runHook = async (command: string | undefined, agent: string): Promise<void> => {
    if (command === undefined) return;
    const ofAgent = { PLATFORM_AGENT_ID: agent, PLATFORM_RUN_ID: agents.get(agent) ?? "" };
    await execute(command, { variables, ofAgent, directory: dirname(usedFile) });
  };
  const released = async (agent: string): Promise<void> => {
    if (!agents.has(agent)) return;
    used();
    running.delete(agent);
    await runHook(onEnd, agent).catch((error: Error) => log(`--on-session-end: ${error.message}`));
    agents.delete(agent);
    if (isSingleUse) end("The agent of this worker is done.");
  };
  return {
    over,
    used,
    released,
    finished: (agent) => void running.delete(agent),
    runOf: (agent) => agents.get(agent),
    isActive: () => agents.size > 0,
    lastActivityMs,
    async claimed(agent, runId) {
      if (isSingleUse && firstAgent(usedFile, agent) !== agent) {
        if (agents.size === 0) end("The agent of this worker is done.");
        throw new AlreadyUsed();
      }
      used();
      hasServed = true;
      running.add(agent);
      const isNew = !agents.has(agent);
      agents.set(agent, runId);
      if (!isNew) return false;
      await runHook(onStart, agent).catch((error: Error) => {
        agents.delete(agent);
        throw new Error(`--on-session-start of the worker failed: ${error.message}`);
      });
      return true;
    },
    async close() {
      clearInterval(timer);
      await Promise.all([...agents.keys()].map(released));
    },
  };
}

interface Activity {
  used(): void;
  /** Not by the time of day: a machine whose clock is set has not been idle. */
  idleMs(): number;
  lastActivityMs(): number;
}

function openActivity(): Activity {
  let [lastMs, usedAt] = [Date.now(), performance.now()];
  return {
    used() {
      [lastMs, usedAt] = [Date.now(), performance.now()];
    },
    idleMs: () => performance.now() - usedAt,
    lastActivityMs: () => lastMs,
  };
}

/** This one, if there was none yet. */
function firstAgent(file: string, agent: string): string {
  try {
    writeFileSync(file, agent, { flag: "wx", mode: 0o600 });
    return agent;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    return readFileSync(file, "utf8");
  }
}

interface HookEnvironment {
  variables: NodeJS.ProcessEnv;
  ofAgent: NodeJS.ProcessEnv;
  /** Where agents work. */
  directory: string;
}

async function execute(command: string, { variables, ofAgent, directory }: HookEnvironment): Promise<void> {
  const { operatorVariables } = await import("./operator-variables.ts");
  const child = spawn("/bin/sh", ["-c", command], {
    env: { ...operatorVariables(variables, directory), ...ofAgent },
    stdio: ["ignore", "inherit", "inherit"],
    timeout: commandTimeoutMs,
    killSignal: "SIGKILL",
  });
  const [code, signal] = await once(child, "exit");
  if (code !== 0) throw new Error(`it ended with ${signal ?? `exit code ${code}`}.`);
}
