// A worker behind the proxy of its network, with a platform whose certificate a private authority has signed.
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer as createProxy } from "node:http";
import { createServer } from "node:https";
import { type AddressInfo, connect } from "node:net";
import { join } from "node:path";
import { projectRoot, temporaryDirectory } from "@agentcli/testkit";
import { startTestWorker } from "@agentcli/testkit/platform";
import { openLink } from "@agentcli/workspace";
import { expect, onTestFinished, test } from "vitest";
import { createWebSocketStream, WebSocketServer } from "ws";

const fixture = (name: string) => join(projectRoot, "e2e/platform/fixtures", name);

/** Accepts every worker. */
async function openTlsPlatform(): Promise<string> {
  const server = createServer({
    cert: readFileSync(fixture("tls-cert.pem")),
    key: readFileSync(fixture("tls-key.pem")),
  }).listen(0, "127.0.0.1");
  const sockets = new WebSocketServer({ server });
  sockets.on("connection", (socket) => {
    const stream = createWebSocketStream(socket);
    stream.on("error", () => {});
    void openLink({
      ...{ stream, side: "platform" },
      async onRequest({ stream: channel }, answer) {
        answer({ linkVersion: 1, workerId: "w1" });
        channel.end();
      },
    });
  });
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `localhost:${(server.address() as AddressInfo).port}`;
}

/** Returns its address with a login, and what it was asked to connect to, with the login that came. */
async function openConnectProxy(): Promise<{ url: string; asked: string[] }> {
  const asked: string[] = [];
  const proxy = createProxy().listen(0, "127.0.0.1");
  proxy.on("connect", (request, socket) => {
    const login = Buffer.from((request.headers["proxy-authorization"] ?? "").replace("Basic ", ""), "base64");
    asked.push(`${request.url} ${login}`);
    const [, port] = (request.url ?? "").split(":");
    const target = connect(Number(port), "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
      target.pipe(socket).pipe(target);
    });
    for (const end of [target, socket]) end.on("error", () => {});
  });
  await once(proxy, "listening");
  onTestFinished(() => void proxy.close());
  return { url: `http://me:s%20cret@127.0.0.1:${(proxy.address() as AddressInfo).port}`, asked };
}

test("a worker reaches the platform through HTTPS_PROXY with its login, not around it, and trusts NODE_EXTRA_CA_CERTS alone", async () => {
  const [folder, host, proxy] = [await temporaryDirectory(), await openTlsPlatform(), await openConnectProxy()];
  onTestFinished(folder.remove);
  const start = (env: Record<string, string>) =>
    startTestWorker({ url: `https://${host}`, key: "plt_test", directory: folder.path, env });
  const distrusting = start({ HTTPS_PROXY: proxy.url });
  await expect.poll(() => distrusting.log().join("\n")).toMatch(/No connection to https:.*certificate/);
  await distrusting.stop();
  proxy.asked.length = 0;
  const worker = start({ HTTPS_PROXY: proxy.url, NODE_EXTRA_CA_CERTS: fixture("tls-cert.pem") });
  await expect.poll(() => worker.log().join("\n")).toContain("Waiting for agents.");
  expect(proxy.asked).toEqual([`${host} me:s cret`]);
  await worker.stop();
  proxy.asked.length = 0;
  const direct = start({
    ...{ HTTPS_PROXY: proxy.url, NO_PROXY: "localhost" },
    NODE_EXTRA_CA_CERTS: fixture("tls-cert.pem"),
  });
  await expect.poll(() => direct.log().join("\n")).toContain("Waiting for agents.");
  expect(proxy.asked).toEqual([]);
});
