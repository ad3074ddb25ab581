// The results of tool calls in a request to a model.
interface RequestBody {
  input?: { type?: string; output?: unknown }[];
}

/** Newest last. */
export const outputsIn = (body: unknown): string[] =>
  ((body as RequestBody | undefined)?.input ?? [])
    .filter((item) => item.type === "function_call_output" || item.type === "custom_tool_call_output")
    .map((item) => String(item.output));
