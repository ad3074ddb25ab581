import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import { type AddressInfo, createServer as createSocketServer, type Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { type Post, post, type Receiver } from "../src/http.ts";

async function serve(onRequest: RequestListener): Promise<{ server: Server; sockets: Socket[]; message: Post }> {
  const server = createServer(onRequest);
  const sockets: Socket[] = [];
  server.on("connection", (socket) => sockets.push(socket));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return { server, sockets, message: messageTo((server.address() as AddressInfo).port) };
}

const messageTo = (port: number): Post => ({
  url: new URL(`http://127.0.0.1:${port}/`),
  headers: {},
  body: "question",
  firstByteMs: Number.POSITIVE_INFINITY,
  idleMs: Number.POSITIVE_INFINITY,
});

const collect = (taken: string[]): Receiver => ({
  begin: (status) => void taken.push(String(status)),
  take(bytes) {
    taken.push(bytes.toString());
    return bytes.includes("enough") ? "enough" : "more";
  },
});

const never = new AbortController().signal;

test("one connection serves request after request", async () => {
  const { sockets, message } = await serve((_, response) => response.end("hi"));
  for (let count = 0; count < 3; count++) {
    const taken: string[] = [];
    expect(await post(message, collect(taken), never)).toEqual({ kind: "ended" });
    expect(taken).toEqual(["200", "hi"]);
  }
  expect(sockets).toHaveLength(1);
});

test("a kept-alive connection that the server has closed is replaced silently", async () => {
  let requests = 0;
  const { sockets, message } = await serve((request, response) => {
    requests += 1;
    if (requests === 2) request.socket.destroy();
    else response.end("hi");
  });
  await post(message, collect([]), never);
  expect(await post(message, collect([]), never)).toEqual({ kind: "ended" });
  expect(requests).toBe(3);
  expect(sockets).toHaveLength(2);
});

test("a connection that is reset within a response is a cut, and the request is not sent again", async () => {
  let requests = 0;
  let connection: Socket | undefined;
  const { message } = await serve((request, response) => {
    requests += 1;
    if (requests === 1) response.end("hi");
    else response.write("half");
    connection = request.socket;
  });
  await post(message, collect([]), never);
  const taken: string[] = [];
  const cutting: Receiver = {
    begin: () => void taken.push("begin"),
    take(bytes) {
      taken.push(bytes.toString());
      connection?.resetAndDestroy();
      return "more";
    },
  };
  expect(await post(message, cutting, never)).toMatchObject({ kind: "cut" });
  expect(taken).toEqual(["begin", "half"]);
  expect(requests).toBe(2);
});

test("enough resolves at once, and the connection is closed if the server does not end the response", async () => {
  const { sockets, message } = await serve((_, response) => void response.write("enough"));
  expect(await post(message, collect([]), never)).toEqual({ kind: "ended" });
  const [socket] = sockets;
  if (socket && !socket.destroyed) await once(socket, "close");
});

test("an abort destroys the connection", async () => {
  const { sockets, message } = await serve((_, response) => void response.write("more"));
  const stop = new AbortController();
  const receiver: Receiver = {
    begin() {},
    take() {
      stop.abort();
      return "more";
    },
  };
  expect(await post(message, receiver, stop.signal)).toEqual({ kind: "aborted" });
  const [socket] = sockets;
  if (socket && !socket.destroyed) await once(socket, "close");
});

test("an abort right after the call is not lost", async () => {
  const { sockets, message } = await serve(() => {});
  const stop = new AbortController();
  const posted = post(message, collect([]), stop.signal);
  stop.abort();
  expect(await posted).toEqual({ kind: "aborted" });
  expect(sockets).toHaveLength(0);
});

test("an error of the receiver is rethrown, and the connection is destroyed", async () => {
  const { sockets, message } = await serve((_, response) => void response.write("more"));
  const receiver: Receiver = {
    begin() {},
    take() {
      throw new Error("a bug");
    },
  };
  await expect(post(message, receiver, never)).rejects.toThrow("a bug");
  const [socket] = sockets;
  if (socket && !socket.destroyed) await once(socket, "close");
});

test.each([
  { sent: "SSH-2.0-OpenSSH\r\n", kind: "garbled" },
  { sent: "", kind: "unreachable" },
  { sent: "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf", kind: "cut" },
])("a server that sends $sent and disconnects is $kind", async ({ sent, kind }) => {
  const server = createSocketServer((socket) => socket.once("data", () => socket.end(sent)));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const message = messageTo((server.address() as AddressInfo).port);
  expect(await post(message, collect([]), never)).toMatchObject({ kind, reason: expect.any(String) });
});

test("an unknown host is unreachable", async () => {
  const message = { ...messageTo(80), url: new URL("http://no-such-host.invalid/") };
  expect(await post(message, collect([]), never)).toMatchObject({ kind: "unreachable" });
});

test("a response that comes at once does not keep other work of the program waiting", async () => {
  const { message } = await serve((_, response) => response.end(Buffer.alloc(4 * 1024 * 1024, "x")));
  const happened: string[] = [];
  let isTaking = true;
  const note = () => {
    happened.push("other");
    if (isTaking) setImmediate(note);
  };
  const take = (): "more" => {
    happened.push("take");
    for (const endMs = performance.now() + 6; performance.now() < endMs; );
    return "more";
  };
  setImmediate(note);
  expect(await post(message, { begin: () => {}, take }, never)).toEqual({ kind: "ended" });
  isTaking = false;
  expect(happened.filter((what) => what === "take").length).toBeGreaterThan(10);
  expect(happened.join(" ")).not.toContain("take take");
});
