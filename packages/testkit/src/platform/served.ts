// A harness with a running server whose agents ask a scripted model.
import { onTestFinished } from "vitest";
import type { LoggedRequest } from "../model-server/server.ts";
import type { PlatformClient } from "./client.ts";
import { openForFile } from "./for-file.ts";
import { openPlatform, type PlatformHarness, type PlatformHarnessOptions } from "./harness.ts";
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
export async function servePlatformForTest(options: ServedPlatformOptions = {}): Promise<ServedPlatform> {
  const served = await servePlatform(options);
  onTestFinished(served.harness.close);
  return served;
}

/** One for all tests of a file: a start takes longer than most tests. */
export const servePlatformForFile = (options: ServedPlatformOptions = {}): (() => ServedPlatform) =>
  openForFile(
    () => servePlatform(options),
    ({ harness }) => harness.close(),
  );

async function servePlatform({ args = [], ...options }: ServedPlatformOptions): Promise<ServedPlatform> {
  const replies = { replies: [{ messages: ["done"] }], repeat: "last" as const };
  const harness = await openPlatform({ replies, ...options });
  const serveAgain = () => harness.serve({ args });
  const server = await serveAgain().catch(async (error) => {
    await harness.close();
    throw error;
  });
  return {
    harness,
    server,
    client: (...flags) => harness.client(server, ...flags),
    repository: harness.repository,
    requests: harness.requests,
    serveAgain,
  };
}
