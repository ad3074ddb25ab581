// Describes in one sentence which member of the params is invalid and what was expected.

/** The part of a schema library's issue that is read here. */
export interface Issue {
  code: string;
  path: PropertyKey[];
  message: string;
  /** What each branch of a union had against the value. */
  errors?: Issue[][];
}

export function explainIssues(issues: Issue[], params: unknown): string {
  const issue = deepest(issues);
  const name = issue.path.map(String).join(".");
  if (name !== "" && valueAt(params, issue.path) === undefined) return `missing field \`${cut(name)}\``;
  const where = name === "" ? "params" : `\`${cut(name)}\``;
  return `${where}: ${cut(issue.message.replace(/^Invalid input: /, ""))}`;
}

/** Of all complaints the one that got farthest into the value: that branch is most likely the one that was meant. */
function deepest(issues: Issue[], path: PropertyKey[] = []): Issue {
  const all = issues.flatMap((issue): Issue[] => {
    const here = { ...issue, path: [...path, ...issue.path] };
    const branches = (issue.errors ?? []).filter((branch) => branch.length > 0);
    return [here, ...branches.map((branch) => deepest(branch, here.path))];
  });
  return all.reduce((found, issue) => (issue.path.length > found.path.length ? issue : found));
}

const valueAt = (value: unknown, path: PropertyKey[]): unknown =>
  path.reduce<unknown>((at, key) => (at as Record<PropertyKey, unknown> | null | undefined)?.[key], value);

const cut = (text: string): string => (text.length > 200 ? `${text.slice(0, 200)}…` : text);
