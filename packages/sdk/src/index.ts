// The public API of the package.
export { Client } from "./client.ts";
export type { ConfigObject, ConfigValue } from "./config-overrides.ts";
export { AbortError, TurnError, type TurnErrorKind } from "./errors.ts";
export type {
  ApprovalPolicy,
  ClientOptions,
  Input,
  ModelReasoningEffort,
  SandboxMode,
  ThreadOptions,
  TurnOptions,
  UserInput,
  WebSearchMode,
} from "./options.ts";
export type { StreamedTurn, Thread, ThreadEvent, ThreadItem, Turn, Usage } from "./thread.ts";
