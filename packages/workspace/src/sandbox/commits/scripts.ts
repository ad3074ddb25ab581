// The two scripts of a commit, run inside the sandbox. The first creates a private repository that uses the objects of the
// real one as alternates, runs the command there and writes the result to files; the second prints them and cleans up.
import type { ExecRequest } from "@agentcli/protocol";
import { baseConfig, type ConfigEntry, configVariables } from "./config.ts";
import type { CommitRepository } from "./repository.ts";

type Start = NonNullable<ExecRequest["start"]>;

/** Files that determine the kind of the next commit. */
export const mergeFiles = ["MERGE_HEAD", "MERGE_MSG", "MERGE_MODE", "CHERRY_PICK_HEAD", "REVERT_HEAD", "SQUASH_MSG"];

// The copy of the index keeps its timestamp: git compares it with those of files to find late changes.
const commitScript = `
scratch=$1 own=$2 shared=$3 head=$4 reference=$5 tip=$6 config=$7; shift 7
unset GIT_INDEX_FILE GIT_OBJECT_DIRECTORY GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_COMMON_DIR GIT_NAMESPACE GIT_CONFIG_PARAMETERS
private=$scratch/git
umask 077
mkdir -p "$private/objects/info" "$private/refs/heads" "$private/info" || exit 125
printf '%s\\n' "$shared/objects" > "$private/objects/info/alternates"
printf '%s\\n' "$head" > "$private/HEAD"
printf '%s' "$config" > "$private/config"
if [ -n "$reference" ] && [ -n "$tip" ]; then
  mkdir -p "$private/\${reference%/*}"
  printf '%s\\n' "$tip" > "$private/$reference"
fi
for file in "$own"/index "$own"/sharedindex.* ${mergeFiles.map((name) => `"$own"/${name}`).join(" ")} "$shared"/shallow; do
  if [ -f "$file" ]; then cp -p "$file" "$private/" || exit 125; fi
done
for file in "$shared"/info/exclude "$shared"/info/attributes "$own"/info/sparse-checkout; do
  if [ -f "$file" ]; then cp "$file" "$private/info/" || exit 125; fi
done
if [ -f "$private/index" ]; then cp -p "$private/index" "$private/index.before"; fi
umask 022
"$@"
code=$?
output=$scratch/export
mkdir "$output" || exit "$code"
GIT_INDEX_FILE=$private/index.before git ls-files --stage -z | gzip -1 > "$output/before" &&
git ls-files --stage -z | gzip -1 > "$output/after" &&
(cd "$private/objects" && find . -type f -path './??/*') | sed 's,^\\./\\(..\\)/,\\1,' > "$scratch/objects" &&
git pack-objects -q --stdout < "$scratch/objects" > "$output/pack" &&
(git rev-parse -q --verify HEAD || true) > "$output/head" &&
(cd "$private" && ls ${mergeFiles.join(" ")} 2>/dev/null || true) > "$output/merge" &&
: > "$output/complete"
exit "$code"
`;

const exportScript = `
cd "$1/export" 2>/dev/null && [ -f complete ] && for name in head merge before after pack; do
  echo "== $name"; base64 "$name"
done
rm -rf "$1"
`;

export interface PrivateRepository {
  repository: CommitRepository;
  scratch: string;
  /** The configuration of the real repository. */
  config: ConfigEntry[];
}

/** The same command, in a private repository. */
export function commitStart(start: Start, { repository, scratch, config }: PrivateRepository): Start {
  const { root, gitDirectory, commonDirectory, head, branch, tip } = repository;
  const reference = branch === undefined ? "" : `refs/heads/${branch}`;
  const parameters = [scratch, gitDirectory, commonDirectory, head, reference, tip ?? "", baseConfig(config)];
  return {
    ...start,
    argv: ["/bin/sh", "-c", commitScript, "commit", ...parameters, ...start.argv],
    env: {
      ...start.env,
      ...configVariables(config),
      GIT_DIR: `${scratch}/git`,
      GIT_WORK_TREE: root,
      GIT_EDITOR: "false",
      GIT_TERMINAL_PROMPT: "0",
    },
  };
}

export const exportStart = (scratch: string): Start => ({
  argv: ["/bin/sh", "-c", exportScript, "export", scratch],
  timeoutMs: 120_000,
});
