// Where users keep what commands must not read: credentials, histories, browser profiles. Pure, except for the account's home.
import { userInfo } from "node:os";
import { join } from "node:path";

/** Relative to the home directory. */
const credentials = [
  ...[".ssh", ".gnupg", ".netrc", ".pgpass", ".my.cnf", ".mylogin.cnf", ".vault-token", ".password-store"],
  ...[".aws", ".azure", ".kube", ".config/gcloud", ".config/doctl", ".config/hcloud", ".fly", ".boto", ".s3cfg"],
  ...[".config/gh", ".config/hub", ".config/glab-cli", ".git-credentials", ".config/git/credentials"],
  ...[".docker/config.json", ".config/containers/auth.json", ".config/heroku", ".config/netlify", ".config/rclone"],
  ...[
    ".npmrc",
    ".yarnrc.yml",
    ".pypirc",
    ".config/pypoetry/auth.toml",
    ".cargo/credentials",
    ".cargo/credentials.toml",
  ],
  ...[".gem/credentials", ".bundle/config", ".composer/auth.json", ".config/composer/auth.json", ".m2/settings.xml"],
  ...[".gradle/gradle.properties", ".nuget/NuGet/NuGet.Config", ".terraformrc", ".terraform.d/credentials.tfrc.json"],
  ...[".pulumi/credentials.json", ".local/share/keyrings", ".local/share/kwalletd", ".config/op", ".config/1Password"],
  ...["Library/Keychains", "Library/Cookies"],
];

const otherAgents = [
  ...[".agentcli", ".platform", ".codex", ".claude", ".claude.json", ".gemini", ".qwen", ".copilot", ".cursor"],
  ...[".continue", ".codeium", ".factory", ".aider.conf.yml", ".config/github-copilot", ".config/goose", ".config/amp"],
  ...[".config/cursor", ".config/opencode", ".local/share/opencode", ".local/share/amp", ".local/share/goose"],
];

const histories = [
  ...[".bash_history", ".zsh_history", ".zhistory", ".histfile", ".sh_history", ".ash_history", ".history"],
  ...[".local/share/fish/fish_history", ".python_history", ".node_repl_history", ".irb_history", ".psql_history"],
  ...[".mysql_history", ".mariadb_history", ".sqlite_history", ".rediscli_history", ".dbshell", ".lesshst", ".viminfo"],
];

const browserProfiles = [
  ...[
    ".mozilla",
    ".librewolf",
    ".thunderbird",
    ".cache/mozilla",
    ".config/google-chrome",
    ".config/google-chrome-beta",
  ],
  ...[".config/chromium", ".config/BraveSoftware", ".config/microsoft-edge", ".config/vivaldi", ".config/opera"],
  ...[".cache/google-chrome", ".cache/chromium", ".var/app", "snap/firefox", "snap/chromium", "Library/Safari"],
  ...["Library/Application Support/Google/Chrome", "Library/Application Support/Firefox"],
];

const personalPaths = [...credentials, ...otherAgents, ...histories, ...browserProfiles];

/** The agent's own home, and what users keep in theirs. */
export const hiddenByDefault = (home: string, agentHome: string): string[] => [
  agentHome,
  ...[...new Set([home, ...accountHome()])].flatMap((directory) => personalPaths.map((path) => join(directory, path))),
];

/** HOME may point elsewhere, as in CI; the credentials are in the home of the account. */
function accountHome(): string[] {
  try {
    return [userInfo().homedir];
  } catch {
    // No entry in the password file, as in many containers.
    return [];
  }
}
