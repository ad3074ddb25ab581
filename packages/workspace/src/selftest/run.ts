// Runs attempts to break out, several at once, and reports the outcome of each in their order.

import { randomUUID } from "node:crypto";
import type { Chunk } from "@agentcli/protocol";
import { SandboxUnavailable, WorkspaceLost } from "@agentcli/protocol/workspace-errors";
import { toolEnvironment } from "../environment/index.ts";
import type { OpenedWorkspace } from "../lifecycle/index.ts";
import {
  type BackEnd,
  hiddenByDefault,
  knownGapsOf,
  openWorkspace,
  type SandboxPolicy,
  sandboxPolicy,
} from "../sandbox/index.ts";
import { explainStartFailure } from "../server/index.ts";
import type { Attempt, AttemptContext } from "./attempt.ts";
import { attempts } from "./attempts/index.ts";
import { type EscapeFixture, type FixtureOptions, openFixture } from "./fixture.ts";

/** Admitted: it worked, and the back end had said that it cannot stop it. */
export type AttemptOutcome = "held" | "admitted" | "ESCAPED";

export interface AttemptResult {
  name: string;
  outcome: AttemptOutcome;
  /** What it saw, cut short. */
  output: string;
}

export interface SelftestOptions extends FixtureOptions {
  /** Undefined: without a sandbox, to see that success would be noticed. */
  backEnd: BackEnd | undefined;
  serverProgram: string;
  variables: NodeJS.ProcessEnv;
}

export async function* runSelftest(
  options: SelftestOptions,
  selected: Attempt[] = attempts,
): AsyncGenerator<AttemptResult> {
  await requirePrograms(options.variables);
  const stop = new AbortController();
  const lanes = selected.map((attempt, index) => (attempt.ownSandbox ? `own ${index % ownLanes}` : keyOf(attempt)));
  const shared = new Map<string, TestSandbox>();
  const last = new Map<string, Promise<unknown>>();
  const results = selected.map((attempt, index) => {
    const lane = lanes[index] ?? "";
    const before = last.get(lane) ?? Promise.resolve();
    const result = before.then(() => (stop.signal.aborted ? undefined : runAttempt(attempt, options, shared)));
    last.set(
      lane,
      result.catch(() => stop.abort()),
    );
    return result;
  });
  try {
    for (const result of results) {
      const finding = await result;
      if (finding) yield finding;
    }
  } finally {
    stop.abort();
    await Promise.all(last.values());
    for (const sandbox of shared.values()) await close(sandbox);
  }
}

/** Attempts with a sandbox of their own mostly wait for it. Those that share one take turns. */
const ownLanes = 4;

const keyOf = ({ mode, network }: Attempt): string => `${mode} ${network}`;

/** Without them attempts would fail by themselves and seem to be held. */
async function requirePrograms({ PATH = "" }: NodeJS.ProcessEnv): Promise<void> {
  for (const program of ["bash", "perl", "prlimit", "nsenter", "unshare"]) {
    const failure = await explainStartFailure({ argv: [program], cwd: "/", env: { PATH }, input: undefined });
    if (failure !== undefined) throw new Error(`The attempts cannot be made. ${failure}`);
  }
}

interface TestSandbox {
  fixture: EscapeFixture;
  policy: SandboxPolicy;
  /** Undefined when the sandbox refused to start in this world. */
  workspace: OpenedWorkspace | undefined;
}

async function runAttempt(
  attempt: Attempt,
  options: SelftestOptions,
  shared: Map<string, TestSandbox>,
): Promise<AttemptResult> {
  const { name, escaped } = attempt;
  const sandbox = await sandboxFor(attempt, options, shared);
  const { fixture, policy, workspace } = sandbox;
  let isClosed = false;
  try {
    if (workspace === undefined) return { name, outcome: "held", output: "The sandbox refuses to start there." };
    const output = await attempt.run(contextOf(fixture, workspace)).catch((error) => explainLoss(error, attempt));
    if (escaped.when === "after-close") {
      await workspace.close();
      isClosed = true;
    }
    const isAdmitted = isKnownGap(attempt, { policy, backEnd: options.backEnd });
    const worked = await escaped.check(fixture, output, isAdmitted ? admittedWaitMs : maxWaitMs);
    const outcome = worked ? (isAdmitted ? "admitted" : "ESCAPED") : "held";
    return { name, outcome, output: output.slice(0, 2000) };
  } finally {
    if (attempt.ownSandbox) await (isClosed ? fixture.remove() : close(sandbox));
  }
}

/** One that breaks its own sandbox has only itself to blame; a shared one must last. */
function explainLoss(error: unknown, attempt: Attempt): string {
  if (error instanceof WorkspaceLost && attempt.ownSandbox) return error.message;
  throw new Error(`The attempt to ${attempt.name} could not be made.`, { cause: error });
}

/** On a busy machine it takes long until the last process of a sandbox is gone. */
const maxWaitMs = 60_000;
const admittedWaitMs = 2_000;

const isKnownGap = (
  { knownGap }: Attempt,
  { backEnd, policy }: Pick<SelftestOptions, "backEnd"> & { policy: SandboxPolicy },
): boolean => backEnd !== undefined && knownGap !== undefined && knownGapsOf(backEnd, policy).includes(knownGap);

async function sandboxFor(
  attempt: Attempt,
  options: SelftestOptions,
  shared: Map<string, TestSandbox>,
): Promise<TestSandbox> {
  if (attempt.ownSandbox) return openTestSandbox(attempt, options);
  const key = keyOf(attempt);
  const existing = shared.get(key) ?? (await openTestSandbox(attempt, options));
  shared.set(key, existing);
  return existing;
}

async function openTestSandbox(attempt: Attempt, options: SelftestOptions): Promise<TestSandbox> {
  const { backEnd, serverProgram, variables } = options;
  const fixture = await openFixture(options);
  attempt.prepare?.(fixture);
  const policy = sandboxPolicy({
    mode: backEnd === undefined ? "danger-full-access" : (attempt.mode ?? "workspace-write"),
    root: fixture.root,
    writableRoots: [fixture.second, fixture.tree],
    protectedPaths: [fixture.hookScript],
    network: attempt.network ?? "off",
    hidden: [...hiddenByDefault(fixture.home, fixture.agentHome), ...(attempt.hiddenPaths?.(fixture) ?? [])],
  });
  const env = toolEnvironment({ ...variables, HOME: fixture.home }, { home: fixture.home });
  const opening = openWorkspace(policy, { serverProgram, env, incarnation: fixture.word, ...(backEnd && { backEnd }) });
  return { fixture, policy, workspace: await opening.catch((error) => refusalOf(error, attempt, fixture)) };
}

/** Only a world that was made to be refused may be refused. */
function refusalOf(error: unknown, attempt: Attempt, fixture: EscapeFixture): undefined {
  if (error instanceof SandboxUnavailable && (attempt.prepare || attempt.hiddenPaths)) return undefined;
  fixture.remove();
  throw error;
}

async function close({ fixture, workspace }: TestSandbox): Promise<void> {
  await workspace?.close();
  fixture.remove();
}

function contextOf(fixture: EscapeFixture, workspace: OpenedWorkspace): AttemptContext {
  return {
    fixture,
    workspace,
    async shell(script, more = {}) {
      let output = "";
      const listen = (chunk: Chunk) => {
        output += chunk.text;
      };
      const start = { argv: ["bash", "-c", script], timeoutMs: 120_000, ...more };
      const id = randomUUID();
      const result = await workspace.exec({ id, start }, listen, new AbortController().signal);
      if (result.state === "exited" && result.timedOut && more.timeoutMs === undefined)
        throw new Error(`The script took too long: ${script}`);
      return result.state === "not-started" ? result.message : output;
    },
  };
}
