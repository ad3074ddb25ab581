// The ways a chat stream says that there will be no answer.
import type { Usage } from "@agentcli/protocol";
import { lasting, reportedTrouble, type Trouble, trouble } from "../trouble.ts";
import { fields, text } from "../untrusted.ts";

export function chatTrouble(serverName: string, error: unknown): Trouble {
  const { code, type, message } = fields(error);
  return reportedTrouble(serverName, text(code) ?? text(type) ?? "", text(message) ?? text(error) ?? "");
}

export function finishTrouble(serverName: string, reason: string | undefined, usage: Usage): Trouble | undefined {
  const said = `${serverName} stopped before the answer was complete: ${reason}.`;
  const advice = "Allow more output tokens (max_output_tokens).";
  if (reason === "length")
    return lasting(trouble("protocol", `${said} ${advice}`, { incomplete: "max_output_tokens", ...known(usage) }));
  return reason === "content_filter"
    ? trouble("refused", said, { incomplete: "content_filter", ...known(usage) })
    : undefined;
}

/** Servers that count nothing send no usage, which reads as zeros. */
const known = (usage: Usage): { usage?: Usage } => (usage.inputTokens + usage.outputTokens > 0 ? { usage } : {});
