// Keys of config.toml, profile files and `-c`. The descriptions are the documentation.
import { z } from "zod";
import { BudgetConfig, Limits, ModelFallback, OtelConfig, PriceConfig } from "./config-limits.ts";
import { ModelProvider } from "./config-servers.ts";
import { McpServer } from "./mcp-config.ts";
import { ApprovalPolicy, SandboxMode } from "./settings.ts";

export const TrustLevel = z.enum(["trusted", "untrusted"]);
export type TrustLevel = z.infer<typeof TrustLevel>;

/** Known, but without effect here: a warning at each start, unless the value is how it always works. */
const idle = <Schema extends z.ZodType>(schema: Schema, meaning: string, worksAs: (string | boolean)[] = []) =>
  schema.optional().meta({
    description: `${meaning}; ${worksAs.length > 0 ? `always ${worksAs.join(" or ")}, another value` : "it"} has no effect and causes a warning`,
    noEffect: true,
    ...(worksAs.length > 0 && { worksAs }),
  });

export const Features = z.object({
  shell_tool: idle(z.boolean(), "Offer exec_command", [true]),
  view_image: idle(z.boolean(), "Offer view_image", [true]),
  unified_exec: idle(z.boolean(), "Commands that keep running", [true]),
  hooks: z.boolean().optional().describe("Run the hooks of user and project (true)"),
  multi_agent: z.boolean().optional().describe("Offer sub-agents to the model (true)"),
  skill_search: idle(z.boolean(), "Search for skills", [false]),
  plugins: idle(z.boolean(), "Plugins", [false]),
  network_proxy: idle(z.boolean(), "The proxy of allowed_domains, which is used where that is set"),
});
export type Features = z.infer<typeof Features>;

const WorkspaceWrite = z.object({
  writable_roots: z.array(z.string()).optional().describe("More directories that may be written"),
  network_access: z.boolean().optional().describe("Let commands use the network (false)"),
  allowed_domains: z
    .array(z.string())
    .optional()
    .describe("Let commands reach only these, through a proxy: name, *.name, **.name, * or address, each with :port"),
  denied_domains: z.array(z.string()).optional().describe("Never these, even where allowed_domains matches"),
  unix_sockets: z.boolean().optional().describe("Let commands open unix sockets (false)"),
  git: z
    .enum(["commit", "none"])
    .optional()
    .describe("Whether git commands may change branches, tags, index and stash of the repository (commit)"),
  build_cache: z
    .enum(["private", "none"])
    .optional()
    .describe("Whether build tools get a writable cache of their own for this project (private)"),
  nested_repositories: z
    .enum(["protected", "allowed"])
    .optional()
    .describe(
      "Whether commands may change the .git of submodules and other repositories below, and add new ones (protected)",
    ),
});

const strings = z.array(z.string());

const ShellEnvironment = z.object({
  inherit: z.enum(["all", "core", "none"]).optional().describe("Which variables commands take over (all)"),
  ignore_default_excludes: z
    .boolean()
    .optional()
    .describe(
      "Also take over names like *KEY*, *TOKEN*, *SECRET*, *PASS*, *_AUTH, *DSN*, and addresses with credentials (false)",
    ),
  exclude: strings.optional().describe("Globs of names that commands do not get"),
  include: strings.optional().describe("Exact names that pass though they look like secrets"),
  include_only: strings.optional().describe("Globs; if set, no other name is passed"),
  set: z.record(z.string(), z.string()).optional().describe("Variables of every command"),
});

const AgentRole = z.object({
  description: z.string().optional().describe("When to use this agent"),
  config_file: z.string().optional().describe("File with its instructions and what it may do, as in .agentcli/agents"),
  nickname_candidates: strings.optional().describe("Names its threads may have (its own)"),
});

const Skills = z.object({
  include_instructions: z.boolean().optional().describe("Tell the model which skills there are (true)"),
  max_context_tokens: z
    .int()
    .positive()
    .max(10_000)
    .optional()
    .describe("Maximum size of the list of skills (2 % of the context window)"),
  config: z
    .array(z.object({ path: z.string().optional(), name: z.string().optional(), enabled: z.boolean().optional() }))
    .optional()
    .describe("Skills to switch on or off, each by path or by name; the last that means a skill decides"),
});

export const AgentsConfig = z
  .object({
    enabled: z.boolean().optional().describe("Offer sub-agents to the model (true)"),
    max_concurrent_threads_per_session: z.int().positive().optional().describe("Sub-agents open at once (6)"),
    max_threads: z.int().positive().optional().describe("Older name of max_concurrent_threads_per_session"),
    max_depth: z.int().nonnegative().optional().describe("How deep sub-agents may have sub-agents (1)"),
    default_subagent_model: z.string().optional().describe("Model of sub-agents (that of their parent)"),
    default_subagent_reasoning_effort: z.string().optional().describe("Reasoning effort of sub-agents"),
    interrupt_message: idle(z.boolean(), "Record the interruption of a sub-agent"),
  })
  .catchall(AgentRole);
export type AgentsConfig = z.infer<typeof AgentsConfig>;

export const WorkloadIdentity = z.object({
  token_endpoint: z
    .string()
    .optional()
    .describe("Where an identity token is exchanged for a short-lived key (RFC 8693)"),
  audience: z.string().optional().describe("Audience of the identity token"),
  token_file: z.string().optional().describe("File that holds the identity token"),
  token_env: z.string().optional().describe("Environment variable that holds the identity token"),
});
export type WorkloadIdentity = z.infer<typeof WorkloadIdentity>;

export const Auth = z.object({
  refresh_endpoint: z.string().optional().describe("Where the access token of a managed account is renewed (OAuth)"),
  client_id: z.string().optional().describe("Client id for refresh_endpoint, where it requires one"),
  workload_identity: WorkloadIdentity.optional().describe("Short-lived keys for a runner that has an identity token"),
});
export type Auth = z.infer<typeof Auth>;

export const PlatformAccess = z.object({
  url: z.string().optional().describe("Where agentcli cloud finds the platform; PLATFORM_BACKEND_URL wins"),
  env_key: z.string().optional().describe("Environment variable that holds the key (PLATFORM_API_KEY)"),
});
export type PlatformAccess = z.infer<typeof PlatformAccess>;

export const WebConfig = z.object({
  search_url: z
    .string()
    .regex(/^https?:\/\//)
    .optional()
    .describe("SearXNG server to search with, where the provider has no search of its own"),
});

export const LocalProvider = z.enum(["ollama", "lmstudio"]);
export type LocalProvider = z.infer<typeof LocalProvider>;

export const Config = z.object({
  model: z.string().optional().describe("The model to ask"),
  review_model: z.string().optional().describe("The model of agentcli review, in place of model"),
  model_provider: z.string().optional().describe("Which entry of model_providers to use (openai)"),
  model_fallback: ModelFallback,
  model_providers: z.record(z.string(), ModelProvider).optional().describe("Servers that speak a model wire"),
  oss_provider: LocalProvider.optional().describe("Which local server --oss means (whichever answers)"),
  auth: Auth.optional().describe("Credentials that are renewed"),
  platform: PlatformAccess.optional().describe("The platform of agentcli cloud and apply"),
  openai_base_url: z.string().optional().describe("Base URL of the built-in openai provider"),
  model_context_window: z
    .int()
    .positive()
    .optional()
    .describe("Context window in tokens, where the model is not known"),
  model_auto_compact_token_limit: z.int().positive().optional().describe("Compact the history at this many tokens"),
  model_reasoning_effort: z
    .string()
    .optional()
    .describe("How hard to think: none, minimal, low, medium, high, xhigh; with wire_api responses also max, ultra"),
  model_reasoning_summary: z
    .enum(["auto", "concise", "detailed", "none"])
    .optional()
    .describe("Summaries of reasoning"),
  model_verbosity: z.enum(["low", "medium", "high"]).optional().describe("Length of answers"),
  model_instructions_file: z
    .string()
    .optional()
    .describe("File that replaces the built-in instructions of new threads"),
  developer_instructions: z.string().optional().describe("More instructions for the model, in new threads"),
  compact_prompt: z.string().optional().describe("How the model is asked to summarise the history (built in)"),
  service_tier: z
    .string()
    .optional()
    .describe("Tier requested from the provider: fast, flex or one of its own (its default)"),
  web_search: z
    .enum(["disabled", "cached", "indexed", "live"])
    .optional()
    .describe(
      "Whether the model may search the web: disabled, cached (pages the provider has stored), live (disabled)",
    ),
  web: WebConfig.optional().describe("The web, with web_search = live"),
  sandbox_mode: SandboxMode.optional().describe("What commands may touch (read-only for exec)"),
  sandbox_workspace_write: WorkspaceWrite.optional().describe("Details of the workspace-write sandbox"),
  approval_policy: ApprovalPolicy.optional().describe("Whether actions may ask for approval; exec never asks"),
  shell_environment_policy: ShellEnvironment.optional().describe("Variables of commands"),
  allow_login_shell: z
    .boolean()
    .optional()
    .describe("Whether commands get what the login files of the shell add; default: true"),
  tool_output_token_limit: z.int().positive().optional().describe("Budget of one tool output for the model (10000)"),
  project_doc_max_bytes: z
    .int()
    .min(0)
    .optional()
    .describe("Maximum bytes read of a project's AGENTS.md files (32768)"),
  project_doc_fallback_filenames: z
    .array(z.string())
    .optional()
    .describe("Names to look for where AGENTS.md is missing"),
  limits: Limits.optional().describe("Timeouts, by name"),
  otel: OtelConfig.optional().describe("Traces and metrics of runs"),
  agents: AgentsConfig.optional().describe("Sub-agents"),
  budget: BudgetConfig.optional().describe("What a turn may spend, its sub-agents included"),
  prices: z.record(z.string(), PriceConfig).optional().describe("Prices by model, over those that are built in"),
  projects: z
    .record(z.string(), z.object({ trust_level: TrustLevel.optional().describe("Whether its configuration counts") }))
    .optional()
    .describe("Projects by absolute path; agentcli trust writes them"),
  project_root_markers: strings.optional().describe("What marks the top directory of a project (.git)"),
  mcp_servers: z.record(z.string(), McpServer).optional().describe("Servers that offer tools"),
  skills: Skills.optional().describe("Skills"),
  compatible_folders: z
    .boolean()
    .optional()
    .describe(
      "Also read skills, commands and agents of other tools: .codex/skills, .claude/skills, .claude/commands, .claude/agents, ~/.codex/prompts (true)",
    ),
  hooks: z
    .record(z.string(), z.unknown())
    .optional()
    .describe("Hooks by event, as in hooks.json; state holds the trust given to each (agentcli hooks trust writes it)"),
  features: Features.optional().describe("Parts that can be switched on or off"),
  notify: strings
    .optional()
    .describe("Program and arguments, started at the end of each completed turn with one more argument: JSON about it"),
  hide_agent_reasoning: z.boolean().optional().describe("Leave reasoning out of the output (false)"),
  cli_auth_credentials_store: idle(z.enum(["file", "keyring", "auto", "ephemeral"]), "Where a login is stored", [
    "file",
    "auto",
  ]),
  tui: idle(z.record(z.string(), z.unknown()), "Settings of a terminal interface"),
});
export type Config = z.infer<typeof Config>;
