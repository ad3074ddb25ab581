// Default values: the lowest layer.
import type { Config, Limits, ModelsFile } from "@agentcli/protocol";

export const defaults = {
  model: "gpt-5.4",
  model_provider: "openai",
  sandbox_mode: "read-only",
  sandbox_workspace_write: { writable_roots: [], network_access: false },
  approval_policy: "never",
  tool_output_token_limit: 10_000,
  project_root_markers: [".git"],
  limits: {
    stdin: "1s",
    "first-byte": "60s",
    idle: "120s",
    tool: "10m",
    hook: "60s",
    "mcp-start": "30s",
    wall: "24h",
    memory: "off",
    tmp: "4g",
    processes: 4096,
  } satisfies Required<Limits>,
} satisfies Config;

/** A configuration with what models.toml says. */
export type ModelConfig = Config & { catalogue?: ModelsFile };

/** A configuration in which every key with a default is set. */
export type EffectiveConfig = ModelConfig &
  Required<Pick<Config, keyof typeof defaults>> & { limits: Required<Limits> };
