export type { Answer, Checked } from "./answer/answer.ts";
export type { ApprovalQuestion, Approver, Decision, UserAnswers, UserQuestion } from "./approval.ts";
export { compactionPrompt } from "./compaction.ts";

export { drive } from "./drive.ts";

export { type Guard, type ProposedCall, placeGuard, policyGuard, type Verdict } from "./guard.ts";
export type { HookGate } from "./hooks/gate.ts";
export { lastTurn } from "./last-turn.ts";
export { type Emit, type Log, openLog, readThread } from "./log.ts";
export { next, type Step } from "./next.ts";
export { truncateForModel, wholeOutputBytes } from "./output.ts";
export * from "./ports.ts";
export {
  changedTools,
  environmentMessage,
  freeze,
  permissionsMessage,
  planMessage,
  promptParts,
  type Surroundings,
} from "./prompt.ts";
export { noRepository, type Repository, type RepositoryTexts } from "./repository.ts";
export type { Dependencies, Progress, SteeringInput, StopReason } from "./running.ts";
export { type Scrub, type Secret, scrubber } from "./scrub.ts";
export { apply, emptyThread, type ThreadState } from "./state.ts";
export { type Family, openFamily } from "./subagents/family.ts";
export { agentToolNames } from "./subagents/names.ts";
export { type AgentRole, builtInRoles } from "./subagents/role.ts";
export { agentTools } from "./subagents/tools.ts";
export type { Watching } from "./subagents/tree.ts";
export { execEvents } from "./surfaces/exec-jsonl.ts";
export { humanText, type Paint } from "./surfaces/human.ts";
export type { FrameGroup } from "./surfaces/run-stream/frames.ts";
export { type Frame, numberFrames } from "./surfaces/run-stream/numbered.ts";
export { openRecorder, type Recorder } from "./surfaces/run-stream/recorder.ts";
export { type RunStream, runStream } from "./surfaces/run-stream/run-stream.ts";
export { estimateMessage, estimateText } from "./tokens.ts";
export { builtInTools } from "./tools/index.ts";
export { requestUserInput } from "./tools/request-user-input.ts";
export type { Parsed, Tool, ToolContext } from "./tools/tool.ts";
export { imageType } from "./tools/view-image.ts";
export { abandonTurn } from "./turn.ts";
