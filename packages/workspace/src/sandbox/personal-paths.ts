// Where users keep what commands must not read: credentials, histories, browser profiles. Pure, except for the account's home.
import { userInfo } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import { contains } from "../paths.ts";

const split = (list: string): string[] => list.trim().split(/\s+/);

/** Relative to the home directory; no path is below another one. */
const credentials = split(`
  .ssh .gnupg .netrc .authinfo .authinfo.gpg .pgpass .my.cnf .mylogin.cnf .vault-token .password-store
  .local/share/keyrings .local/share/kwalletd .config/op .config/1Password .config/Bitwarden .config/rbw
  .config/keepassxc .config/age .config/sops Library/Keychains Library/Cookies

  .aws .azure .kube .oci .aliyun .bluemix .cf .config/gcloud .config/doctl .config/hcloud .config/scw .config/linode-cli
  .config/openstack .config/argocd .fly .boto .s3cfg .config/rclone .cloudflared .wrangler .config/.wrangler .heroku
  .config/heroku .netlify .config/netlify .vercel .config/com.vercel.cli .local/share/com.vercel.cli .railway .supabase
  .config/configstore .config/stripe .config/ngrok .ngrok2 .databrickscfg .snowflake .snowsql .sentryclirc .jfrog
  .terraformrc .terraform.d/credentials.tfrc.json .pulumi/credentials.json .docker/config.json
  .config/containers/auth.json .config/helm/registry

  .config/gh .config/hub .config/glab-cli .config/tea .git-credentials .config/git/credentials
  .npmrc .yarnrc.yml .pypirc .config/pypoetry/auth.toml .local/share/uv/credentials .cargo/credentials
  .cargo/credentials.toml .gem/credentials .bundle/config .composer/auth.json .config/composer/auth.json
  .m2/settings.xml .m2/settings-security.xml .gradle/gradle.properties .nuget/NuGet/NuGet.Config

  .subversion/auth .config/nix/nix.conf .config/pip/pip.conf .pip/pip.conf .bunfig.toml .curlrc .wgetrc .mc .minikube
  .step .expo .android/adbkey .config/syncthing .config/ngc .ngc .pki .lastpass .local/share/lpass .local/share/Bitwarden

  .Xauthority .ICEauthority .vnc .config/tigervnc .remmina .config/remmina .local/share/remmina .putty .filezilla
  .config/filezilla .msmtprc .config/msmtp .mbsyncrc .config/isyncrc .offlineimaprc .fetchmailrc .muttrc .config/mutt
  .config/neomutt .purple .config/Signal .config/Slack .config/discord .config/Element .local/share/TelegramDesktop
  .config/Code/User/globalStorage .config/VSCodium/User/globalStorage .config/JetBrains

  .local/share/DBeaverData .config/Postman .config/Insomnia .local/share/jupyter/runtime .tsh .ivy2/.credentials
  .sbt/.credentials .dockercfg .saml2aws .granted .pnpmrc .config/pnpm/rc .smbcredentials .edgerc .chef .erlang.cookie
  .doppler .infisical .config/turso .config/planetscale .config/neonctl .modal.toml .rclone.conf .config/goa-1.0
  .config/evolution .local/share/evolution .config/Mattermost

  .kaggle .huggingface .cache/huggingface/token .cache/huggingface/stored_tokens .config/wandb .config/solana .electrum
  .bitcoin .ethereum .foundry/keystores

  .dbt/profiles.yml .pg_service.conf .odbc.ini .actrc .Renviron .condarc .vault_pass .config/borg .config/restic
  .config/rustic .config/aerc .config/himalaya .config/gopass .local/share/gopass .config/jira .config/.jira .jira.d
  .config/lab .config/aws-sso .aws-sso .config/hatch .config/teams .config/KeePass .cdsapirc
  .netrc~ .netrc.bak .npmrc~ .npmrc.save .npmrc.bak .pypirc~ .ssh.bak .ssh.old .aws.bak .gnupg.bak .local/share/Trash
`);

const otherAgents = split(`
  .agentcli .platform .codex .claude .claude.json .gemini .qwen .copilot .cursor .continue .codeium .factory
  .aider.conf.yml .amazonq .crush .kiro .windsurf .cline .roo .augment .kimi .grok .openhands .ollama/id_ed25519
  .config/github-copilot .config/goose .config/amp .config/cursor .config/opencode .config/crush .config/aichat
  .config/io.datasette.llm .config/shell_gpt .config/fabric .local/share/opencode .local/share/amp .local/share/goose
  .config/Cursor .config/Windsurf .config/Claude .local/share/zed .cursor-server .openai .anthropic
  .vscode-server/data/User/globalStorage
  .local/share/crush .local/share/amazon-q .local/share/kiro-cli .local/share/agent-worker
  .config/claude .local/share/claude .local/state/claude .openclaw .clawdbot .trae .config/Trae .antigravity
  .config/Antigravity .junie .warp .local/share/warp-terminal .goose .lmstudio
`);

const histories = split(`
  .bash_history .zsh_history .zhistory .histfile .sh_history .ash_history .history .local/share/fish/fish_history
  .local/share/atuin .local/share/mcfly .local/state/bash .local/state/zsh .python_history .node_repl_history .irb_history .Rhistory
  .psql_history .mysql_history .mariadb_history .sqlite_history .duckdb_history .rediscli_history .dbshell .mongodb
  .zsh_sessions .gdb_history .lesshst .viminfo .local/state/nvim/shada
  .ipython/profile_default/history.sqlite .local/share/powershell/PSReadLine .config/nushell/history.txt
  .config/nushell/history.sqlite3 .local/share/nushell .local/share/xonsh .config/pgcli/history .mycli-history
  .sqlplus_history .cassandra/cqlsh_history .clickhouse-client-history .php_history .ghc/ghci_history
  .bash_eternal_history
`);

const browserProfiles = [
  ...split(`
    .mozilla .librewolf .thunderbird .config/google-chrome .config/google-chrome-beta .config/chromium
    .config/BraveSoftware .config/microsoft-edge .config/vivaldi .config/opera .cache/mozilla .cache/google-chrome
    .config/google-chrome-unstable .zen .waterfox .floorp .cache/BraveSoftware .cache/microsoft-edge
    .local/share/epiphany .local/share/qutebrowser
    .config/microsoft-edge-dev .config/microsoft-edge-beta .config/google-chrome-for-testing .config/opera-beta
    .config/vivaldi-snapshot .config/yandex-browser .cache/opera .cache/vivaldi .cache/thunderbird snap/brave
    snap/thunderbird snap/opera
    .cache/chromium .var/app snap/firefox snap/chromium Library/Safari
  `),
  ...["Library/Application Support/Google/Chrome", "Library/Application Support/Firefox"],
];

export const personalPaths = [...credentials, ...otherAgents, ...histories, ...browserProfiles];

/** Variables that move such a file or directory elsewhere; some list several. */
const locationVariables = split(`
  CODEX_HOME CLAUDE_CONFIG_DIR GEMINI_CLI_HOME GH_CONFIG_DIR GLAB_CONFIG_DIR GNUPGHOME NETRC PGPASSFILE KUBECONFIG
  DOCKER_CONFIG REGISTRY_AUTH_FILE AWS_SHARED_CREDENTIALS_FILE AWS_CONFIG_FILE AZURE_CONFIG_DIR CLOUDSDK_CONFIG
  GOOGLE_APPLICATION_CREDENTIALS BOTO_CONFIG OCI_CLI_CONFIG_FILE NPM_CONFIG_USERCONFIG npm_config_userconfig
  PIP_CONFIG_FILE TF_CLI_CONFIG_FILE VAULT_TOKEN_PATH SOPS_AGE_KEY_FILE PASSWORD_STORE_DIR XAUTHORITY HISTFILE
  SSLKEYLOGFILE KRB5CCNAME KRB5_KTNAME RCLONE_CONFIG DATABRICKS_CONFIG_FILE SNOWFLAKE_HOME MYSQL_TEST_LOGIN_FILE
  PGSERVICEFILE HELM_REGISTRY_CONFIG CONTAINERS_AUTH_FILE MYSQL_HISTFILE PSQL_HISTORY SQLITE_HISTORY
  NODE_REPL_HISTORY PYTHON_HISTORY LESSHISTFILE REDISCLI_HISTFILE
`);

/** Variables of any program whose value is the file of a secret: `RESTIC_PASSWORD_FILE`, `HF_TOKEN_PATH`, `SSL_KEY_FILE`. */
const secretFileVariable =
  /(?:^|_)(?:TOKEN|KEY|SECRET|PASS|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|KEYTAB|COOKIE)S?_?(?:FILE|PATH)$/i;

/** Base directories that variables move, and where they are in a home. */
const baseDirectories = {
  XDG_CONFIG_HOME: ".config/",
  XDG_DATA_HOME: ".local/share/",
  XDG_STATE_HOME: ".local/state/",
  XDG_CACHE_HOME: ".cache/",
};

type Variables = Record<string, string | undefined>;

/** What variables of the user name; not a directory around the home or these roots, nor what the roots contain. */
export function hiddenByVariables(variables: Variables, { home, roots }: { home: string; roots: string[] }): string[] {
  const names = [...locationVariables, ...Object.keys(variables).filter((name) => secretFileVariable.test(name))];
  const named = names.flatMap((name) => (variables[name] ?? "").split(":"));
  const moved = Object.entries(baseDirectories).flatMap(([name, usual]) => {
    const base = variables[name];
    const below = personalPaths.filter((path) => path.startsWith(usual));
    return base ? below.map((path) => join(base, path.slice(usual.length))) : [];
  });
  const isPrivate = (path: string) =>
    !contains("/dev", path) &&
    [home, ...roots].every((directory) => !contains(path, directory)) &&
    roots.every((root) => !contains(root, path));
  return [...named, ...moved]
    .filter((path) => isAbsolute(path))
    .map((path) => resolve(path))
    .filter(isPrivate);
}

/** The agent's own home, and what users keep in theirs. */
export const hiddenByDefault = (home: string, agentHome: string): string[] => [
  agentHome,
  ...[...new Set([home, ...accountHome()])].flatMap(pathsIn),
];

/** At every start, so without joining each of them. */
function pathsIn(home: string): string[] {
  const prefix = join(home, "/");
  return personalPaths.map((path) => prefix + path);
}

/** HOME may point elsewhere, as in CI; the credentials are in the home of the account. */
function accountHome(): string[] {
  try {
    return [userInfo().homedir];
  } catch {
    // No entry in the password file, as in many containers.
    return [];
  }
}
