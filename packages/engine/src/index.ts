export type { Answer, Checked } from "./answer/answer.ts";
export { compactionPrompt } from "./compaction.ts";

export { drive } from "./drive.ts";

export { type Guard, type ProposedCall, policyGuard, type Verdict } from "./guard.ts";
export type { HookGate } from "./hooks/gate.ts";
export { lastTurn } from "./last-turn.ts";
export { type Log, openLog, readThread } from "./log.ts";
export { next, type Step } from "./next.ts";
export { truncateForModel, wholeOutputBytes } from "./output.ts";
export * from "./ports.ts";
export { environmentMessage, freeze, permissionsMessage, type Surroundings } from "./prompt.ts";
export { noRepository, type Repository, type RepositoryTexts } from "./repository.ts";
export type { Dependencies, StopReason } from "./running.ts";
export { type Scrub, type Secret, scrubber } from "./scrub.ts";
export { apply, emptyThread, type ThreadState } from "./state.ts";
export { type Family, openFamily } from "./subagents/family.ts";
export { agentToolNames } from "./subagents/names.ts";
export { type AgentRole, builtInRoles } from "./subagents/role.ts";
export { agentTools } from "./subagents/tools.ts";
export { execEvents } from "./surfaces/exec-jsonl.ts";
export { humanText, type Paint } from "./surfaces/human.ts";
export type { FrameGroup } from "./surfaces/run-stream/frames.ts";
export { type RunStream, runStream } from "./surfaces/run-stream/run-stream.ts";
export { builtInTools } from "./tools/index.ts";
export type { Parsed, Tool, ToolContext } from "./tools/tool.ts";
export { imageType } from "./tools/view-image.ts";
export { abandonTurn } from "./turn.ts";
