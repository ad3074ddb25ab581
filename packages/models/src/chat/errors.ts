// The ways a chat stream says that there will be no answer.
import { lasting, reportedTrouble, type Trouble, trouble } from "../trouble.ts";
import { fields, text } from "../untrusted.ts";

export function chatTrouble(serverName: string, error: unknown): Trouble {
  const { code, type, message } = fields(error);
  return reportedTrouble(serverName, text(code) ?? text(type) ?? "", text(message) ?? text(error) ?? "");
}

export function finishTrouble(serverName: string, reason: string | undefined): Trouble | undefined {
  const said = `${serverName} stopped before the answer was complete: ${reason}.`;
  if (reason === "length") return lasting(trouble("protocol", `${said} Allow more output tokens (max_output_tokens).`));
  return reason === "content_filter" ? trouble("refused", said) : undefined;
}
