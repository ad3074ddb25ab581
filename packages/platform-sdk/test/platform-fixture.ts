// The platform of the scenario as a child process, with a scripted model and connections that can be cut.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { request } from "node:http";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const program = fileURLToPath(new URL("../../../e2e/sdk/platform-fixture.mjs", import.meta.url));

export interface PlatformFixture {
  url: string;
  key: string;
  /** Breaks every connection to the platform. */
  cut(): Promise<void>;
  close(): Promise<void>;
}

export async function openPlatformFixture(): Promise<PlatformFixture> {
  const child = spawn(process.execPath, [program], { stdio: ["pipe", "pipe", "inherit"] });
  const ended = once(child, "exit");
  const line = await Promise.race([once(createInterface(child.stdout), "line"), ended.then(() => null)]);
  if (!line) throw new Error("The fixture did not start. Build what it needs: node scripts/build.mjs");
  const { url, key, controlUrl } = JSON.parse(line[0]);
  return {
    url,
    key,
    async cut() {
      const asked = request(`${controlUrl}/cut`, { method: "POST" }).end();
      const [answer] = await once(asked, "response");
      await once(answer.resume(), "end");
    },
    async close() {
      child.stdin.end();
      await ended;
    },
  };
}
