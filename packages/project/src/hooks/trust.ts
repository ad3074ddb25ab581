// Whether a hook runs: managed ones always, others if the user trusted their current version.
import type { HookDefinition } from "@agentcli/protocol";
import type { HookState } from "../config/hook-files.ts";
import { notRun } from "./agentcli/definitions.ts";
import { currentHashes } from "./read.ts";
import { hashOfFile } from "./script.ts";

export type TrustStatus = "managed" | "trusted" | "modified" | "untrusted";

export interface TrustOptions {
  states: Map<string, HookState>;
  /** Definition hashes trusted on the command line. */
  hashes: string[];
  bypass: "none" | "all";
}

export function trustStatus(definition: HookDefinition, { states, hashes }: TrustOptions): TrustStatus {
  if (definition.source.kind === "managed") return "managed";
  if (hashes.includes(definition.hash)) return "trusted";
  const state = states.get(definition.key);
  if (state?.trusted_hash === undefined) return "untrusted";
  const isSame = state.trusted_hash === definition.hash && state.script_hash === definition.script?.hash;
  return isSame ? "trusted" : "modified";
}

/** Why it does not run; null if it does. */
export function whySkipped(definition: HookDefinition, options: TrustOptions): string | null {
  if (definition.type === "agent") return notRun;
  const status = trustStatus(definition, options);
  if (status === "managed") return null;
  if (options.states.get(definition.key)?.enabled === false) return "switched off in hooks.state";
  if (status === "trusted" || options.bypass === "all") return null;
  const ways = `see it with agentcli hooks list, then agentcli hooks trust, or --trust-hooks ${definition.hash}`;
  return status === "modified" ? `changed since it was trusted; ${ways}` : `not trusted; ${ways}`;
}

/** Whether definition and script are what they were when the thread began. An administrator may change theirs. */
export async function isUnchanged(definition: HookDefinition): Promise<boolean> {
  const { source, script, hash } = definition;
  if (source.kind === "managed") return true;
  if (script && hashOfFile(script.path) !== script.hash) return false;
  return source.path === "-c" || (await currentHashes(definition)).includes(hash);
}
