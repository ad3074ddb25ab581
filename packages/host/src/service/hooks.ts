// The hooks of a service's run: those its conversation began with, or those that its files hold now.
import type { HookDefinition } from "@agentcli/protocol";
import { type HookSource, type ServerCommand, serverLocations } from "../hooks.ts";

export interface ServiceHooks extends Pick<HookSource, "runner" | "projectRoot" | "sessionFields"> {
  /** The hooks that the conversation began with; null if they are read now. */
  recordedHooks: HookDefinition[] | null;
  read(): FoundHooks | Promise<FoundHooks>;
}

export interface FoundHooks extends Pick<HookSource, "definitions" | "warnings"> {
  /** Reported in the first run only. */
  skipped?: HookSource["skipped"];
}

export interface FoundServiceHooks extends Pick<ServiceHooks, "runner" | "projectRoot" | "sessionFields"> {
  found: FoundHooks;
}

export function serviceHookSource(
  { runner, projectRoot, sessionFields = {}, found }: FoundServiceHooks,
  servers: [name: string, server: ServerCommand][],
  limitMs: number | null,
): HookSource {
  const { definitions, skipped = [], warnings } = found;
  return {
    runner,
    projectRoot,
    sessionFields,
    definitions,
    skipped,
    recordedHooks: definitions,
    warnings,
    limitMs,
    servers: serverLocations(servers),
    transcriptPath: () => null,
  };
}
