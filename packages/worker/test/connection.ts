// A real worker process that is connected to a test in the place of the platform, over a connection with added latency.
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { openNetworkNamespaces, openRelay } from "@agentcli/testkit";
import { spawnTestWorker, type TestWorker } from "@agentcli/testkit/platform";
import { connectWorkspace, type Link, openLink } from "@agentcli/workspace";
import { createWebSocketStream, WebSocketServer } from "ws";
import type { LocatedWorkspace } from "../../workspace/test/support/locations.ts";

export interface WorkerConnection {
  worker: TestWorker;
  link(): Link;
  /** A workspace of a new agent. */
  open(): Promise<LocatedWorkspace>;
  /** Frames of requests and answers that this side has received. */
  received(): number;
  close(): Promise<void>;
}

/** The network between both: loopback, or two network namespaces. A relay in between holds every byte back for the delay. */
export type TestNetwork = "loopback" | "network namespaces";

export interface ConnectionOptions {
  directory: string;
  /** In each direction. */
  delayMs: number;
  network?: TestNetwork;
}

export async function connectTestWorker(options: ConnectionOptions): Promise<WorkerConnection> {
  const { directory } = options;
  const http = createServer();
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
  const sockets = new WebSocketServer({ server: http, perMessageDeflate: false });
  const network = await openNetwork((http.address() as AddressInfo).port, options);
  let link: Link | undefined;
  let received = 0;
  sockets.on("connection", (socket) => {
    socket.on("message", () => {
      received += 1;
    });
    const stream = createWebSocketStream(socket, { highWaterMark: 1024 * 1024 });
    stream.on("error", () => {});
    const registered = async (answer: (reply: object) => void, end: () => void) => {
      answer({ linkVersion: 1, workerId: "w1" });
      end();
    };
    void openLink({
      stream,
      side: "platform",
      onRequest: ({ stream: channel }, answer) => registered(answer, () => void channel.end()),
    }).then((opened) => {
      link = opened;
    });
  });
  const worker = spawnTestWorker({ ...network, key: "plt_test", directory, args: ["--name", "w1"] });
  while (!worker.log().join("\n").includes("Waiting for agents."))
    await once(worker.child.stderr ?? worker.child, "data");
  const current = () => link ?? failed("the worker is not connected");
  return {
    worker,
    link: current,
    received: () => received,
    open: () => openAgent(current(), worker.data),
    async close() {
      await worker.stop("SIGKILL");
      await network.close();
      sockets.close();
      http.closeAllConnections();
      http.close();
    },
  };
}

async function openNetwork(port: number, { directory, delayMs, network = "loopback" }: ConnectionOptions) {
  if (network === "loopback") {
    const { url, close } = await openRelay(port, delayMs);
    return { url, prefix: [], close: async () => close() };
  }
  const socketPath = join(directory, "relay.sock");
  const relay = await openRelay(port, delayMs, socketPath);
  const { url, prefix, close } = await openNetworkNamespaces(socketPath);
  return {
    url,
    prefix,
    async close() {
      await close();
      relay.close();
    },
  };
}

function failed(message: string): never {
  throw new Error(message);
}

async function openAgent(link: Link, data: string): Promise<LocatedWorkspace> {
  const agent = `bc-${randomUUID()}`;
  const request = { agent, key: "workspace-write 1", mode: "workspace-write", root: "work", writable: [] };
  const plain = async (name: string, body: object) => void (await link.request(name, body)).stream.destroy();
  await plain("agent.claim", { agent, runId: "run-1" });
  const directory = join(data, "agents", agent, "files/work");
  mkdirSync(directory);
  const incarnation = randomUUID();
  const limits = { memoryBytes: null, processes: null, fileBytes: null, temporaryBytes: null };
  const { stream } = await link.request("sandbox.open", { ...request, incarnation, variables: {}, limits });
  const workspace = await connectWorkspace({ readable: stream, writable: stream });
  return {
    ...workspace,
    directory,
    holdOutput: () => void stream.pause(),
    resumeOutput: () => void stream.resume(),
    async close() {
      await plain("sandbox.close", { agent, key: request.key, incarnation });
      stream.destroy();
    },
  };
}
