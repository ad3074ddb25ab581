// What the tests of the SDK stand on: a desk with a scripted model, and a client that starts the built program there.
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Desk, type DeskOptions, desk } from "../../../e2e/harness.ts";
import { Client } from "../src/client.ts";
import type { ClientOptions } from "../src/options.ts";
import type { Thread } from "../src/thread.ts";

export interface Bench extends Desk {
  env: Record<string, string>;
  client: Client;
  thread: Thread;
}

export async function bench(options: DeskOptions = {}, clientOptions: ClientOptions = {}): Promise<Bench> {
  const place = await desk(options);
  const env = { PATH: process.env.PATH ?? "", HOME: place.home, AGENT_HOME: place.home, SHELL: "/bin/bash" };
  const client = new Client({ env, ...clientOptions });
  return { ...place, env, client, thread: client.startThread({ workingDirectory: place.repository }) };
}

/** A program in place of agentcli, as a JavaScript file with this text. */
export function program(directory: string, text: string): string {
  const path = join(directory, "program.cjs");
  writeFileSync(path, text);
  chmodSync(path, 0o755);
  return path;
}

/** The error that a promise is rejected with; it is one if it is not. */
export async function errorOf<T>(promise: Promise<T>): Promise<Error & Record<string, unknown>> {
  try {
    await promise;
  } catch (error) {
    return error as Error & Record<string, unknown>;
  }
  throw new Error("expected an error");
}
