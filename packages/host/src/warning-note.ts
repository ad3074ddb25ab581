// A warning as a record of a thread.
import type { ThreadRecord } from "@agentcli/protocol";

export const warningNote = (message: string): ThreadRecord => ({ type: "noted", kind: "warning", data: { message } });
