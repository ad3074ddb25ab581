// The two kinds of tasks of the competent model: repair what a test reports, and extend several files.
import { firstMatch, patch, require, shell, tool, type Work } from "./competent-model.ts";

interface Common {
  /** The project's own way to run its tests. */
  test: string;
  subject: string;
}

export interface Repair extends Common {
  /** Its first group, in the output of the failing tests, is the name to search for. */
  reported: RegExp;
  /** Lines of the patch, for the file in which the name was found. */
  change: (path: string) => string[];
}

export interface Extension extends Common {
  branch: string;
  /** Where the code to extend is mentioned. */
  mentioned: string;
  /** Several files and a test; has one mistake. */
  change: string[];
  /** What the project's tests say about the mistake. */
  mistake: RegExp;
  correction: string[];
}

export function* repair({ test, subject, reported, change }: Repair): Work {
  yield* tool("list_dir", { path: ".", depth: 2 });
  const failure = yield* shell(test, { exits: "with a failure" });
  const [, name = ""] = reported.exec(require(failure, reported)) ?? [];
  const { path, line } = firstMatch(yield* tool("grep_files", { pattern: `(def|func|fn|function) ${name}\\b` }));
  yield* tool("read_file", { path, offset: Math.max(1, line - 3), limit: 20 });
  yield* patch(...change(path));
  yield* shell(test);
  yield* shell("git --no-pager diff --stat && git status --short | head -20");
  yield* shell(
    `git add -A && git commit -q -m "$(cat <<'EOF'\n${subject}\n\nFound by the project's own tests.\nEOF\n)"`,
  );
  return yield* report(subject);
}

export function* extend({ test, subject, branch, mentioned, change, mistake, correction }: Extension): Work {
  yield* shell(`git checkout -q -b ${branch} && git log --oneline | head -3`);
  const { path, line } = firstMatch(yield* tool("grep_files", { pattern: mentioned }));
  yield* tool("read_file", { path, offset: Math.max(1, line - 3), limit: 40 });
  yield* shell(test);
  yield* patch(...change);
  require(yield* shell(test, { exits: "with a failure" }), mistake);
  yield* patch(...correction);
  yield* shell(test);
  yield* shell(
    `git add -A && git -c user.name='Task Model' -c user.email=model@example.com commit -q -F - <<'EOF'\n${subject}\nEOF`,
  );
  return yield* report(subject);
}

function* report(subject: string): Work {
  const log = yield* shell("git log -1 --format=%H:%s && git status --porcelain");
  const [, commit = "", committed = "", left = ""] = /^([0-9a-f]{40}):(.*)\n?([\s\S]*)$/m.exec(log) ?? [];
  if (committed !== subject || left.trim() !== "") throw new Error(`the commit is not whole:\n${log}`);
  const files = yield* shell("git show --stat --format= --name-only HEAD");
  const [, names = ""] = /^Output:\n([\s\S]*)$/m.exec(files) ?? [];
  return JSON.stringify({ commit, files: names.trim().split("\n").sort(), tests: "passed" });
}
