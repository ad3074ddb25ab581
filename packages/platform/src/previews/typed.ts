// Who types into which terminal, for the audit log. Keys come several times a second, so an entry stands for minutes of them.
import type { MachineInUse } from "../runs/index.ts";

export interface Typist {
  agentId: string;
  terminal: string;
  /** As entries name them. */
  actor: string;
}

/** Settles when the log has an entry; if it cannot have one, nothing is typed. */
export type TypedLog = (machine: MachineInUse, typist: Typist) => Promise<void>;

const entryMs = 5 * 60_000;

export function openTypedLog(record: (typist: Typist) => Promise<void>, now: () => number = Date.now): TypedLog {
  const logged = new WeakMap<MachineInUse, Map<string, { until: number; entry: Promise<void> }>>();
  return async (machine, typist) => {
    const entries = logged.get(machine) ?? new Map();
    logged.set(machine, entries);
    const key = JSON.stringify([typist.actor, typist.terminal]);
    const last = entries.get(key);
    if (last && last.until > now()) return last.entry;
    const entry = record(typist);
    entries.set(key, { until: now() + entryMs, entry });
    entry.catch(() => entries.delete(key));
    return entry;
  };
}
