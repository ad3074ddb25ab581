// TODOs have an owner, file names are specific, no test is skipped or waits only a second.
import { lineAt, viewSource } from "./source.ts";
import { type Problem, readSources, repositoryRoot, type SourceFile } from "./tree.ts";

export function findUntidiness(root = repositoryRoot): Problem[] {
  const sources = readSources(root, /\.(ts|tsx|mts|cts|js|mjs|cjs|py)$/);
  return sources.flatMap((file) => [...judgeName(file), ...judgeComments(file), ...judgeTests(file)]);
}

function judgeName({ path }: SourceFile): Problem[] {
  const name = path.split("/").at(-1) ?? "";
  const isVague =
    /(?:^|[-_.])(?:utils?|helpers?|managers?)(?=[-_.]|$)|[a-z](?:Utils?|Helpers?|Manager)(?=[-_.]|$)/i.test(name);
  return isVague ? [`${path}: the name is too general; name the file after what it does.`] : [];
}

function judgeComments({ path, text }: SourceFile): Problem[] {
  const { comments } = viewSource(text);
  return [...comments.matchAll(/\b(?:TODO|FIXME|XXX|HACK)\b(?!\([\w@.-]+\): \S)/g)].map(
    (found) => `${path}:${lineAt(comments, found.index)}: write ${found[0]}(owner): condition, or do it now.`,
  );
}

function judgeTests({ path, text }: SourceFile): Problem[] {
  if (!/\.test\.\w+$/.test(path)) return [];
  const { code } = viewSource(text);
  const findCalls = (pattern: RegExp, advice: string) =>
    [...code.matchAll(pattern)].map((found) => `${path}:${lineAt(code, found.index)}: ${found[0]}…) ${advice}`);
  return [
    ...findCalls(/\.(?:only|skip|todo)\b\s*(?:\.each\b\s*)?\(/g, "leaves tests out; remove it."),
    ...findCalls(/\bvi\.wait(?:For|Until)\(/g, "gives up after a second; wait with `eventually` of the testkit."),
  ];
}
