// Usage in its form on the wire.
import type { EventUsage, Usage } from "@agentcli/protocol";

export const eventUsage = (usage: Usage): EventUsage => ({
  input_tokens: usage.inputTokens,
  cached_input_tokens: usage.cachedInputTokens,
  cache_write_input_tokens: usage.cacheWriteInputTokens,
  output_tokens: usage.outputTokens,
  reasoning_output_tokens: usage.reasoningOutputTokens,
});
