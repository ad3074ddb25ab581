// A scripted model that works as a competent one does: it explores, reads what its tools answer, acts on it and verifies.
import { call, freeform, outputsIn, type Reply, replyWith } from "@agentcli/testkit";

/** Yields calls, receives their answers, returns the final message. */
export type Work = Generator<Reply, string, string>;
type Step = Generator<Reply, string, string>;

export interface CompetentModel {
  answer(body: string): Reply;
  /** Every answer that the tools gave, in order. */
  toolAnswers: string[];
  /** Why it gave up, if it did. */
  problem(): string | undefined;
}

export function competentModel(work: Work): CompetentModel {
  const toolAnswers: string[] = [];
  let problem: string | undefined;
  return {
    toolAnswers,
    problem: () => problem,
    answer(body) {
      const answer = outputsIn(JSON.parse(body)).at(-1) ?? "";
      if (answer !== "") toolAnswers.push(answer);
      try {
        const { value, done } = work.next(answer);
        return done ? replyWith(value) : value;
      } catch (error) {
        problem = error instanceof Error ? error.message : String(error);
        return replyWith(problem);
      }
    },
  };
}

export function* tool(name: string, args: Record<string, string | number>): Step {
  return yield call(name, args);
}

export function* patch(...lines: string[]): Step {
  const answer = yield freeform("apply_patch", ["*** Begin Patch", ...lines, "*** End Patch"].join("\n"));
  return require(answer, /^Success/m);
}

/** Waits until the command has ended, as a model does with one that takes long. */
export function* shell(cmd: string, { exits }: { exits: "cleanly" | "with a failure" } = { exits: "cleanly" }): Step {
  let answer = yield call("exec_command", { cmd });
  let output = answer;
  for (let session = runningSession(answer); session !== null; session = runningSession(answer)) {
    answer = yield call("write_stdin", { session_id: session, chars: "", yield_time_ms: 30_000 });
    output += answer;
  }
  require(answer, exits === "cleanly" ? /^Process exited with code 0$/m : /^Process exited with code [1-9]/m);
  return output;
}

/** Where grep_files found its first match. */
export function firstMatch(answer: string): { path: string; line: number } {
  const [, path = "", line = ""] = /^([^:\n]+):(\d+):/m.exec(require(answer, /^[^:\n]+:\d+:/m)) ?? [];
  return { path, line: Number(line) };
}

/** What a step depends on; without it the model gives up. */
export function require(answer: string, expected: RegExp): string {
  if (!expected.test(answer)) throw new Error(`expected ${expected}, but the tool answered:\n${answer}`);
  return answer;
}

function runningSession(answer: string): number | null {
  const session = /^Process running with session ID (\d+)$/m.exec(answer)?.[1];
  return session === undefined ? null : Number(session);
}
