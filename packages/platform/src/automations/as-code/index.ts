// Automations as files: read, compared with what there is, and applied.
export { applyChanges, readExisting } from "./apply.ts";
export { type AutomationDocument, shownDocument } from "./document.ts";
export { type DeclaredAutomation, type PlannedChange, planChanges } from "./plan.ts";
export { readAutomationFile } from "./read-file.ts";
