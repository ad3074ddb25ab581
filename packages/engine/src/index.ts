export { abandonTurn } from "./abandon-turn.ts";
export type { Answer, Checked } from "./answer/answer.ts";
export type { ApprovalQuestion, Approver, Decision, Judgement, UserAnswers, UserQuestion } from "./approver.ts";
export { addCharges, addUsage, noCharges, noUsage } from "./budget/charges.ts";
export { type Guard, type ProposedCall, policyGuard, type Verdict, writableRootsGuard } from "./calls/guard.ts";
export { drive } from "./drive.ts";
export type { Json } from "./json.ts";
export { lastTurn } from "./last-turn.ts";
export { type FoundSecret, secretFinder, secretForms } from "./log/find-secret.ts";
export { type Emit, type Log, openLog, readThread } from "./log/log.ts";
export { minFormLength, type Scrub, type Secret, scrubber, scrubJson } from "./log/scrub.ts";
export { nextStep as next, type Step } from "./next.ts";
export { collectOutput, type OutputCollector, wholeOutputBytes } from "./output.ts";
export { parsePatch } from "./patch/parse.ts";
export { patchedPaths } from "./patch/paths.ts";
export { isEditTool, patchText, proposedEdits } from "./patch/proposed.ts";
export * from "./ports.ts";
export {
  changedTools,
  environmentMessage,
  freeze,
  type PromptEnvironment,
  permissionsMessage,
  planMessage,
  promptParts,
} from "./prompt/prompt.ts";
export { noRepository, type Repository, type RepositoryTexts } from "./prompt/repository.ts";
export type { Dependencies, SteeringInput, StopReason, SubagentSupervisor } from "./running.ts";
export { apply } from "./state/apply.ts";
export { chargeOf } from "./state/apply-note.ts";
export { answerOf, callsOf, isShown, textOf } from "./state/messages.ts";
export { emptyThread, type ThreadState } from "./state/state.ts";
export { estimateMessage, estimateRequest, estimateText } from "./state/tokens.ts";
export { readPaths, touchedPaths } from "./state/touched.ts";
export { agentToolNames } from "./subagents/names.ts";
export { openSubagents } from "./subagents/open.ts";
export { type AgentRole, builtInRoles } from "./subagents/role.ts";
export type { SubagentObserver } from "./subagents/tree.ts";
export type { ThreadHooks } from "./thread-hooks.ts";
export { agentTools } from "./tools/agent-tools.ts";
export { builtInTools, requestUserInput } from "./tools/built-in.ts";
export { imageType } from "./tools/image-type.ts";
export { type KeepContext, type KeptText, keepForModel } from "./tools/kept-text.ts";
export type { Parsed, Tool, ToolContext } from "./tools/tool.ts";
