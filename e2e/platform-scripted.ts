// A served platform whose agents ask a scripted model, and a repository of the embedded host for them to work on.
import { type LoggedRequest, type Reply, type Script, startModelServer, temporaryDirectory } from "@agentcli/testkit";
import { onTestFinished } from "vitest";
import { type Client, clientOf } from "./platform-client.ts";
import { type PlatformDesk, platformDesk, type ServedPlatform } from "./platform-harness.ts";

export interface ScriptedPlatform {
  desk: PlatformDesk;
  server: ServedPlatform;
  /** With a key of its own, as the flags of `keys create` say. */
  client(...flags: string[]): Promise<Client>;
  /** The clone URL of a new repository with these files. */
  repository(name: string, files: Record<string, string>, ...flags: string[]): Promise<string>;
  /** What the model was asked. */
  requests(): LoggedRequest[];
  /** For a server elsewhere that asks the same model. */
  settings: Record<string, string>;
  /** Another server on the same data and database, or the same one again. */
  serveAgain(): Promise<ServedPlatform>;
}

export interface ScriptedOptions {
  replies?: Reply[] | Script;
  args?: string[];
  env?: Record<string, string>;
  database?: "embedded" | "shared";
}

export async function scriptedPlatform({
  replies = { replies: [{ messages: ["done"] }], repeat: "last" },
  args = [],
  env = {},
  database = "shared",
}: ScriptedOptions = {}): Promise<ScriptedPlatform> {
  const model = await startModelServer(replies);
  onTestFinished(() => model.close());
  const desk = await platformDesk(database);
  const provider = { base_url: model.url, wire_api: "responses", retry_base_ms: 1 };
  const settings = {
    PLATFORM_MODEL: "scripted",
    PLATFORM_MODEL_PROVIDER: "scripted",
    PLATFORM_MODEL_PROVIDERS: JSON.stringify({ scripted: provider }),
    PLATFORM_RATE_LIMITS_REQUESTS_PER_MINUTE: "0",
    ...env,
  };
  const serveAgain = () => desk.serve(args, settings);
  const server = await serveAgain();
  return {
    desk,
    server,
    client: async (...flags) => clientOf(server.url, await desk.key(...flags)),
    async repository(name, files, ...flags) {
      const source = await temporaryDirectory(files);
      onTestFinished(source.remove);
      const { stdout, stderr } = await desk.run(["repos", "create", name, "--from", source.path, ...flags]);
      if (!stdout.startsWith("http")) throw new Error(`no repository: ${stderr}`);
      return stdout.trim();
    },
    requests: model.requests,
    settings,
    serveAgain,
  };
}
