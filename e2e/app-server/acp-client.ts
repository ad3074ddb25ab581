// An editor for tests: the official client library on the built program, with every message checked against the published schema.
import type { ChildProcess } from "node:child_process";
import { createRequire } from "node:module";
import { Readable, Writable } from "node:stream";
import type { Harness } from "@agentcli/testkit/cli";
import {
  type AnyMessage,
  type ClientCapabilities,
  type ClientConnection,
  client,
  ndJsonStream,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
  type SessionNotification,
  type SessionUpdate,
} from "@agentclientprotocol/sdk";
import { Ajv2020 } from "ajv/dist/2020.js";
import { onTestFinished } from "vitest";

export interface Editor {
  agent: ClientConnection["agent"];
  /** Of all sessions, in order. */
  updates: SessionUpdate[];
  /** Permission requests so far. */
  asked: RequestPermissionRequest[];
  /** How requests are answered from now on: the id of the option, or a promise of the whole outcome. */
  answer(reply: (request: RequestPermissionRequest) => Reply): void;
  /** Problems of messages, in both directions; a message of which the schema knows nothing is one. */
  problems: string[];
  /** How many messages were checked. */
  checked(): number;
  child: ChildProcess;
  /** Ends the input of the program; its exit code. */
  end(): Promise<number | null>;
}

type Reply = string | Promise<RequestPermissionResponse>;

export function openEditor(harness: Harness, args: string[] = []): Editor {
  const child = harness.start(["acp", ...args], { stdin: "open" });
  const exited = new Promise<number | null>((resolve) => child.on("close", (code) => resolve(code)));
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await exited;
  });
  child.stderr?.resume();
  const { stdin, stdout } = child;
  if (!stdin || !stdout) throw new Error("the program has no pipes");
  const check = openCheck();
  const wire = ndJsonStream(
    Writable.toWeb(stdin) as WritableStream<Uint8Array>,
    Readable.toWeb(stdout) as ReadableStream<Uint8Array>,
  );
  const outgoing = tap(check.fromEditor);
  outgoing.readable.pipeTo(wire.writable).catch(() => {});
  const updates: SessionUpdate[] = [];
  const asked: RequestPermissionRequest[] = [];
  let reply = (_request: RequestPermissionRequest): Reply => "decline";
  const connection = client({ name: "test editor" })
    .onNotification("session/update", ({ params }: { params: SessionNotification }) => void updates.push(params.update))
    .onRequest("session/request_permission", async ({ params }) => {
      asked.push(params);
      const given = reply(params);
      return typeof given === "string" ? { outcome: { outcome: "selected", optionId: given } } : given;
    })
    .connect({ readable: wire.readable.pipeThrough(tap(check.fromAgent)), writable: outgoing.writable });
  return {
    agent: connection.agent,
    updates,
    asked,
    answer(next) {
      reply = next;
    },
    problems: check.problems,
    checked: check.count,
    child,
    end() {
      stdin.end();
      return exited;
    },
  };
}

export const initialize = (editor: Editor, clientCapabilities: ClientCapabilities = {}) =>
  editor.agent.request("initialize", { protocolVersion: 1, clientCapabilities });

const tap = (see: (message: AnyMessage) => void) =>
  new TransformStream<AnyMessage, AnyMessage>({
    transform(message, controller) {
      see(message);
      controller.enqueue(message);
    },
  });

interface Wire {
  id?: string | number | null;
  method?: string;
  params?: unknown;
  result?: unknown;
  error?: unknown;
  jsonrpc?: string;
}

/** Names of the schema that belong to a method, as the schema itself has them. */
function openCheck() {
  const schema = createRequire(import.meta.url)("@agentclientprotocol/sdk/schema/v1/schema.json") as {
    $defs: Record<string, { "x-method"?: string; "x-side"?: string }>;
  };
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema(schema, "acp");
  const problems: string[] = [];
  let count = 0;
  const validate = (name: string, value: unknown) => {
    count++;
    const isValid = ajv.getSchema(`acp#/$defs/${name}`);
    if (!isValid) problems.push(`there is no schema ${name}`);
    else if (!isValid(value)) problems.push(`${name}: ${ajv.errorsText(isValid.errors)} in ${JSON.stringify(value)}`);
  };
  const nameOf = (method: string, kinds: RegExp) =>
    Object.entries(schema.$defs).find(([name, each]) => each["x-method"] === method && kinds.test(name))?.[0];
  const requests = new Map<unknown, string>();
  const fromEditor = (message: AnyMessage) => {
    const { id, method, params } = message as Wire;
    if (method === undefined) return;
    if (id !== undefined) requests.set(id, method);
    validate(nameOf(method, /(?:Request|Notification)$/) ?? method, params);
  };
  const fromAgent = (message: AnyMessage) => {
    const { id, method, params, result, error, jsonrpc } = message as Wire;
    if (jsonrpc !== "2.0") problems.push(`no JSON-RPC message: ${JSON.stringify(message)}`);
    if (method !== undefined) validate(nameOf(method, /(?:Request|Notification)$/) ?? method, params);
    else if (error !== undefined) validate("Error", error);
    else validate(nameOf(requests.get(id) ?? "", /Response$/) ?? "(no request)", result);
  };
  return { fromAgent, fromEditor, problems, count: () => count };
}
