// Judges commands by the rules, before the next guard. An allow rule does not lift the sandbox.
import type { Guard, ProposedCall, Verdict } from "@agentcli/engine";
import type { TurnSettings } from "@agentcli/protocol";
import type { Commands, ShellReader } from "../shell/commands.ts";
import { showWords } from "../shell/word.ts";
import { judge, type Match } from "./judge.ts";
import type { RuleSet } from "./rule.ts";

export interface RulesGuardOptions {
  /** Called once, for the first command. */
  openShellReader(): Promise<ShellReader>;
}

export function rulesGuard(rules: RuleSet, inner: Guard, { openShellReader }: RulesGuardOptions): Guard {
  let opened: Promise<ShellReader> | undefined;
  return {
    async admit(call, settings) {
      if (call.name !== "exec_command") return inner.admit(call, settings);
      opened ??= openShellReader();
      const refusal = refuse(rules, commandsOfCall(call, await opened), settings);
      return refusal ?? inner.admit(call, settings);
    },
  };
}

function refuse(rules: RuleSet, commands: Commands, settings: TurnSettings): Verdict | null {
  const { decision, matches } = judge(rules, commands);
  const strictest = matches.find(({ rule }) => rule.decision === decision);
  if (decision === "forbidden" && strictest) return declined(forbiddenReason(strictest));
  if (decision === "prompt" && strictest) {
    const kind = settings.approval === "never" ? "declined" : "unapproved";
    return { kind, reason: promptReason(strictest, settings) };
  }
  return null;
}

/** The user's shell is trusted; another shell that the model names is judged as a command. */
function commandsOfCall({ args }: ProposedCall, shell: ShellReader): Commands {
  const { cmd, shell: program } = args as { cmd: string; shell?: string };
  return program === undefined ? shell.commandsOf(cmd) : shell.commandsOfWords([program, "-c", cmd]);
}

function forbiddenReason({ command, rule, prefix }: Match): string {
  const reason = rule.justification ?? `policy forbids commands starting with \`${showWords(prefix)}\``;
  return `\`${showWords(command.words)}\` rejected: ${reason}`;
}

function promptReason({ command, rule }: Match, { approval }: TurnSettings): string {
  if (approval === "never") return "approval required by policy, but AskForApproval is set to Never";
  const why = rule.justification ? ` (${rule.justification})` : "";
  return `\`${showWords(command.words)}\` needs an approval by policy${why} and no user is present to give one; do without it`;
}

const declined = (reason: string): Verdict => ({ kind: "declined", reason });
