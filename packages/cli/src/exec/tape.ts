// The tape of a run: --record writes one, AGENT_REPLAY answers from one.
import { platform, release } from "node:os";
import { resolve } from "node:path";
import { CommandError } from "@agentcli/command-line";
import { localToday, type RunOptions, type Tape, type Today } from "@agentcli/host";
import {
  type Cassette,
  type CassetteHeader,
  describeDifference,
  type FileRecording,
  failingModel,
  openPlayer,
  openRecording,
  readCassette,
} from "@agentcli/host/cassette";
import type { Program } from "../program.ts";

export async function openTape(options: RunOptions, program: Program): Promise<Tape> {
  const { AGENT_REPLAY: fixture } = program.environment.variables;
  if (!fixture) return recordingTape(options, program);
  if (options.recordFile === undefined)
    return fixtureTape(readCassette(resolve(program.environment.cwd, fixture)), fixture);
  throw new CommandError(
    "usage",
    "--record has no effect with AGENT_REPLAY: the replies come from a recording. Use one of them.",
  );
}

function recordingTape(options: RunOptions, program: Program): Tape {
  const { recordFile = "" } = options;
  const path = resolve(program.environment.cwd, recordFile);
  const command = options.purpose === "review" ? "review" : "exec";
  const { recording, today } = startRecording({ path, command, options }, program);
  return {
    store: recording.store,
    openModel: async (open) => recording.model(await open()),
    today,
    servers: "started",
  };
}

export interface RecordingRequest {
  path: string;
  command: CassetteHeader["command"];
  options: RunOptions;
}

export function startRecording(
  { path, command, options: { recordFile: _, ...options } }: RecordingRequest,
  { version, scrub, reporter }: Program,
): { recording: FileRecording; today: Today } {
  const today = localToday();
  const recording = openRecording({
    path,
    scrub,
    warn: (message) => reporter.log(`warning: ${message}`),
    header: {
      cassette: 1,
      at: new Date().toISOString(),
      program: { name: "agentcli", version },
      command,
      options,
      today,
      environment: { platform: platform(), release: release(), arch: process.arch, node: process.version },
    },
  });
  return { recording, today };
}

/** The replies of a recording for whatever is asked in this order; tools work for real. */
export function fixtureTape(cassette: Cassette, name: string): Tape {
  const player = openPlayer({
    cassette,
    compare: "prompts",
    async onDifference(difference) {
      return failingModel("protocol", `AGENT_REPLAY=${name}: ${describeDifference(difference)}. Record it again.`);
    },
  });
  return { store: (store) => store, openModel: async () => player, servers: "started" };
}
