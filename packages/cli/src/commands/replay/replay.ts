// `agentcli replay`: the events of a recorded run, or the same run with something changed.
import { realpathSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import { CommandError, exitNameOf } from "@agentcli/command-line";
import { callbacksFor, type RunOptions, type Tape } from "@agentcli/host";
import { type Cassette, describeDifference, failingModel, openPlayer, readCassette } from "@agentcli/host/cassette";
import { newId, openStore } from "@agentcli/host/sessions";
import type { RecordOf } from "@agentcli/protocol";
import type { Invocation } from "../../command.ts";
import { executePrompt } from "../../exec/execute-prompt.ts";
import { openRun } from "../../exec/run.ts";
import type { Program } from "../../program.ts";
import { changedInput } from "../../replay/inputs.ts";
import { play } from "../../replay/play.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const [file] = invocation.positionals;
  if (file === undefined) throw new CommandError("usage", "No recording given: agentcli replay FILE.");
  const cassette = readCassette(resolve(program.environment.cwd, file));
  const options = optionsOf(invocation, cassette);
  const isLive = invocation.text("tools") === "live";
  const start = startOf(cassette);
  if (!start) {
    if (isLive || invocation.text("model") !== undefined) throw notFromTheStart(file);
    return shown(cassette, invocation, program);
  }
  const directory = options.directory ?? start.created.settings?.cwd ?? ".";
  const live = { options: { ...options, directory }, isChosen: invocation.text("cd") !== undefined, program };
  if (isLive) return runLive(live, start, playingTape(cassette, program));
  const difference = await differenceNow({ cassette, start, options }, program);
  if (!difference) return shown(cassette, invocation, program);
  program.reporter.log(`replay: ${describeDifference(difference)}. From here the run is live.`);
  return runLive(live, start);
}

/** Each record of a file can be right, and all of them together make no sense. */
async function shown(cassette: Cassette, { positionals, text }: Invocation, { reporter }: Program): Promise<number> {
  try {
    return await play(cassette, { reporter, until: text("until") });
  } catch (error) {
    if (exitNameOf(error) !== null) throw error;
    const reason = (error as Error).message;
    throw new CommandError("usage", `${positionals[0]}: its records do not fit together (${reason}). Record it again.`);
  }
}

/** As the run was started, with what this command line changes. */
function optionsOf(invocation: Invocation, { header }: Cassette): RunOptions & { recordedOverrides: string[] } {
  const { options } = header;
  return {
    ...noOptions,
    ...options,
    overrides: [...(options.overrides ?? []), ...invocation.list("config")],
    recordedOverrides: options.overrides ?? [],
    ...present({ model: invocation.text("model"), directory: invocation.text("cd") }),
    outputFile: invocation.text("output-last-message"),
    ephemeral: invocation.has("ephemeral"),
  };
}

/** For a recording that was written by another program. */
const noOptions: RunOptions = {
  skipGitCheck: false,
  ephemeral: false,
  budget: [],
  images: [],
  tags: {},
  local: null,
  ignoreRules: false,
  trustHooks: [],
  bypassHookTrust: false,
  fullAuto: false,
  bypass: false,
  moreDirectories: [],
  overrides: [],
  limits: [],
  strictConfig: false,
  ignoreUserConfig: false,
  trustProject: false,
};

const present = <Members extends object>(members: Members): Partial<Members> =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Partial<Members>;

interface Start {
  created: RecordOf<"thread.created">;
  begun: RecordOf<"turn.begun">;
}

/** Null if the recording continues an earlier thread, is a review, or was made on the platform. */
function startOf({ header, batches }: Cassette): Start | null {
  const [created, , begun] = batches[0]?.records.map(({ record }) => record) ?? [];
  const isNew = batches[0]?.type === "records" && created?.type === "thread.created" && begun?.type === "turn.begun";
  return isNew && header.command === "exec" ? { created, begun } : null;
}

interface Comparison {
  cassette: Cassette;
  start: Start;
  options: RunOptions;
}

/** A recording from another machine can be shown, also where its project or provider is missing. */
async function differenceNow({ cassette, start, options }: Comparison, program: Program) {
  const directory = options.directory ?? start.created.settings?.cwd;
  try {
    return await changedInput(cassette, start.created, { options: { ...options, ...present({ directory }) }, program });
  } catch (error) {
    if (options.model !== cassette.header.options.model) throw error;
    program.reporter.log(`replay: not compared with what is here now: ${(error as Error).message}`);
    return null;
  }
}

/** Replies come from the recording until a request differs. */
function playingTape(cassette: Cassette, { reporter }: Program): Tape {
  let openLive: Parameters<Tape["openModel"]>[0] = async () => failingModel("auth", "No model has been opened.");
  const player = openPlayer({
    cassette,
    compare: "requests",
    async onDifference(difference) {
      reporter.log(`replay: ${describeDifference(difference)}. From here the model is live.`);
      return openLive().catch((error: Error) => failingModel("auth", error.message));
    },
  });
  return {
    store: (store) => store,
    async openModel(open) {
      openLive = open;
      return player;
    },
    today: cassette.header.today,
    servers: "started",
  };
}

interface LiveRun {
  options: RunOptions;
  /** Whether the user has named the directory. */
  isChosen: boolean;
  program: Program;
}

async function runLive({ options, isChosen, program }: LiveRun, { begun }: Start, tape?: Tape): Promise<number> {
  checkRights(options);
  if (!isChosen) checkDirectory(options.directory ?? ".", program);
  const store = openStore(options, program.environment.agentHome);
  try {
    const callbacks = callbacksFor(program.reporter);
    const run = await openRun(options, program, { store, recorded: null, callbacks, ...(tape && { tape }) });
    try {
      return await executePrompt(begun.input, run, { threadId: newId(Date.now()) });
    } finally {
      await run.close();
    }
  } finally {
    store.close();
  }
}

/** What a recording may choose for a live run; these widen nothing. */
const choosable = new Set([
  ...[
    "model",
    "provider",
    "local",
    "purpose",
    "sandbox",
    "approval",
    "budget",
    "onLimit",
    "tags",
    "sanitize",
    "images",
  ],
  ...["overrides", "directory", "outputFile", "outputSchemaFile", "ephemeral", "skipGitCheck", "strictConfig"],
]);

/** A recording is data, perhaps of another user: it may not widen what a run may do here. */
function checkRights(options: RunOptions): void {
  const { sandbox = "read-only", outputSchemaFile = "" } = options;
  const isGiven = (value: unknown) => Boolean(value) && !(Array.isArray(value) && value.length === 0);
  const given = Object.entries(options).filter(([name, value]) => !choosable.has(name) && isGiven(value));
  const isBelow = !isAbsolute(outputSchemaFile) && !outputSchemaFile.split("/").includes("..");
  if (given.length === 0 && ["read-only", "workspace-write"].includes(sandbox) && isBelow) return;
  throw new CommandError(
    "usage",
    "The recording was made with flags that widen or change what a run may do (-c, --add-dir, a profile, limits, trust or no sandbox). It can be shown, not run live: run agentcli exec with those flags yourself.",
  );
}

/** Nor choose where: that is the current directory, or the one of --cd. */
function checkDirectory(directory: string, { environment }: Program): void {
  const [here, recorded] = [environment.cwd, resolve(environment.cwd, directory)].map(realPath);
  if (here === recorded) return;
  throw new CommandError(
    "usage",
    `The recording was made in ${recorded}. It can be shown here; to run it live, say where: --cd ${recorded}, or --cd . for this directory.`,
  );
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

const notFromTheStart = (file: string): CommandError =>
  new CommandError(
    "usage",
    `${file} continues an earlier thread, is a review or was made on the platform: it can be shown, not run again. --tools live and --model need a recording of agentcli exec.`,
  );
