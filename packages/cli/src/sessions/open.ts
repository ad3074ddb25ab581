// A session for reading: its records, as far as they are whole lines.
import { CommandError } from "@agentcli/command-line";
import type { StoredRecord } from "@agentcli/engine";
import { findSessionPath, readLines } from "@agentcli/host/sessions";
import type { RecordOf } from "@agentcli/protocol";
import { findByReference } from "./find.ts";

export interface OpenedSession {
  path: string;
  records: StoredRecord[];
  created: RecordOf<"thread.created">;
}

export function openSession(reference: string | undefined, home: string): OpenedSession {
  if (reference === undefined) {
    throw new CommandError("usage", "No session given. Pass its id or name. To list sessions: agentcli sessions list");
  }
  const id = findByReference(reference, home);
  const path = findSessionPath(home, id);
  const records = path === null ? [] : readLines(path);
  const created = records[0]?.record;
  if (path === null || created?.type !== "thread.created") {
    throw new CommandError(
      "usage",
      `Session ${id} is damaged: its first line is not valid. Remove it: agentcli sessions delete ${id}`,
    );
  }
  return { path, records, created };
}
