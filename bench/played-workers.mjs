// Workers without a machine: connections that register and then wait, as many as a measurement needs.
import { randomUUID } from "node:crypto";
import { WebSocket } from "ws";

const [openType, dataType] = [0, 1];
const channel = 2 ** 31;
const requestKind = 1;

/** Connects them, ten at a time; returns how to end them. */
export async function connectPlayedWorkers({ url, key, pool, count }) {
  const sockets = [];
  while (sockets.length < count) {
    const group = Array.from({ length: Math.min(10, count - sockets.length) }, () => connect({ url, key, pool }));
    sockets.push(...(await Promise.all(group)));
  }
  return () => Promise.all(sockets.map(close));
}

/** Settles once the platform has answered the registration. */
function connect({ url, key, pool }) {
  const socket = new WebSocket(`${url.replace(/^http/, "ws")}/v1/worker/stream`, {
    headers: { authorization: `Bearer ${key}` },
    perMessageDeflate: false,
  });
  const id = randomUUID();
  const registration = { linkVersion: 1, version: "0.0.0", workerId: id, session: randomUUID(), name: id, pool };
  const body = { ...registration, labels: {}, workspaceRootPath: "/" };
  return new Promise((resolve, reject) => {
    let received = "";
    socket.on("error", reject);
    socket.on("close", () => reject(new Error(`a played worker was refused: ${received}`)));
    socket.on("open", () => {
      socket.send(frame(openType, Buffer.from([requestKind])));
      socket.send(frame(dataType, Buffer.from(`${JSON.stringify({ request: "register", body })}\n`)));
    });
    socket.on("message", (data) => {
      received += data.toString("latin1");
      if (received.includes('{"reply":')) resolve(socket);
    });
  });
}

function frame(type, payload) {
  const head = Buffer.alloc(7);
  head.writeUInt8(type, 0);
  head.writeUInt32BE(channel, 1);
  head.writeUInt16BE(payload.length, 5);
  return Buffer.concat([head, payload]);
}

const close = (socket) =>
  new Promise((resolve) => {
    socket.removeAllListeners("close");
    socket.once("close", resolve);
    socket.terminate();
  });
