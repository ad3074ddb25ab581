// Errors of the v0 routes of workers as their clients read them.
import type { ErrorRenderer } from "../../foundation/index.ts";

const asText = ["worker_in_use", "no_turn_waiting", "worker_connected"];

/** Null for all others, which look as everywhere. */
export const renderV0Errors: ErrorRenderer = ({ req }, { code, message, status }) => {
  if (!req.path.startsWith("/v0/private-workers")) return null;
  const headers = { "cache-control": "no-store" };
  if (asText.includes(code)) return Response.json({ error: message }, { status, headers });
  if (code === "cursor_expired") return Response.json({ code, message }, { status, headers });
  return null;
};
