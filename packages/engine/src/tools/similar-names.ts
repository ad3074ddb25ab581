// Tools with names like one that does not exist.

/** At most three, the most similar first. */
export function similarNames(name: string, known: string[]): string[] {
  const meant = otherNames[plain(name)] ?? [];
  const similar = known
    .map((candidate) => ({ candidate, likeness: likeness(plain(name), plain(candidate)) }))
    .filter(({ likeness }) => likeness >= 0.5)
    .sort((left, right) => right.likeness - left.likeness)
    .map(({ candidate }) => candidate);
  const names = [...meant.filter((each) => known.includes(each)), ...similar];
  return [...new Set(names)].slice(0, 3);
}

const plain = (name: string) => name.toLowerCase().replace(/[^a-z0-9]/g, "");

/** What other programs call the same thing. */
const otherNames: Record<string, string[]> = {
  ...named(["exec_command"], ["bash", "shell", "localshell", "containerexec", "runterminalcmd", "terminal", "execute"]),
  ...named(["exec_command"], ["runcommand", "runshellcommand", "sh", "python"]),
  ...named(["read_file"], ["read", "cat", "open", "openfile", "view", "viewfile", "readmanyfiles", "readfiles"]),
  ...named(["list_dir"], ["ls", "list", "listdirectory", "listfiles", "tree"]),
  ...named(["grep_files"], ["grep", "rg", "ripgrep", "search", "searchfiles", "grepsearch", "codebasesearch"]),
  ...named(["glob"], ["find", "findfiles", "filesearch", "globfiles", "globfilesearch"]),
  ...named(["edit_file", "apply_patch"], ["edit", "write", "writefile", "replace", "strreplace", "multiedit", "patch"]),
  ...named(
    ["edit_file", "apply_patch"],
    ["strreplaceeditor", "strreplacebasededittool", "createfile", "searchreplace"],
  ),
  ...named(["edit_notebook"], ["notebookedit", "notebook"]),
  ...named(["update_plan"], ["todowrite", "updatetodos", "plan", "todo"]),
  ...named(["spawn_agent"], ["task", "agent", "subagent"]),
};

function named(tools: string[], names: string[]): Record<string, string[]> {
  return Object.fromEntries(names.map((name) => [name, tools]));
}

/** From 0 to 1: how many pairs of neighbouring characters two names share. */
function likeness(left: string, right: string): number {
  const [ours, theirs] = [pairsOf(left), pairsOf(right)];
  const shared =
    ours.filter((pair) => theirs.includes(pair)).length + theirs.filter((pair) => ours.includes(pair)).length;
  return shared / Math.max(1, ours.length + theirs.length);
}

const pairsOf = (text: string): string[] =>
  Array.from({ length: Math.max(0, text.length - 1) }, (_, at) => text.slice(at, at + 2));
