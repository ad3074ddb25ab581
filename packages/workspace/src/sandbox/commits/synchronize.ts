// One shadow during the life of its sandbox: follows the real repository, and exports its changes to it.
import { randomUUID } from "node:crypto";
import type { ExecRequest, StatusResult } from "@agentcli/protocol";
import { openFingerprint } from "../../fingerprint.ts";
import type { OpenedWorkspace } from "../../lifecycle/index.ts";
import { giveFiles } from "../ownership.ts";
import type { SandboxPolicy } from "../policy.ts";
import { readReferences, readRepositoryExport } from "./export.ts";
import type { HostGit } from "./host-git.ts";
import { type BaseState, type ImportResult, importRepository, readBaseState } from "./import.ts";
import { exportStart, settleStart, synchronizeStart } from "./scripts.ts";
import { type Shadow, shadowInside } from "./shadow.ts";

export interface OpenedShadow {
  /** If the real repository was changed outside the sandbox. */
  synchronizeIfChanged(): Promise<ImportResult>;
  /** Throws with what could not be imported. `states` is of the shadows when a command ended; absent: as they are now. */
  importChanges(states?: ShadowStates): Promise<ImportResult>;
}

export type ShadowStates = StatusResult["repositories"];

export interface ShadowOptions {
  shadow: Shadow;
  /** Undefined if there is no trusted git: then nothing is imported. */
  git: HostGit | undefined;
  workspace: OpenedWorkspace;
  policy: SandboxPolicy;
  /** As in `ImportOptions`. */
  programs: string[];
}

const nothing: ImportResult = { notes: [], warnings: [] };

export async function openShadow({ shadow, git, workspace, policy, programs }: ShadowOptions): Promise<OpenedShadow> {
  /** Of the real repository, and of the shadow, when they were last the same. */
  let [realPrint, shadowPrint] = ["", ""];
  let base: BaseState;

  const inside = shadowInside(shadow, policy);
  const readRealPrint = openFingerprint(shadow);
  const newGitlinks = policy.nestedRepositories === "allowed" ? "allowed" : "refused";
  const giveToUser = async () => {
    if (policy.userId !== null) await giveFiles(shadow.commonDirectory, policy.userId);
  };
  const readShadowPrint = async (states?: ShadowStates) =>
    (states ?? (await workspace.status()).repositories)?.[inside.commonDirectory] ?? "";

  async function synchronize(): Promise<void> {
    realPrint = readRealPrint();
    const { stdout, states } = await runInside(workspace, synchronizeStart(inside));
    base = readBaseState(shadow, readReferences(stdout));
    shadowPrint = await readShadowPrint(states);
  }

  await synchronize();
  return {
    async synchronizeIfChanged() {
      if (readRealPrint() === realPrint) return nothing;
      // What a process in the background has committed meanwhile is not overwritten.
      return importChanges().finally(synchronize);
    },
    importChanges,
  };

  async function importChanges(states?: ShadowStates): Promise<ImportResult> {
    const print = await readShadowPrint(states);
    if (print === shadowPrint || git === undefined) return nothing;
    shadowPrint = print;
    const isCurrent = readRealPrint() === realPrint;
    const { stdout, stderr } = await runInside(workspace, exportStart(inside));
    const exported = readRepositoryExport(stdout);
    if (exported === undefined) throw new Error(unreadable(stderr));
    const options = { git, shadow, base, newGitlinks, programs } as const;
    const result = await importRepository(exported, options).finally(giveToUser);
    await runInside(workspace, settleStart(inside));
    base = readBaseState(shadow, exported.references);
    realPrint = isCurrent ? readRealPrint() : "";
    return result;
  }
}

/** Node strings cannot be much longer. */
const maxOutputCharacters = 400 * 1024 * 1024;

const maxReasonCharacters = 300;

/** A command took the permissions of .git away, or removed files of it. */
function unreadable(stderr: string): string {
  const reason = stderr.trim().split("\n", 1)[0]?.slice(0, maxReasonCharacters);
  return `.git cannot be read in the sandbox${reason ? ` (${reason})` : ""}. The repository outside is unchanged. Restore what a command changed in .git, such as its permissions; the next command imports it then.`;
}

interface ScriptOutput {
  stdout: string;
  stderr: string;
  /** When it ended. */
  states: ShadowStates;
}

/** A script that runs in the sandbox. */
async function runInside(workspace: OpenedWorkspace, start: NonNullable<ExecRequest["start"]>): Promise<ScriptOutput> {
  const id = `shadow-${randomUUID()}`;
  const parts = { stdout: [] as string[], stderr: [] as string[] };
  const tooMuch = new AbortController();
  let size = 0;
  const ended = await workspace.exec(
    { id, start },
    ({ stream, text }) => {
      size += text.length;
      if (size > maxOutputCharacters) tooMuch.abort();
      else parts[stream === "stdout" ? "stdout" : "stderr"].push(text);
    },
    tooMuch.signal,
  );
  // Nothing depends on it, and what follows need not wait for it.
  void workspace.release([id]).catch(() => {});
  if (tooMuch.signal.aborted)
    throw new Error("what was committed is larger than 300 MB. Commit large files outside the sandbox.");
  const [stdout, stderr] = [parts.stdout.join(""), parts.stderr.join("")];
  if (ended.state !== "exited" || ended.exitCode !== 0) throw new Error(stderr.trim() || unreadable(stderr));
  return { stdout, stderr, states: ended.repositories };
}
