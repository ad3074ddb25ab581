// Providers that are known by name: where they are, which wire they speak, and which variable holds their key.
import type { ModelProvider } from "@agentcli/protocol";

export type Variables = Record<string, string | undefined>;

interface Preset extends ModelProvider {
  name: string;
  wire_api: NonNullable<ModelProvider["wire_api"]>;
  /** Members of the base URL in braces, and the variables that hold them; the first that is set counts. */
  needs?: Record<string, Needed>;
}

interface Needed {
  variables: string[];
  meaning: string;
  otherwise?: string;
}

const fixed: Record<string, Preset> = {
  anthropic: {
    name: "Anthropic",
    base_url: "https://api.anthropic.com/v1",
    wire_api: "anthropic",
    env_key: "ANTHROPIC_API_KEY",
  },
  azure: {
    name: "Azure OpenAI",
    base_url: "{endpoint}/openai",
    wire_api: "chat",
    endpoint: "azure",
    env_key: "AZURE_OPENAI_API_KEY",
    key_header: "api-key",
    query_params: { "api-version": "{version}" },
    needs: {
      endpoint: { variables: ["AZURE_OPENAI_ENDPOINT"], meaning: "https://RESOURCE.openai.azure.com" },
      version: {
        variables: ["AZURE_OPENAI_API_VERSION", "OPENAI_API_VERSION"],
        meaning: "a version of the API",
        otherwise: "2024-10-21",
      },
    },
  },
  openrouter: {
    name: "OpenRouter",
    base_url: "https://openrouter.ai/api/v1",
    wire_api: "chat",
    env_key: "OPENROUTER_API_KEY",
  },
  google: {
    name: "Google",
    base_url: "https://generativelanguage.googleapis.com/v1beta/openai",
    wire_api: "chat",
    env_key: "GEMINI_API_KEY",
  },
  mistral: { name: "Mistral", base_url: "https://api.mistral.ai/v1", wire_api: "chat", env_key: "MISTRAL_API_KEY" },
  groq: { name: "Groq", base_url: "https://api.groq.com/openai/v1", wire_api: "chat", env_key: "GROQ_API_KEY" },
  deepseek: {
    name: "DeepSeek",
    base_url: "https://api.deepseek.com/v1",
    wire_api: "chat",
    env_key: "DEEPSEEK_API_KEY",
  },
  xai: { name: "xAI", base_url: "https://api.x.ai/v1", wire_api: "chat", env_key: "XAI_API_KEY" },
  bedrock: {
    name: "Amazon Bedrock",
    base_url: "https://bedrock-runtime.{region}.amazonaws.com",
    wire_api: "anthropic",
    endpoint: "bedrock",
    env_key: "AWS_SECRET_ACCESS_KEY",
    needs: {
      region: {
        variables: ["AWS_REGION", "AWS_DEFAULT_REGION"],
        meaning: "the region of the models, such as us-east-1",
      },
    },
  },
  vertex: {
    name: "Vertex AI",
    base_url: "https://{host}/v1/projects/{project}/locations/{region}/publishers/anthropic/models",
    wire_api: "anthropic",
    endpoint: "vertex",
    env_key: "VERTEX_ACCESS_TOKEN",
    env_key_instructions: 'Get one with VERTEX_ACCESS_TOKEN="$(gcloud auth print-access-token)".',
    key_header: "authorization",
    needs: {
      project: { variables: ["ANTHROPIC_VERTEX_PROJECT_ID", "GOOGLE_CLOUD_PROJECT"], meaning: "the id of the project" },
      region: { variables: ["CLOUD_ML_REGION", "GOOGLE_CLOUD_LOCATION"], meaning: "a location", otherwise: "global" },
    },
  },
  vllm: { name: "vLLM", base_url: "http://localhost:8000/v1", wire_api: "chat" },
  "llama.cpp": { name: "llama.cpp", base_url: "http://localhost:8080/v1", wire_api: "chat" },
};

export const presetNames = Object.keys(fixed);

/** Variables with the keys of all of them. */
export const presetKeys = Object.values(fixed).flatMap(({ env_key }) => env_key ?? []);

/** Servers on this machine, which are never sent a key. */
export const keylessProviders = ["ollama", "lmstudio", "vllm", "llama.cpp"];

export type PresetResult = { kind: "preset"; entry: ModelProvider } | { kind: "missing"; message: string };

/** Undefined if there is no preset of this name. What the user has configured for it takes precedence. */
export function findPreset(id: string, own: ModelProvider | undefined, variables: Variables): PresetResult | undefined {
  const preset = Object.hasOwn(fixed, id) ? fixed[id] : undefined;
  if (!preset) return undefined;
  const { needs = {}, ...entry } = { ...preset, ...own };
  const values = new Map<string, string>();
  for (const [member, { variables: names, meaning, otherwise }] of Object.entries(needs)) {
    const value = names.map((name) => variables[name]?.trim()).find(Boolean) ?? otherwise;
    if (value) values.set(member, value.replace(/\/+$/, ""));
    else if (usesMember(entry, member)) {
      const message = `Provider ${id} needs ${names.join(" or ")}: ${meaning}. Set it, or base_url in [model_providers.${id}].`;
      return { kind: "missing", message };
    }
  }
  const region = values.get("region");
  values.set("host", region === "global" ? "aiplatform.googleapis.com" : `${region}-aiplatform.googleapis.com`);
  return { kind: "preset", entry: filled(entry, values) };
}

const usesMember = ({ base_url = "", query_params = {} }: ModelProvider, member: string): boolean =>
  [base_url, ...Object.values(query_params)].some((text) => text.includes(`{${member}}`));

function filled(entry: ModelProvider, values: Map<string, string>): ModelProvider {
  const fill = (text: string): string => text.replace(/\{(\w+)\}/g, (whole, member) => values.get(member) ?? whole);
  const { base_url: address = "", query_params: query } = entry;
  return {
    ...entry,
    base_url: fill(address),
    ...(query && { query_params: Object.fromEntries(Object.entries(query).map(([name, text]) => [name, fill(text)])) }),
  };
}
