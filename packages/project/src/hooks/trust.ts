// Whether a hook runs: managed ones always, others if the user trusted their current version.
import type { HookDefinition } from "@agentcli/protocol";
import type { HookState } from "../config/hook-files.ts";
import { notRun } from "./agentcli/definitions.ts";
import { hashOf } from "./hash.ts";
import { currentHash, isOnlyScript } from "./pin/index.ts";
import { currentHashes } from "./read.ts";

export type TrustStatus = "managed" | "trusted" | "modified" | "untrusted";

export interface TrustOptions {
  states: Map<string, HookState>;
  /** Trusted on the command line; see trustHash. */
  hashes: string[];
  bypass: "none" | "all";
}

export function trustStatus(definition: HookDefinition, { states, hashes }: TrustOptions): TrustStatus {
  if (definition.source.kind === "managed") return "managed";
  const state = states.get(definition.key);
  if (definition.unpinned !== undefined && state?.unpinned !== true)
    return state?.trusted_hash === undefined || state.trusted_hash === definition.hash ? "untrusted" : "modified";
  if (hashes.includes(trustHash(definition))) return "trusted";
  if (state?.trusted_hash === undefined) return "untrusted";
  return state.trusted_hash === definition.hash && areSameFiles(definition, state) ? "trusted" : "modified";
}

function areSameFiles({ script, files = [], unpinned }: HookDefinition, state: HookState): boolean {
  if (state.script_hash !== script?.hash) return false;
  if (state.files_hash !== undefined) return unpinned === undefined && state.files_hash === hashOfFiles(files);
  return unpinned !== undefined || isOnlyScript(files, script);
}

/** In the order of the paths, but without them: a worktree has the same files elsewhere, and two that are exchanged are others. */
export const hashOfFiles = (files: NonNullable<HookDefinition["files"]>): string =>
  hashOf({ files: [...files].sort((one, other) => (one.path < other.path ? -1 : 1)).map(({ hash }) => hash) });

/** What is trusted on the command line: the definition, with the content of the files that it runs. */
export const trustHash = ({ hash, script, files = [] }: HookDefinition): string =>
  script === undefined && files.length === 0
    ? hash
    : hashOf({ definition: hash, files: hashOfFiles(script ? [script, ...files] : files) });

/** Why it does not run; null if it does. */
export function whySkipped(definition: HookDefinition, options: TrustOptions): string | null {
  if (definition.type === "agent") return notRun;
  const status = trustStatus(definition, options);
  if (status === "managed") return null;
  const state = options.states.get(definition.key);
  if (state?.enabled === false) return "switched off in hooks.state";
  if (status === "trusted" || options.bypass === "all") return null;
  if (definition.unpinned !== undefined)
    return `cannot be pinned: ${definition.unpinned}; see it with agentcli hooks list, then agentcli hooks trust --unpinned`;
  const ways = `see it with agentcli hooks list, then agentcli hooks trust, or --trust-hooks ${trustHash(definition)}`;
  if (status === "untrusted") return `not trusted; ${ways}`;
  const isOlder = state?.trusted_hash === definition.hash && state.files_hash === undefined;
  return isOlder && state.script_hash === definition.script?.hash
    ? `trusted before the other files that it runs were covered; ${ways}`
    : `changed since it was trusted; ${ways}`;
}

/** Whether definition and files are what they were when the thread began. An administrator may change theirs. */
export async function isUnchanged(definition: HookDefinition): Promise<boolean> {
  const { source, script, files = [], hash } = definition;
  if (source.kind === "managed") return true;
  const pinned = script ? [script, ...files] : files;
  if (pinned.some((file) => currentHash(file.path) !== file.hash)) return false;
  return source.path === "-c" || (await currentHashes(definition)).includes(hash);
}
