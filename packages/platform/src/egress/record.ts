// What one run has reached and was refused: collected while it runs, and stored sealed with the run.
import type { EgressEntry, EgressPhase, EgressPolicy, RunEgress } from "@agentcli/protocol/api";
import type { Denial, Traffic } from "@agentcli/workspace";
import type { Kysely } from "kysely";
import type { DataKey, Tables } from "../foundation/index.ts";
import { policyName } from "./policy.ts";

export interface EgressRecord {
  policy: EgressPolicy;
  /** How its list is called in messages. */
  name: string;
  onDenied(denial: Denial): void;
  onTraffic(traffic: Traffic): void;
  /** What happens meanwhile is of this phase. */
  during<Result>(phase: EgressPhase, act: () => Promise<Result>): Promise<Result>;
  /** Stores what there is. */
  close(): Promise<void>;
}

export interface EgressRecordOptions {
  db: Kysely<Tables>;
  key: DataKey;
  runId: string;
  /** A server that drove the run before may have stored some of it. */
  isResumed: boolean;
  /** Stores it with the run. */
  store(sealed: Buffer): Promise<void>;
  policy: EgressPolicy;
  /** A name can carry a secret out, and is stored. */
  scrub(text: string): string;
  now(): Date;
}

const maxEntries = 500;
const saveDelayMs = 500;
const egressAad = (runId: string): string => `egress:${runId}`;

export async function openEgressRecord(options: EgressRecordOptions): Promise<EgressRecord> {
  const { key, runId, policy, store, scrub, now } = options;
  const former = options.isResumed ? await readFormer(options) : empty;
  const entries = new Map(former.items.map((entry) => [keyOf(entry), entry]));
  let { omitted } = former;
  let phase: EgressPhase = "run";
  let timer: NodeJS.Timeout | undefined;
  let saving = Promise.resolve();

  async function save(): Promise<void> {
    const document: RunEgress = { policy, items: [...entries.values()], omitted };
    await store(key.seal(JSON.stringify(document), egressAad(runId)));
  }

  function saveSoon(): void {
    timer ??= setTimeout(() => {
      timer = undefined;
      // A failure shows again when the record is closed.
      saving = saving.then(save).catch(() => {});
    }, saveDelayMs).unref();
  }

  function add(entry: Pick<EgressEntry, "host" | "port" | "decision"> & Partial<EgressEntry>): void {
    const at = now().toISOString();
    const found = entries.get(keyOf({ phase, ...entry }));
    if (!found && entries.size >= maxEntries && entry.decision === "allowed") omitted += omitDenied(entries);
    if (found) {
      found.connections += 1;
      found.bytesSent += entry.bytesSent ?? 0;
      found.bytesReceived += entry.bytesReceived ?? 0;
      found.lastAt = at;
    } else if (entries.size < maxEntries) {
      const counted = { connections: 1, bytesSent: 0, bytesReceived: 0, ...entry };
      entries.set(keyOf({ phase, ...entry }), { phase, ...counted, firstAt: at, lastAt: at });
    } else omitted += 1;
    saveSoon();
  }

  // Not at once: it would lock the run while the first model request waits to be recorded there.
  saveSoon();
  return {
    policy,
    name: policyName(policy),
    onDenied: (denial) => add(deniedEntry(denial, scrub)),
    onTraffic: ({ host, ...counted }) => add({ host: scrub(host), decision: "allowed", ...counted }),
    async during(during, act) {
      phase = during;
      return act().finally(() => {
        phase = "run";
      });
    },
    async close() {
      clearTimeout(timer);
      await saving;
      await save();
    },
  };
}

/**
 * A program that asks for hundreds of names that are refused must not hide which hosts the run has reached. Returns how many
 * connections are not listed any more.
 */
function omitDenied(entries: Map<string, EgressEntry>): number {
  const [key, denied] = [...entries].findLast(([, { decision }]) => decision === "denied") ?? [];
  if (key === undefined || denied === undefined) return 0;
  entries.delete(key);
  return denied.connections;
}

const deniedEntry = (
  { host, port, rule, reason, process }: Parameters<EgressRecord["onDenied"]>[0],
  scrub: EgressRecordOptions["scrub"],
) => ({
  ...{ host: scrub(host), port, decision: "denied" as const, rule, reason: scrub(reason) },
  ...(process !== undefined && { process: scrub(process) }),
});

/** Of an earlier server that drove the run. */
async function readFormer({ db, key, runId }: EgressRecordOptions): Promise<RunEgress> {
  const row = await db.selectFrom("runs").select(["id", "egress"]).where("id", "=", runId).executeTakeFirst();
  return row ? readEgress(row, key) : empty;
}

const empty: RunEgress = { policy: null, items: [], omitted: 0 };

export function readEgress({ id, egress }: { id: string; egress: Buffer | null }, key: DataKey): RunEgress {
  if (egress === null) return empty;
  const { items, ...document } = JSON.parse(key.openText(egress, egressAad(id))) as RunEgress;
  return { ...document, items: items.toSorted(deniedFirst) };
}

const deniedFirst = (one: EgressEntry, other: EgressEntry): number =>
  other.decision.localeCompare(one.decision) || one.host.localeCompare(other.host) || one.port - other.port;

/** Without the process id: a loop of commands is one entry. */
const keyOf = ({ decision, host, port, rule, phase, process }: Partial<EgressEntry>): string =>
  JSON.stringify([decision, host, port, rule, phase, process?.replace(/ \(\d+\)$/, "")]);
