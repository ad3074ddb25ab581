// Proof of what happened: the audit log, verified and exported. The database writes it by itself.
export { type Anchor, proveWithBoth, readAnchor } from "./anchor.ts";
export { type AuditLog, type Head, headText, readHead, type Verdict, verifyLog } from "./chain.ts";
export { exportLines, openExport, UnreadableExport } from "./exported.ts";
export { keepAnchor } from "./keep.ts";
export { withStoredLog } from "./stored.ts";
