// An ssh agent in this process, for one key and one call of git: the key is in no file, argument or variable.
import { createServer, type Socket } from "node:net";
import type { SshKey } from "./private-key.ts";
import { readSsh, sshNumber, sshString } from "./ssh-strings.ts";

export interface SshAgent {
  close(): Promise<void>;
}

/** `path` is that of its socket, in a directory that no other user can enter. */
export async function openSshAgent(path: string, key: SshKey): Promise<SshAgent> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => socket.destroy());
    serve(socket, key);
  });
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(path, resolve));
  return {
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
}

const maxRequestBytes = 256 * 1024;

function serve(socket: Socket, key: SshKey): void {
  let received = Buffer.alloc(0);
  socket.on("data", (data: Buffer) => {
    received = Buffer.concat([received, data]);
    while (received.length >= 4) {
      const length = received.readUInt32BE(0);
      if (length > maxRequestBytes) return void socket.destroy();
      if (received.length < 4 + length) return;
      socket.write(sshString(answer(received.subarray(4, 4 + length), key)));
      received = received.subarray(4 + length);
    }
  });
}

const requests = { identities: 11, sign: 13 } as const;
const failure = Buffer.of(5);

/** Answers one request of the agent protocol; anything but listing and signing fails. */
export function answer(request: Buffer, key: SshKey): Buffer {
  try {
    switch (request[0]) {
      case requests.identities:
        return Buffer.concat([Buffer.of(12), sshNumber(1), sshString(key.blob), sshString("")]);
      case requests.sign:
        return signed(request.subarray(1), key);
      default:
        return failure;
    }
  } catch (error) {
    if (error instanceof RangeError) return failure;
    throw error;
  }
}

function signed(request: Buffer, key: SshKey): Buffer {
  const reader = readSsh(request);
  const [blob, data, flags] = [reader.string(), reader.string(), reader.number()];
  if (!blob.equals(key.blob)) return failure;
  return Buffer.concat([Buffer.of(14), sshString(key.sign(data, flags))]);
}
