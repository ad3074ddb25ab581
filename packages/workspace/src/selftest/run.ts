// Carries out attempts to break out, one after the other, and says of each how it went.
import { randomUUID } from "node:crypto";
import type { Chunk } from "@agentcli/protocol";
import type { OpenedWorkspace } from "../client/lazy.ts";
import { WorkspaceLost } from "../client/workspace-lost.ts";
import { admissionsOf, type BackEnd } from "../sandbox/back-end.ts";
import { toolEnvironment } from "../sandbox/environment.ts";
import { openWorkspace } from "../sandbox/launch.ts";
import { hiddenByDefault, type SandboxPolicy, sandboxPolicy } from "../sandbox/policy.ts";
import { SandboxUnavailable } from "../sandbox/sandbox-unavailable.ts";
import type { Attempt, Inside } from "./attempt.ts";
import { attempts } from "./attempts/index.ts";
import { type Given, openWorld, type World } from "./world.ts";

/** Admitted: it worked, and the back end had said that it cannot stop it. */
export type Outcome = "held" | "admitted" | "ESCAPED";

export interface Finding {
  name: string;
  outcome: Outcome;
  /** What it saw, cut short. */
  told: string;
}

export interface SelftestOptions extends Given {
  /** Undefined: without a sandbox, to see that success would be noticed. */
  backEnd: BackEnd | undefined;
  serverProgram: string;
  variables: NodeJS.ProcessEnv;
}

export async function* runSelftest(options: SelftestOptions, chosen: Attempt[] = attempts): AsyncGenerator<Finding> {
  const shared = new Map<string, Place>();
  try {
    for (const attempt of chosen) yield await carryOut(attempt, options, shared);
  } finally {
    for (const place of shared.values()) await close(place);
  }
}

interface Place {
  world: World;
  policy: SandboxPolicy;
  /** Undefined when the sandbox refused to start in this world. */
  workspace: OpenedWorkspace | undefined;
}

async function carryOut(attempt: Attempt, options: SelftestOptions, shared: Map<string, Place>): Promise<Finding> {
  const { name, escaped } = attempt;
  const place = await placeOf(attempt, options, shared);
  const { world, policy, workspace } = place;
  let isClosed = false;
  try {
    if (workspace === undefined) return { name, outcome: "held", told: "The sandbox refuses to start there." };
    const told = await attempt.carryOut(insideOf(world, workspace)).catch((error) => explainLoss(error, attempt));
    if (escaped.seen === "after-close") {
      await workspace.close();
      isClosed = true;
    }
    const worked = await escaped.by(world, told);
    return { name, outcome: judge(worked, attempt, { policy, backEnd: options.backEnd }), told: told.slice(0, 2000) };
  } finally {
    if (attempt.alone) await (isClosed ? world.remove() : close(place));
  }
}

/** One that breaks its own sandbox has only itself to blame; a shared one must last. */
function explainLoss(error: unknown, attempt: Attempt): string {
  if (error instanceof WorkspaceLost && attempt.alone) return error.message;
  throw new Error(`The attempt to ${attempt.name} could not be made.`, { cause: error });
}

function judge(
  worked: boolean,
  { admission }: Attempt,
  place: Pick<SelftestOptions, "backEnd"> & { policy: SandboxPolicy },
): Outcome {
  if (!worked) return "held";
  const isAdmitted =
    place.backEnd !== undefined &&
    admission !== undefined &&
    admissionsOf(place.backEnd, place.policy).includes(admission);
  return isAdmitted ? "admitted" : "ESCAPED";
}

async function placeOf(attempt: Attempt, options: SelftestOptions, shared: Map<string, Place>): Promise<Place> {
  if (attempt.alone) return openPlace(attempt, options);
  const key = `${attempt.mode} ${attempt.network}`;
  const known = shared.get(key) ?? (await openPlace(attempt, options));
  shared.set(key, known);
  return known;
}

async function openPlace(attempt: Attempt, options: SelftestOptions): Promise<Place> {
  const { backEnd, serverProgram, variables } = options;
  const world = await openWorld(options);
  attempt.arrange?.(world);
  const policy = sandboxPolicy({
    mode: backEnd === undefined ? "danger-full-access" : (attempt.mode ?? "workspace-write"),
    root: world.root,
    writableRoots: [world.second, world.tree],
    network: attempt.network ?? "off",
    hidden: [...hiddenByDefault(world.home, world.agentHome), ...(attempt.hides?.(world) ?? [])],
  });
  const env = toolEnvironment({ ...variables, HOME: world.home }, { home: world.home });
  const opening = openWorkspace(policy, { serverProgram, env, incarnation: world.word, ...(backEnd && { backEnd }) });
  return { world, policy, workspace: await opening.catch((error) => refusalOf(error, attempt, world)) };
}

/** Only a world that was made to be refused may be refused. */
function refusalOf(error: unknown, attempt: Attempt, world: World): undefined {
  if (error instanceof SandboxUnavailable && (attempt.arrange || attempt.hides)) return undefined;
  world.remove();
  throw error;
}

async function close({ world, workspace }: Place): Promise<void> {
  await workspace?.close();
  world.remove();
}

function insideOf(world: World, workspace: OpenedWorkspace): Inside {
  return {
    world,
    workspace,
    async shell(script, more = {}) {
      let told = "";
      const listen = (chunk: Chunk) => {
        told += chunk.text;
      };
      const start = { argv: ["bash", "-c", script], timeoutMs: 20_000, ...more };
      const id = randomUUID();
      const result = await workspace.exec({ id, start }, listen, new AbortController().signal);
      return result.state === "not-started" ? result.message : told;
    },
  };
}
