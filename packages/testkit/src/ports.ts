// Ports for servers that tests start, stop and start again at the same address.
import { once } from "node:events";
import { createServer } from "node:net";

// Below the range that Linux gives to outgoing connections and to port 0: nothing else takes the port between two servers.
const [lowest, count] = [15_000, 17_000];

export async function unusedPort(): Promise<number> {
  for (;;) {
    const port = lowest + Math.floor(Math.random() * count);
    if (await isUnused(port)) return port;
  }
}

async function isUnused(port: number): Promise<boolean> {
  const server = createServer();
  try {
    await once(server.listen(port, "127.0.0.1"), "listening");
    server.close();
    await once(server, "close");
    return true;
  } catch {
    return false;
  }
}
