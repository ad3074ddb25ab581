// Shared by both dialects: creates events.
import type { HookEvent } from "@agentcli/engine/hooks";

/** Creates an event with the fields that every payload of the dialect has. */
export type MakeEvent = (event: string, subjects: string[] | null, fields: object) => HookEvent;
