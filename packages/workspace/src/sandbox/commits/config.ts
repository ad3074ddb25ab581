// The configuration of git for a commit: harmless settings of the repository, and nothing that runs programs. Pure.

export interface ConfigEntry {
  key: string;
  value: string;
}

/** Parses `git config --list -z`: key, newline, value, NUL. */
export function readConfigList(output: string): ConfigEntry[] {
  return output
    .split("\0")
    .filter((entry) => entry !== "")
    .map((entry) => {
      const end = entry.indexOf("\n");
      return end < 0 ? { key: entry, value: "true" } : { key: entry.slice(0, end), value: entry.slice(end + 1) };
    });
}

const copiedKeys = [
  /^(?:user|author|committer|i18n|add|advice|index)\.[a-z]+$/,
  /^core\.(?:filemode|ignorecase|precomposeunicode|symlinks|autocrlf|eol|safecrlf|quotepath|commentchar|abbrev)$/,
  /^core\.(?:sparsecheckout|sparsecheckoutcone|trustctime|checkstat|excludesfile|attributesfile|whitespace)$/,
  /^commit\.(?:cleanup|status)$/,
  /^diff\.(?:renames|renamelimit)$/,
  /^submodule\..*\.ignore$/s,
];

/** Overrides all other configuration: no program but git itself, and nothing in the background. */
const forcedEntries: ConfigEntry[] = Object.entries({
  "core.hooksPath": "/dev/null",
  "core.fsmonitor": "false",
  "core.editor": "false",
  "core.pager": "cat",
  "core.sshCommand": "false",
  "core.splitIndex": "false",
  "commit.gpgSign": "false",
  "gpg.program": "false",
  "gpg.ssh.program": "false",
  "gpg.x509.program": "false",
  "credential.helper": "",
  "gc.auto": "0",
  "maintenance.auto": "false",
  "submodule.recurse": "false",
}).map(([key, value]) => ({ key, value }));

/** As the GIT_CONFIG variables; later entries win. */
export function configVariables(own: ConfigEntry[]): Record<string, string> {
  const entries = [
    ...own.filter(({ key }) => copiedKeys.some((pattern) => pattern.test(key))),
    ...refuseFilters(own),
    ...forcedEntries,
  ];
  return asVariables(entries);
}

export function asVariables(entries: ConfigEntry[]): Record<string, string> {
  const pairs = entries.flatMap(({ key, value }, index) => [
    [`GIT_CONFIG_KEY_${index}`, key],
    [`GIT_CONFIG_VALUE_${index}`, value],
  ]);
  return { GIT_CONFIG_COUNT: String(entries.length), ...Object.fromEntries(pairs) };
}

/** Without its filter a file would be committed wrong, so adding it fails. Filters of the user's global configuration run. */
function refuseFilters(own: ConfigEntry[]): ConfigEntry[] {
  const names = own.flatMap(({ key }) => /^filter\.(.*)\.(?:clean|smudge|process|required)$/s.exec(key)?.[1] ?? []);
  const refusal = "echo 'a filter of the repository configuration does not run in the sandbox' >&2; false";
  return [...new Set(names)].flatMap((name) => [
    { key: `filter.${name}.clean`, value: refusal },
    { key: `filter.${name}.smudge`, value: refusal },
    { key: `filter.${name}.required`, value: "true" },
  ]);
}

/** The configuration file of the private repository git commits to. */
export function baseConfig(own: ConfigEntry[]): string {
  const format = own.findLast(({ key }) => key === "extensions.objectformat")?.value;
  if (format !== "sha256") return "[core]\n\trepositoryformatversion = 0\n\tbare = false\n";
  return "[core]\n\trepositoryformatversion = 1\n\tbare = false\n[extensions]\n\tobjectFormat = sha256\n";
}
