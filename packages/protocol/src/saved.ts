// Files of the agent home other than configuration and sessions: the saved login, the names of sessions.
import { z } from "zod";

/** A managed account; other members of the issuer are preserved. */
export const AccountTokens = z.looseObject({
  access_token: z.string(),
  refresh_token: z.string().optional(),
});
export type AccountTokens = z.infer<typeof AccountTokens>;

/** auth.json: as sensitive as a password. */
export const AuthFile = z.looseObject({
  auth_mode: z.string().optional().describe("api_key, or the kind of account that the tokens belong to"),
  AGENT_API_KEY: z.string().nullable().optional(),
  tokens: AccountTokens.nullable().optional(),
  last_refresh: z.string().nullable().optional().describe("When it was last written, RFC 3339"),
});
export type AuthFile = z.infer<typeof AuthFile>;

/** A line of session_index.jsonl; the last one of a thread counts. */
export const SessionName = z.object({ id: z.string(), thread_name: z.string(), updated_at: z.string() });
export type SessionName = z.infer<typeof SessionName>;
