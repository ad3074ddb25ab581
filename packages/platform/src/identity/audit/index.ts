// The audit log: verification and export. Database triggers write it.
export { type AnchorContext, continueAnchor } from "./advance.ts";
export { type Anchor, authenticateWithBoth, readAnchor } from "./anchor.ts";
export { type AuditLog, type Head, headText, readHead, type Verdict, verifyLog } from "./chain.ts";
export { exportLines, openExport, UnreadableExport } from "./exported.ts";
export { keepAnchor } from "./keep.ts";
export { findUnproved, findUnprovedInFile, type UnprovedPart } from "./proof.ts";
export { findUnrecorded } from "./recording.ts";
export { addAuditRoute } from "./routes.ts";
export { readUnlocked, withStoredLog } from "./stored.ts";
export { findUnexplained } from "./unexplained.ts";
