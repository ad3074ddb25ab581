// The scripts that keep the shadow of a repository and the real one in step, run inside the sandbox. The real repository
// is mounted read-only at host/.
import type { ExecRequest } from "@agentcli/protocol";
import { type Shadow, stateDirectory } from "./shadow.ts";

type Start = NonNullable<ExecRequest["start"]>;

/** Files of a merge, a cherry-pick or a revert in progress that the host imports. */
export const operationFiles = [
  ...["MERGE_HEAD", "MERGE_MSG", "MERGE_MODE", "SQUASH_MSG", "ORIG_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD"],
];
/** The state of a rebase or of several picks names programs and references: it is copied into the shadow, never out. */
const operationDirectories = ["rebase-merge", "rebase-apply", "sequencer"];

/** Later entries win: no program but git, nothing in the background, and no editor that waits for a person. */
const forcedConfig = `
[core]
	fsmonitor = false
	splitIndex = false
	editor = true
	pager = cat
[commit]
	gpgSign = false
[tag]
	gpgSign = false
[gc]
	auto = 0
[maintenance]
	auto = false
[submodule]
	recurse = false
`;

/** Without what a command may have put into the configuration: it could keep these scripts from ending. */
const prelude = `
common=$1 own=$2 host=$1/host state=$1/${stateDirectory}
case $own in "$common") hostOwn=$host;; *) hostOwn=$host/\${own#"$common"/};; esac
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_OBJECT_DIRECTORY GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_COMMON_DIR GIT_NAMESPACE GIT_CONFIG_PARAMETERS
export GIT_CONFIG_COUNT=2 GIT_CONFIG_KEY_0=core.fsmonitor GIT_CONFIG_VALUE_0=false GIT_CONFIG_KEY_1=core.hooksPath GIT_CONFIG_VALUE_1=/dev/null
present() { [ -e "$1" ] || [ -h "$1" ]; }
keep() {
  kept=$state/$1
  set -- "$common/config" "$common/info"
  if [ -f "$own/index" ]; then set -- "$@" "$own/index"; fi
  cp -pR "$@" "$kept/"
}
`;

// The copy of the index keeps its timestamp: git compares it with those of files to find late changes. Each program takes
// as long as a small command, and this runs before the first one: hence so few of them, and git beside the copying.
const synchronizeScript = `${prelude}
alternates=$3 config=$4 excluded=$5 hidden=$6
set -- ${["refs", "packed-refs", "logs/HEAD", "logs/refs/stash", `${stateDirectory}/last`].map((name) => `"$common/${name}"`).join(" ")}
for name in logs/HEAD ${[...operationFiles, "MERGE_RR", "AUTO_MERGE", "REBASE_HEAD", ...operationDirectories].join(" ")}; do
  set -- "$@" "$own/$name"
  if [ "$own" != "$common" ]; then set -- "$@" "$common/$name"; fi
done
for path do
  shift
  if present "$path"; then set -- "$@" "$path"; fi
done
if [ $# -gt 0 ]; then rm -rf "$@" || exit 1; fi
mkdir -p "$state/last" "$common/objects/info" "$common/objects/pack" "$common/refs/heads" "$common/refs/tags" "$common/logs/refs" "$common/info" "$own/logs/refs" "$own/info" || exit 1
git --git-dir="$host" --work-tree=/ for-each-ref --format='%(objectname) %(refname) %(symref)' > "$state/references" &
references=$!
copyFiles() (
  from=$1 to=$2
  set --
  cd "$from" || exit 1
  for name in * .[!.]*; do
    case $name in *.lock | packed-refs) continue;; esac
    if [ -f "$name" ] && [ ! -h "$name" ]; then set -- "$@" "./$name"; fi
  done
  for name in ${operationDirectories.join(" ")} info; do
    if [ -d "$name" ]; then set -- "$@" "$name"; fi
  done
  if [ $# -gt 0 ]; then cp -pR "$@" "$to/" || exit 1; fi
  for name in logs/HEAD logs/refs/stash; do
    if [ -f "$name" ]; then cp "$name" "$to/$name"; fi
  done
)
printf '%s' "$host/objects
$alternates" > "$common/objects/info/alternates"
copyFiles "$host" "$common" || exit 1
if [ "$own" != "$common" ]; then copyFiles "$hostOwn" "$own" || exit 1; fi
if [ -d "$host/reftable" ]; then printf '[extensions]\\n\\trefStorage = files\\n' >> "$common/config"; fi
printf '%s' "$config" >> "$common/config"
printf '\\n%s\\n' "$excluded" >> "$common/info/exclude"
if [ -n "$hidden" ] && [ -f "$own/index" ]; then
  printf '%s\\n' "$hidden" | tr '\\n' '\\0' | xargs -0 git -C / --git-dir="$own" --work-tree=/ --literal-pathspecs ls-files -z -- > "$state/hidden" &&
    git -C / --git-dir="$own" --work-tree=/ update-index -z --skip-worktree --stdin < "$state/hidden" || exit 1
fi
keep last || exit 1
wait "$references" || exit 1
cd "$state" && sed -n -e 's/ $//' -e 't direct' -e 'w symbolic' -e d -e ':direct' -e 'w ../packed-refs' -e p references || exit 1
while read -r object name target; do
  mkdir -p "$common/\${name%/*}" && echo "ref: $target" > "$common/$name"
done < "$state/symbolic"
`;

const exportScript = `${prelude}
export GIT_DIR=$own
if present "$state/next"; then rm -rf "$state/next"; fi
mkdir "$state/next" && keep next
section() { echo "== $1"; base64; }
section head < "$own/HEAD"
git for-each-ref --format='%(objectname) %(refname) %(symref)' refs/heads refs/tags refs/stash | sed -n 's/ $//p' | section references
if [ -f "$common/logs/refs/stash" ]; then section stash < "$common/logs/refs/stash"; fi
for name in ${operationFiles.join(" ")}; do
  if [ -f "$own/$name" ]; then section "operation $name" < "$own/$name"; fi
done
for name in ${operationDirectories.join(" ")}; do
  if [ -d "$own/$name" ]; then echo "$name"; fi
done | section unfinished
GIT_INDEX_FILE=$state/last/index git ls-files --stage -z | gzip -1 | section before
GIT_INDEX_FILE=$state/next/index git ls-files --stage -z | gzip -1 | section after
{
  (cd "$common/objects" && find . -type f -path './??/*') | sed 's,^\\./\\(..\\)/,\\1,'
  for index in "$common"/objects/pack/*.idx; do
    if [ -f "$index" ] && [ ! -f "$index.taken" ]; then : > "$index.listed"; git show-index < "$index" | cut -d' ' -f2; fi
  done
} > "$state/objects"
git pack-objects -q --stdout < "$state/objects" | section pack
{
  cmp -s "$state/next/config" "$state/last/config" || echo config
  for name in $(cd "$state/next/info" && ls; cd "$state/last/info" && ls); do
    case $name in refs) ;; *) cmp -s "$state/next/info/$name" "$state/last/info/$name" || echo "info/$name";; esac
  done
} | sort -u | section kept
echo "== end"
`;

/** After an import: the objects are found in the real repository now. */
const settleScript = `${prelude}
(cd "$common/objects" && sed -n 's,^\\(..\\)\\([0-9a-f]*\\)$,\\1/\\2,p' "$state/objects" | xargs -r rm -f)
for index in "$common"/objects/pack/*.idx.listed; do if [ -f "$index" ]; then mv "$index" "\${index%.listed}.taken"; fi; done
rm -rf "$state/last"; mv "$state/next" "$state/last"
`;

const timeoutMs = 120_000;

const startOf = (script: string, { commonDirectory, gitDirectory }: Shadow, more: string[] = []): Start => ({
  argv: ["/bin/sh", "-c", script, "shadow", commonDirectory, gitDirectory, ...more],
  timeoutMs,
});

/** Copies the state of the real repository into the shadow. */
export const synchronizeStart = (shadow: Shadow): Start =>
  startOf(synchronizeScript, shadow, [
    shadow.alternates.join("\n"),
    forcedConfig,
    shadow.excluded.join("\n"),
    shadow.hidden.join("\n"),
  ]);

/** Prints the state of the shadow, with its new objects. */
export const exportStart = (shadow: Shadow): Start => startOf(exportScript, shadow);

export const settleStart = (shadow: Shadow): Start => startOf(settleScript, shadow);
