// `Platform`: whose key it is, and what there is to work with.
import type { Me, ModelEntry } from "@agentcli/protocol/api";
import { type AuthCalls, authCalls } from "./auth.ts";
import { type Connection, openConnection, type Request } from "./connection.ts";
import { type ConfigureOptions, openDefaults } from "./defaults.ts";
import type { ConnectionOptions } from "./options.ts";
import type { Runtime } from "./runtime.ts";

export type { Me, ModelEntry };

export interface AccountCalls {
  /** What holds for later calls that say nothing else. */
  configure(options: ConfigureOptions): void;
  auth: AuthCalls;
  me(options?: ConnectionOptions): Promise<Me>;
  models: { list(options?: ConnectionOptions): Promise<ModelEntry[]> };
  /** Repositories of the embedded git host. */
  repositories: { list(options?: ConnectionOptions): Promise<{ url: string }[]> };
}

export function accountCalls(runtime: Runtime, defaults = openDefaults()): AccountCalls {
  const never = new AbortController().signal;
  const connect = (options: ConnectionOptions) => openConnection(options, runtime);
  return {
    configure: defaults.configure,
    auth: authCalls(runtime),
    me: async (options = {}) => connect(options).ask({ operation: "me", method: "GET", path: "/v1/me" }, never),
    models: { list: async (options = {}) => listModels(connect(options), "transient", never) },
    repositories: {
      async list(options = {}) {
        const request = { operation: "repositories.list", method: "GET", path: "/v1/repositories" } as const;
        return (await connect(options).ask<{ items: { url: string }[] }>(request, never)).items;
      },
    },
  };
}

export async function listModels(
  connection: Connection,
  retry: NonNullable<Request["retry"]>,
  signal: AbortSignal,
): Promise<ModelEntry[]> {
  const request = { operation: "models.list", method: "GET", path: "/v1/models", retry } as const;
  return (await connection.ask<{ items: ModelEntry[] }>(request, signal)).items;
}
