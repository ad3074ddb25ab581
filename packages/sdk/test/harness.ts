// The environment of a test: a repository, a scripted model, and a client that starts the built program there.
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Harness, type HarnessOptions, openHarness } from "@agentcli/testkit/cli";
import { Client } from "../src/client.ts";
import type { ClientOptions } from "../src/options.ts";
import type { Thread } from "../src/thread.ts";

export interface SdkHarness extends Harness {
  env: Record<string, string>;
  client: Client;
  thread: Thread;
}

export async function openSdkHarness(
  options: HarnessOptions = {},
  clientOptions: ClientOptions = {},
): Promise<SdkHarness> {
  const harness = await openHarness(options);
  const env = { PATH: process.env.PATH ?? "", HOME: harness.home, AGENT_HOME: harness.home, SHELL: "/bin/bash" };
  const client = new Client({ env, ...clientOptions });
  return { ...harness, env, client, thread: client.startThread({ workingDirectory: harness.repository }) };
}

/** Writes a JavaScript program to run in place of agentcli. */
export function program(directory: string, text: string): string {
  const path = join(directory, "program.cjs");
  writeFileSync(path, text);
  chmodSync(path, 0o755);
  return path;
}

/** The error that a promise rejects with. Throws if it does not reject. */
export async function errorOf<T>(promise: Promise<T>): Promise<Error & Record<string, unknown>> {
  try {
    await promise;
  } catch (error) {
    return error as Error & Record<string, unknown>;
  }
  throw new Error("expected an error");
}
