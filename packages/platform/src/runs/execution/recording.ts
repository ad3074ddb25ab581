// The recording of a run whose agent asks for one: kept in memory while the run goes on, then stored as an artifact.
import { arch, platform as system } from "node:os";
import type { Model, SessionStore, StoredRecord } from "@agentcli/engine";
import { localToday } from "@agentcli/host";
import { type PlatformContext, version } from "../../foundation/index.ts";
import type { Artifacts } from "./artifacts.ts";
import type { RunPlan } from "./compose/index.ts";
import type { ActiveRun } from "./records.ts";
import { readThreadRecords } from "./session-store.ts";

export interface RunRecording {
  store(store: SessionStore): SessionStore;
  /** Around every model that the run asks. */
  model(model: Model): Model;
  /** Stores what there is of it. Never fails. */
  keep(): Promise<void>;
}

export interface RecordingContext {
  activeRun: ActiveRun;
  plan: Pick<RunPlan, "scrub">;
  platform: Pick<PlatformContext, "db" | "log">;
  artifacts: Pick<Artifacts, "store">;
}

/** What follows is left out: `agentcli replay` shows that it ends there. */
const maxBytes = 32 * 1024 * 1024;

/** Secrets are masked before a line is kept. Loaded only where a run is recorded. */
export async function openRunRecording(context: RecordingContext): Promise<RunRecording> {
  const { activeRun, plan, platform, artifacts } = context;
  const { agent, key, run } = activeRun;
  if (!agent.settings.recordRuns) return noRecording;
  const { recordRun } = await import("@agentcli/host/cassette");
  const lines = openLines(() => platform.log.warn("recording.incomplete", { runId: run.id, maxBytes }));
  const recording = recordRun<SessionStore>({
    header: {
      cassette: 1,
      at: new Date().toISOString(),
      program: { name: "platform", version },
      command: "platform",
      options: {},
      today: localToday(),
      environment: { platform: system(), arch: arch(), node: process.version },
    },
    scrub: plan.scrub,
    write: lines.push,
    async readPast(threadId, last) {
      const past: StoredRecord[] = [];
      for await (const records of readThreadRecords(platform.db, key, threadId)) past.push(...records);
      return past.filter(({ seq }) => seq <= last);
    },
  });
  return {
    ...recording,
    keep: () => artifacts.store(activeRun, `recordings/${run.id}.jsonl`, lines.content()),
  };
}

const noRecording: RunRecording = { store: (store) => store, model: (model) => model, async keep() {} };

function openLines(onFull: () => void) {
  const lines: Buffer[] = [];
  let size = 0;
  return {
    push(line: string): void {
      if (size > maxBytes) return;
      const bytes = Buffer.from(line);
      size += bytes.length;
      if (size > maxBytes) onFull();
      else lines.push(bytes);
    },
    content: () => Buffer.concat(lines),
  };
}
