// A harness with a running server whose agents ask a scripted model.
import type { LoggedRequest } from "../model-server/server.ts";
import type { PlatformClient } from "./client.ts";
import { openPlatformForTest, type PlatformHarness, type PlatformHarnessOptions } from "./harness.ts";
import type { PlatformServer } from "./server.ts";

export interface ServedPlatform {
  harness: PlatformHarness;
  server: PlatformServer;
  /** With a new key, with these flags of `keys create`. */
  client(...flags: string[]): Promise<PlatformClient>;
  /** The clone URL of a new repository with these files. */
  repository(name: string, files: Record<string, string>, ...flags: string[]): Promise<string>;
  requests(): LoggedRequest[];
  /** Another server on the same data and database. */
  serveAgain(): Promise<PlatformServer>;
}

export interface ServedPlatformOptions extends PlatformHarnessOptions {
  /** Of `platform serve`. */
  args?: string[];
}

/** Closed when the test has finished. */
export async function servePlatformForTest({
  args = [],
  ...options
}: ServedPlatformOptions = {}): Promise<ServedPlatform> {
  const replies = { replies: [{ messages: ["done"] }], repeat: "last" as const };
  const harness = await openPlatformForTest({ replies, ...options });
  const serveAgain = () => harness.serve({ args });
  const server = await serveAgain();
  return {
    harness,
    server,
    client: (...flags) => harness.client(server, ...flags),
    repository: harness.repository,
    requests: harness.requests,
    serveAgain,
  };
}
