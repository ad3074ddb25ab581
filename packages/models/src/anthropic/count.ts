// The tokens of a request, as POST /messages/count_tokens counts them: without a charge, and without a reply.
import { fields } from "../untrusted.ts";
import type { TokenCount } from "../wire.ts";
import { messagesBody } from "./request.ts";

export const tokenCount: TokenCount = {
  path: "messages/count_tokens",
  body(request, facts) {
    // What concerns the reply alone is not part of the question.
    const {
      max_tokens: _,
      stream: __,
      service_tier: ___,
      ...body
    } = messagesBody(request, facts) as Record<string, unknown>;
    return body;
  },
  read(answer) {
    const { input_tokens: tokens } = fields(answer);
    return Number.isSafeInteger(tokens) && Number(tokens) >= 0 ? Number(tokens) : null;
  },
};
