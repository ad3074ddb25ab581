// What the app server needs from its program. The command line passes it in and is not imported.
import type { Answer, Scrub, Secret } from "@agentcli/engine";
import type { ReviewAssignment } from "@agentcli/engine/review";
import type {
  ConfigOptions,
  Environment,
  MinBackEnd,
  Reporter,
  Run,
  RunContext,
  RunningServers,
  RunOptions,
} from "@agentcli/host";
import type { LoginResult } from "@agentcli/mcp";
import type { LoadedConfig } from "@agentcli/project";
import type { TrustStatus } from "@agentcli/project/hooks";
import type { Config, HookDefinition, McpServer, Part, TurnSettings } from "@agentcli/protocol";
import type { LazyWorkspace } from "@agentcli/workspace";

export interface Program {
  environment: Environment;
  reporter: Pick<Reporter, "log">;
  /** Writes to standard output. */
  print(text: string): Promise<void>;
  version: string;
  /** Removes known secrets from a text; replaced when a key becomes known. */
  scrub: Scrub;
  /** Aborted when the program receives a signal to stop. */
  signal: AbortSignal;
}

/** The agent as the command line composes it, by concern. */
export interface Agent {
  runs: Runs;
  configuration: Configuration;
  servers: Servers;
  credentials: Credentials;
  input: Input;
}

export interface Runs {
  /** From the server's flags: defaults of a thread where the request has no value. */
  options(): RunOptions;
  open(options: RunOptions, reporting: { reporter: Reporter; signal: AbortSignal }, context: RunContext): Promise<Run>;
  /** A sandboxed workspace without a run. */
  openWorkspace(settings: WorkspaceSettings, config: Config): Promise<LazyWorkspace>;
}

export type WorkspaceSettings = Pick<TurnSettings, "sandbox" | "cwd" | "shell"> & {
  sandboxMin?: MinBackEnd;
  /** Overrides the configuration. */
  network?: "on";
};

export interface Configured {
  /** Absolute, without symbolic links. */
  cwd: string;
  options: ConfigOptions;
  loaded: LoadedConfig;
}

export interface Configuration {
  /** Of a directory; null is where the server itself works. */
  load(directory: string | null): Promise<Configured>;
  /** The settings that a run there would have. */
  settle(configured: Configured): Promise<{ settings: TurnSettings; loaded: LoadedConfig }>;
  /** Files that restrict what users may configure. */
  requirementFiles(): string[];
  hooks(configured: Configured): { hooks: ListedHook[]; warnings: string[] };
}

export interface ListedHook {
  definition: HookDefinition;
  status: TrustStatus;
  enabled: boolean;
}

/** MCP servers outside of a thread. */
export interface Servers {
  /** Null where none is enabled. */
  start(config: Config, cwd: string): Promise<RunningServers | null>;
  authStatus(name: string, server: McpServer): Promise<AuthStatus>;
  logIn(login: ServerLogin, signal: AbortSignal): Promise<LoginResult>;
}

export type AuthStatus = "unsupported" | "not_logged_in" | "bearer_token" | "o_auth";

export interface ServerLogin {
  name: string;
  config: Config;
  /** Instead of the configured ones. */
  scopes: string[] | undefined;
  show(url: URL): void;
  /** Absent for the default. */
  timeoutMs: number | undefined;
}

export interface Credentials {
  /** The one a run with this configuration would use. */
  current(config: Config): Promise<Credential>;
  /** Throws where the text cannot be a key. */
  save(key: string): void;
  remove(): void;
  secrets(): Secret[];
}

export type Credential = { kind: "key" } | { kind: "account"; idToken: unknown } | { kind: "none" };

/** What clients put into a turn. Each throws an error with an exit code where it cannot be used. */
export interface Input {
  readImages(paths: string[], cwd: string): Part[];
  openOutputSchema(schema: unknown, name: string): Promise<OutputSchema>;
  /** `nothing` is the reason why there is nothing to review. */
  openReview(target: ReviewRequest, run: Run): Promise<{ assignment: ReviewAssignment; nothing: string | null }>;
}

export interface OutputSchema {
  /** What the provider is sent. */
  strict: object;
  answer: Answer;
}

export type ReviewRequest =
  | { kind: "uncommitted" }
  | { kind: "base"; branch: string }
  | { kind: "commit"; name: string; title: string | undefined }
  | { kind: "custom"; instructions: string };
