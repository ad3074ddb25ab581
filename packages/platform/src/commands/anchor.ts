// Continues the anchor of the audit log after a command, so that its entries are proved without a server.
import { type AnchorContext, continueAnchor } from "../identity/audit/index.ts";
import type { Program } from "./program.ts";

/** The command has done its work: a failure here is only reported. */
export async function anchorEntries(context: AnchorContext, { log }: Program): Promise<void> {
  try {
    const check = await continueAnchor(context);
    if (check?.kind === "broken") log.warn("audit.tampered", { reason: check.reason });
  } catch (error) {
    log.error("audit.anchor_failed", error);
  }
}
