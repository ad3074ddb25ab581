// Lists of what is available: models, features, permission profiles, skills, hooks, MCP servers.
import { z } from "zod";
import { JsonValue, maybe, pageOf, pageParams, whole } from "./maybe.ts";

export const Model = z.object({
  id: z.string(),
  model: z.string(),
  displayName: z.string(),
  description: z.string(),
  hidden: z.boolean(),
  isDefault: z.boolean(),
  supportedReasoningEfforts: z.array(z.object({ reasoningEffort: z.string(), description: z.string() })),
  defaultReasoningEffort: z.string(),
  inputModalities: maybe(z.array(z.enum(["text", "image"]))),
  supportsPersonality: maybe(z.boolean()),
  upgrade: maybe(z.string()),
});
export type Model = z.infer<typeof Model>;
export const ModelListParams = z.object({ ...pageParams, includeHidden: maybe(z.boolean()) });
export const ModelListResponse = pageOf(Model);

export const ModelProviderCapabilitiesReadResponse = z.object({
  namespaceTools: z.boolean(),
  imageGeneration: z.boolean(),
  webSearch: z.boolean(),
});

export const ExperimentalFeatureListParams = z.object({ ...pageParams, threadId: maybe(z.string()) });
export const ExperimentalFeatureListResponse = pageOf(
  z.object({
    name: z.string(),
    stage: z.enum(["beta", "underDevelopment", "stable", "deprecated", "removed"]),
    displayName: maybe(z.string()),
    description: maybe(z.string()),
    announcement: maybe(z.string()),
    enabled: z.boolean(),
    defaultEnabled: z.boolean(),
  }),
);

export const PermissionProfileListParams = z.object({ ...pageParams, cwd: maybe(z.string()) });
export const PermissionProfileListResponse = pageOf(
  z.object({ id: z.string(), description: maybe(z.string()), allowed: z.boolean() }),
);

const CatalogueError = z.object({ path: z.string(), message: z.string() });

export const SkillMetadata = z.object({
  name: z.string(),
  description: z.string(),
  shortDescription: maybe(z.string()),
  path: z.string(),
  scope: z.enum(["user", "repo", "system", "admin"]),
  enabled: z.boolean(),
  interface: maybe(JsonValue),
  dependencies: maybe(JsonValue),
});
export type SkillMetadata = z.infer<typeof SkillMetadata>;
export const SkillsListParams = z.object({
  cwds: maybe(z.array(z.string())),
  forceReload: maybe(z.boolean()),
});
export const SkillsListResponse = z.object({
  data: z.array(z.object({ cwd: z.string(), skills: z.array(SkillMetadata), errors: z.array(CatalogueError) })),
});
export const SkillsConfigWriteParams = z.object({
  name: maybe(z.string()),
  path: maybe(z.string()),
  enabled: z.boolean(),
});
export const SkillsConfigWriteResponse = z.object({ effectiveEnabled: z.boolean() });
export const SkillsExtraRootsSetParams = z.object({ extraRoots: z.array(z.string()) });

export const HookSource = z.enum(["system", "user", "project", "sessionFlags", "unknown"]);
export const HookMetadata = z.object({
  key: z.string(),
  eventName: z.string(),
  handlerType: z.enum(["command", "prompt", "agent", "mcpTool"]),
  command: maybe(z.string()),
  matcher: maybe(z.string()),
  timeoutSec: whole,
  statusMessage: maybe(z.string()),
  sourcePath: z.string(),
  source: HookSource,
  displayOrder: whole,
  enabled: z.boolean(),
  isManaged: z.boolean(),
  currentHash: z.string(),
  trustStatus: z.enum(["managed", "untrusted", "trusted", "modified"]),
});
export type HookMetadata = z.infer<typeof HookMetadata>;
export const HooksListParams = z.object({ cwds: maybe(z.array(z.string())) });
export const HooksListResponse = z.object({
  data: z.array(
    z.object({
      cwd: z.string(),
      hooks: z.array(HookMetadata),
      warnings: z.array(z.string()),
      errors: z.array(CatalogueError),
    }),
  ),
});

export const McpServerStatus = z.object({
  name: z.string(),
  authStatus: z.enum(["unsupported", "notLoggedIn", "bearerToken", "oAuth", "unknown"]),
  runtimeStatus: maybe(
    z.enum(["notStarted", "starting", "connected", "authenticationRequired", "failed", "cancelled", "disabled"]),
  ),
  tools: z.record(z.string(), JsonValue),
  resources: z.array(JsonValue),
  resourceTemplates: z.array(JsonValue),
  serverInfo: maybe(JsonValue),
});
export type McpServerStatus = z.infer<typeof McpServerStatus>;
export const ListMcpServerStatusParams = z.object({
  ...pageParams,
  detail: maybe(z.enum(["full", "toolsAndAuthOnly"])),
  threadId: maybe(z.string()),
});
export const ListMcpServerStatusResponse = pageOf(McpServerStatus);
export const McpServerOauthLoginParams = z.object({
  name: z.string(),
  scopes: maybe(z.array(z.string())),
  timeoutSecs: maybe(whole.min(1)),
  threadId: maybe(z.string()),
});
export const McpServerOauthLoginResponse = z.object({ authorizationUrl: z.string() });
export const McpResourceReadParams = z.object({
  server: z.string(),
  uri: z.string(),
  threadId: maybe(z.string()),
});
export const McpResourceReadResponse = z.object({ contents: z.array(JsonValue) });
export const McpServerToolCallParams = z.object({
  threadId: z.string(),
  server: z.string(),
  tool: z.string(),
  arguments: maybe(JsonValue),
  _meta: maybe(JsonValue),
});
export const McpServerToolCallResponse = z.object({
  content: z.array(JsonValue),
  structuredContent: maybe(JsonValue),
  isError: maybe(z.boolean()),
  _meta: maybe(JsonValue),
});
