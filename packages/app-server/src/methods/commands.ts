// command/exec: commands of a client, each in its own workspace, which ends with the command, the client or the server.
import { TextDecoder } from "node:util";
import { durationMs, maxTimerMs } from "@agentcli/project";
import type { ExecResult, Workspace } from "@agentcli/protocol";
import type { CommandExecParams } from "@agentcli/protocol/app-server";
import type { LazyWorkspace } from "@agentcli/workspace";
import { type Call, type Client, type Host, invalidParams, invalidRequest, type OpenPart } from "../method.ts";
import { refusing } from "../refusing.ts";
import { openCommandOutput } from "./command-output.ts";
import { type CommandRequest, readCommand } from "./command-request.ts";
import { chooseSandbox } from "./sandbox-policy.ts";

export const openCommands: OpenPart = (host) => {
  const running = openRunning();
  return {
    methods: {
      "command/exec": (params, client, call) => refusing(() => running.run(params, { client, call, host })),
      async "command/exec/write"({ processId, deltaBase64, closeStdin }, client) {
        const command = running.find(processId, client);
        if (command.request.input !== "streamed") throw invalidRequest(`${processId} was started without streamStdin.`);
        await command.write(deltaBase64 ?? "", closeStdin ? "last" : "more");
        return {};
      },
      async "command/exec/resize"({ processId, size: { rows, cols } }, client) {
        const command = running.find(processId, client);
        if (!command.request.terminal) throw invalidRequest(`${processId} was started without tty; it has no size.`);
        await command.send({ resize: { rows, columns: cols } });
        return {};
      },
      "command/exec/terminate"({ processId }, client) {
        running.find(processId, client).end();
        return {};
      },
    },
    close: running.close,
  };
};

interface Caller {
  client: Client;
  call: Call;
  host: Host;
}

/** Commands with an id for the client and those without: all of them must end. */
function openRunning() {
  const named = new Map<string, Command>();
  const all = new Map<Command, Promise<unknown>>();
  const keyOf = (processId: string, { id }: Client) => `${id} ${processId}`;

  async function follow(command: Command, key: string | null, params: CommandExecParams, caller: Caller) {
    const work = execute(command, params, caller);
    all.set(command, work);
    try {
      return await work;
    } finally {
      all.delete(command);
      if (key !== null) named.delete(key);
    }
  }

  return {
    async run(params: CommandExecParams, caller: Caller) {
      const command = openCommand(readCommand(params));
      const { processId } = params;
      const key = processId ? keyOf(processId, caller.client) : null;
      if (key !== null && named.has(key)) throw invalidRequest(`The process ${processId} is running already.`);
      // Before the first await: the client's next message may refer to it.
      if (key !== null) named.set(key, command);
      return follow(command, key, params, caller);
    },
    find(processId: string, client: Client): Command {
      const command = named.get(keyOf(processId, client));
      if (command) return command;
      throw invalidRequest(`There is no command with the processId ${processId}, or it is over.`);
    },
    async close() {
      for (const command of all.keys()) command.end();
      await Promise.allSettled(all.values());
    },
  };
}

type Command = ReturnType<typeof openCommand>;
type Sent = { input: string } | { input: string; endInput: true } | { resize: { rows: number; columns: number } };

const id = "command";
const afterAll = Number.MAX_SAFE_INTEGER;

/** One command before, while and after it runs; what is sent early waits for its start. */
function openCommand(request: CommandRequest) {
  const ending = new AbortController();
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let begin: (workspace: Workspace) => void = () => {};
  let finish: () => void = () => {};
  let isOver = false;
  const begun = new Promise<Workspace | null>((resolve) => {
    begin = resolve;
    finish = () => {
      isOver = true;
      resolve(null);
    };
  });
  const send = async (sent: Sent) => {
    const workspace = await begun;
    if (!workspace || isOver) throw invalidRequest("The command has ended and takes no more input.");
    await workspace.exec({ id, afterSeq: afterAll, waitMs: 0, ...sent }, () => {}, ending.signal);
  };
  return {
    request,
    signal: ending.signal,
    end: () => ending.abort(),
    begin,
    finish,
    send,
    write(deltaBase64: string, opened: "more" | "last") {
      const input = textOf(deltaBase64, decoder, opened);
      return send(opened === "last" ? { input, endInput: true } : { input });
    },
  };
}

/** A workspace takes text; a character may come in two pieces. */
function textOf(base64: string, decoder: TextDecoder, opened: "more" | "last"): string {
  try {
    return decoder.decode(Buffer.from(base64, "base64"), { stream: opened === "more" });
  } catch {
    throw invalidParams("deltaBase64 holds bytes that are no UTF-8 text. Hand them over in a file.");
  }
}

async function execute(command: Command, params: CommandExecParams, { client, call, host }: Caller) {
  call.signal.addEventListener("abort", command.end);
  if (call.signal.aborted) command.end();
  let opened: OpenedWorkspace | undefined;
  try {
    opened = await openWorkspace(params, host);
    return await runIn(opened, command, client);
  } finally {
    call.signal.removeEventListener("abort", command.end);
    command.finish();
    await opened?.workspace.close();
    for (const message of (await opened?.workspace.findRepositoryChanges()) ?? [])
      client.notify("warning", { threadId: null, message });
  }
}

interface OpenedWorkspace {
  workspace: LazyWorkspace;
  usualTimeoutMs: number | null;
}

async function openWorkspace(
  { cwd: directory, sandboxPolicy }: CommandExecParams,
  host: Host,
): Promise<OpenedWorkspace> {
  const { configuration, runs } = host.agent;
  const configured = await configuration.load(directory ?? null);
  const { cwd, options } = configured;
  const { settings, loaded } = await configuration.settle(configured);
  const { config, ...chosen } = sandboxPolicy
    ? chooseSandbox(sandboxPolicy, loaded.config, loaded.requirements)
    : { sandbox: settings.sandbox, config: loaded.config };
  // No shell: a command is a program with arguments, and needs no login.
  const wanted = { cwd, shell: "", sandboxMin: options.sandboxMin, ...chosen };
  const workspace = await runs.openWorkspace(wanted, config);
  return { workspace, usualTimeoutMs: durationMs(config.limits.tool) };
}

async function runIn({ workspace, usualTimeoutMs }: OpenedWorkspace, command: Command, client: Client) {
  const { argv, env, terminal, input, timeoutMs = usualTimeoutMs, ...outputOptions } = command.request;
  // A client that stopped reading must not hide the end of its command.
  const hold = () => void (command.signal.aborted || workspace.holdOutput());
  const output = openCommandOutput({ ...outputOptions, client, hold, resume: workspace.resumeOutput });
  command.signal.addEventListener("abort", workspace.resumeOutput);
  const limit = timeoutMs === null ? {} : { timeoutMs: Math.min(Math.max(1, timeoutMs), maxTimerMs) };
  const start = { argv, env, ...(terminal && { terminal }), ...limit };
  const ended = workspace.exec({ id, start, endInput: input === "none" }, output.take, command.signal);
  command.begin(workspace);
  return { exitCode: exitCodeOf(await ended), ...output.kept() };
}

function exitCodeOf(result: ExecResult): number {
  switch (result.state) {
    case "exited":
      return result.exitCode;
    case "not-started":
      throw invalidRequest(result.message);
    case "running":
    case "unknown":
      throw new Error(`a command that was waited for is ${result.state}`);
  }
}
