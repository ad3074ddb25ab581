// The ways a Responses stream says that there will be no answer.
import type { Usage } from "@agentcli/protocol";
import { lasting, reportedTrouble, type Trouble, trouble } from "../trouble.ts";
import { type Fields, fields, text } from "../untrusted.ts";

export const failedTrouble = (serverName: string, error: Fields): Trouble =>
  reportedTrouble(serverName, text(error.code) ?? text(error.type) ?? "", text(error.message) ?? "");

export function incompleteTrouble(serverName: string, response: Fields, usageOf: (usage: Fields) => Usage): Trouble {
  const reason = text(fields(response.incomplete_details).reason) ?? "no reason given";
  const said = `${serverName} stopped before the answer was complete: ${reason}.`;
  const usage = response.usage ? { usage: usageOf(fields(response.usage)) } : {};
  if (reason === "max_output_tokens")
    return lasting(trouble("protocol", `${said} Allow more output tokens.`, { incomplete: reason, ...usage }));
  if (reason === "content_filter") return trouble("refused", said, { incomplete: reason, ...usage });
  return trouble("stream_cut", said, usage);
}
