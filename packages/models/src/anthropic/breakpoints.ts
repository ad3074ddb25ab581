// Where the provider keeps a prompt: at the end of the rules, and where this and the previous request end.

/** One block of content, as it goes over the wire. */
export interface WireBlock {
  type: string;
  [field: string]: unknown;
}

export interface WireMessage {
  role: "user" | "assistant";
  content: WireBlock[];
}

/**
 * The provider looks back 20 blocks from a breakpoint for what it has kept. A reply with many calls adds more, so the end
 * of the previous request has a breakpoint of its own: this request always finds it.
 */
export function withBreakpoints(
  system: WireBlock[],
  messages: WireMessage[],
): { system: WireBlock[]; messages: WireMessage[] } {
  const ends = new Set([previousEnd(messages), messages.length - 1]);
  return {
    system: markLast(system),
    messages: messages.map((message, index) =>
      ends.has(index) && message.role === "user" ? { ...message, content: markLast(message.content) } : message,
    ),
  };
}

/** The message before the newest reply. */
function previousEnd(messages: WireMessage[]): number {
  return messages.findLastIndex(({ role }) => role === "assistant") - 1;
}

const markLast = (blocks: WireBlock[]): WireBlock[] =>
  blocks.map((block, index) =>
    index === blocks.length - 1 ? { ...block, cache_control: { type: "ephemeral" } } : block,
  );
