// Which environment variables a tool inherits. Pure, and plain data, so that it can be applied inside a sandbox too.
export interface EnvironmentPolicy {
  inherit: "all" | "core" | "none";
  /** Whether names and values that look like secrets are excluded, and addresses that contain credentials. */
  secretNames: "excluded" | "inherited";
  /** Globs with `*` and `?`, case-insensitive. */
  exclude: string[];
  /** Globs; if there are any, nothing else passes, not even what is set. */
  includeOnly: string[];
  /** Exact names that pass even if they look like secrets or are not inherited. */
  include: string[];
  /** Set for every tool, whatever their names. */
  set: Record<string, string>;
  /** Exact names that are never inherited: the agent's own credentials. */
  never: string[];
}

/** The agent's own key never reaches tools, whatever is configured. */
const neverInherited = ["AGENT_API_KEY"];
const secretPatterns = [
  ...["*KEY*", "*TOKEN*", "*SECRET*", "*PASS*", "*_PWD", "*CREDENTIAL*", "*CREDS*", "*_CRED", "*DSN*"],
  ...[
    "AUTH",
    "*_AUTH",
    "*_AUTH_*",
    "*AUTH_HEADER*",
    "*AUTHORIZATION*",
    "*OAUTH*",
    "*BEARER*",
    "*JWT*",
    "*COOKIE*",
    "PAT",
    "*_PAT",
  ],
  // Not *PRIVATE*: GOPRIVATE is a list of module paths.
  ...["PRIVATE", "PRIVATE_*", "*_PRIVATE", "*_PRIVATE_*", "*CONNECTION_STRING*", "*USERPWD"],
  ...["*_PW", "PW", "DBPWD", "*BINDPW", "*ROOTPW", "*_PSK", "*PSWD*", "*_PIN", "*MNEMONIC*", "SEED_PHRASE"],
  ...["HMAC", "*_HMAC", "HMAC_*", "*OTP_SEED*", "OTP", "TOTP", "BASICAUTH", "HTTPAUTH", "REGISTRYAUTH"],
  // The key of an unlocked password store.
  ...["BW_SESSION", "OP_SESSION*", "SESSION_ID"],
  // Who knows the address of a webhook can post to it. Headers that a program adds to its requests mostly log it in.
  ...["*WEBHOOK*", "*_HEADERS"],
  // Settings of git, which are numbered: with some of them left out it does not start. A value is often such a header.
  ...["GIT_CONFIG_COUNT", "GIT_CONFIG_VALUE_*", "GIT_CONFIG_PARAMETERS", "IDENTITY_HEADER"],
  // A process that reaches the agent for keys can sign with all of them; one that reaches the screen, or what a terminal
  // or an editor listens on, can type.
  ...[
    "SSH_AUTH_SOCK",
    "GPG_AGENT_INFO",
    "VSCODE_GIT_IPC_HANDLE",
    "XAUTHORITY",
    "KITTY_LISTEN_ON",
    "WEZTERM_UNIX_SOCKET",
  ],
  ...["NVIM", "NVIM_LISTEN_ADDRESS", "VSCODE_IPC_HOOK_CLI", "ALACRITTY_SOCKET", "SWAYSOCK", "I3SOCK"],
];
/** A password in an address (not the port before a path), anything before the @ of a web address, or a secret parameter. */
const secretAddresses = [
  /:\/\/[^\s/?#@:]*:(?!\d{1,5}[/?#])[^\s@]+@/,
  /https?:\/\/[^\s/?#@]+@/i,
  /[?&#;][\w.-]{0,40}(?:key|token|secret|pass|credential|signature|jwt|hmac|jsessionid)[\w.-]{0,40}=[^&\s]/i,
  /[?&](?:sig|pwd|pw|auth)=[^&\s]/,
  // There the name of the user is the secret.
  /\b(?:nats|rediss?):\/\/[^\s/?#@]+@/i,
];
/** Addresses and data sources without ://. */
const userAndPassword =
  /^(?:[^\s/:@]+:[^\s/@]+@[\w.[-]|jdbc:[\w:]+:[^\s/@]+\/[^\s@]+@|[\w$.-]+\/[^\s/@]+@(?:\/\/|(?!v?\d|sha\d|(?:main|master|latest)$)[\w.-]+(?::\d+(?:\/\w+)?)?$))|(?:^|[\s"'=])\/\/[^\s/?#@:]*:[^\s@]+@/;
/** Also as in .npmrc. */
const passwordSetting =
  /(?:(?:^|[;,\s]|-D[\w.]{0,40})(?:password|passwd|pwd|pass|accountkey|sharedaccesskey)|:_auth(?:token)?)\s*=\s*[^;\s]|(?:^|[?&])sv=[\s\S]{1,400}&sig=/i;
/** A name and its value, in options and in lines of settings. */
const secretSetting =
  /(?:^|[\s;,{"'-])(?:api[_-]?key|private[_-]token|(?:(?:access|auth|client|refresh|id)[_-]?)?(?:token|secret)|secret-access-key|oauth2-bearer|(?<=--)(?:pat|jwt|bearer)|_?auth|pw)["']?(?:\s{0,3}[=:]\s{0,3}|(?<=--[\w-]{2,20})\s)["']?(?![$\d]|none|true|false)[^\s"'{[$]{6}/i;
/** In options, JSON, YAML and lines of a .netrc; a prompt such as `Password: ` has nothing after it. */
const passwordText =
  /(?<!\/etc\/)pass(?:word|wd|phrase)["']?\s{0,3}[=:]\s{0,3}["']?[^\s;,"'=:}]|\blogin\s+\S+\s+password\s+\S|--password\s+\S|-passin\s+pass:\S/i;
/** A member of JSON; `d` and `k` are the private parts of a key. */
const secretMember =
  /"[\w.-]{0,40}(?:secret|token|credential|oauth|bearer|[_-]?(?:api|access|private|account)[_-]?key)[\w.-]{0,40}"\s{0,3}:\s{0,3}(?:\{\s{0,3}"[^"]{1,80}"\s{0,3}:\s{0,3})?"[^"\s]|"kty"[\s\S]{0,4000}"[dk]"\s{0,3}:|"[dk]"\s{0,3}:[\s\S]{0,4000}"kty"/i;
/** Tokens and keys that are recognized by how they begin, under any name. One expression: each costs time at every start. */
const secretValue = new RegExp(
  [
    /\b(?:(?:sk|rk|pk)_live|[sr]k_test)_\w{3}/,
    /\bsk-[\w-]{16}/,
    /\b(?:gh[opsur]_|github_pat_|glpat-|npm_|xox[abeoprs]-|xapp-|hf_|pypi-|dop_v1_|shpat_|SG\.)[\w-]{16}/,
    /\b(?:lin_api_|gsk_|xai-|ATATT|HRKU-|whsec_|hvs\.|dckr_pat_|figd_|pul-|dp\.pt\.|sbp_|NRAK-|glsa_)[\w-]{16}/,
    /\b(?:dapi[0-9a-f]{32}|(?:bot)?\d{8,10}:AA[\w-]{33}|pl[at]_[0-9a-f]{12}_)/,
    /\b(?:do[or]_v1_|shp(?:ss|ca|pa)_|xox[cd]-|hvb\.|lin_oauth_|sq0csp-|ya29\.|tskey-|nvapi-|r8_|pcsk_|tvly-|ops_ey|sntry[su]_)[\w-]{16}/,
    /\b(?:rubygems_|FlyV1 |vercel_blob_rw_|ATCTT|ATBB)[\w-]{16}|\b\w+\.atlasv1\.\w{8}/,
    /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/,
    /\bAIza[\w-]{35}/,
    /\beyJ[\w-]{8,}\.[\w-]{8,}\./,
    /-----BEGIN [A-Z ]*PRIVATE KEY/,
    /\b(?:hooks\.slack\.com\/services|discord(?:app)?\.com\/api\/webhooks|webhook\.office\.com|outlook\.office(?:365)?\.com\/webhook|hooks\.zapier\.com\/hooks|maker\.ifttt\.com\/trigger)\//,
    /\b[Aa](?:uthorization|UTHORIZATION)[:=] *(?:[Bb]asic|[Bb]earer|[Tt]oken|BASIC|BEARER|TOKEN|Digest|Negotiate|ApiKey|AWS4-HMAC-SHA256)\b/,
    /^[Cc]ookie: *\S+=\S/,
    /\b(?:pplx-|GOCSPX-|glc_|fm2_|rnd_|vcp_|nfp_|cfat_|sb_secret_|pscale_oauth_|napi_|dp\.(?:st|ct|sa|scim)\.|hvr\.|dckr_oat_)[\w.-]{16}/,
    /\b(?:CCIP(?:AT|RJ)_|bku[ac]_|sq[upa]_|AKCp|dose|sk\.eyJ|phx_|hcaik_|bb_live_|e2b_|csk-|jina_|lsv2_|xkeysib-|xsmtpsib-)[\w-]{16}/,
    /\b(?:1\/\/0[\w-]{24}|sk_[0-9a-f]{48}|fc-[0-9a-f]{32}|pat-\w{2,3}-[0-9a-f]{8}-|EAA[A-Z][\w-]{24}|oy2[a-z0-9]{43}|access_token\$)/,
    /\bPuTTY-User-Key-File|\b[xyz]prv[1-9A-HJ-NP-Za-km-z]{50}|^[\w-]{24,28}\.[\w-]{6}\.[\w-]{27,}$|(?:^|\n)PrivateKey *= *\S/,
    /\bAGE-SECRET-KEY-1/,
    /\b(?:gl(?:rt|dt|cbt|ft|soat|imt|agent|ptt)-|ntn_|secret_|pscale_(?:tkn|pw)_)[\w-]{16}|\bkey-[0-9a-f]{32}/,
    /^(?:[Bb]asic|[Bb]earer) +(?=\S*[\dA-Z=])\S{8}|\b[Xx]-[\w-]*(?:[Kk]ey|[Tt]oken|[Ss]ecret) *[:=] *\S{6}/,
    // Options of curl, the credentials of a container, and private keys of PEM in base64.
    /(?:^|\s)(?:-[uU]|--user|--proxy-user)[ =]*(?!\d+:\d+(?:\s|$))[^\s:=]+:\S|\b169\.254\.170\.2\/\w/,
    /\bLS0tLS1CRUdJTi(?:BQUk|BSU0|BFQy|BPUE|BFTk|BEU0|BQR1)/,
  ]
    .map(({ source }) => source)
    .join("|"),
);
/** No match is shorter. */
const minSecretCharacters = "sk_live_abc".length;
const coreNames = new Set([
  ...["PATH", "SHELL", "TMPDIR", "TEMP", "TMP", "HOME"],
  ...["LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "USER"],
]);

/** Defaults: inherit everything that does not look like a secret. */
export function environmentPolicy(options: Partial<EnvironmentPolicy> = {}): EnvironmentPolicy {
  return {
    inherit: "all",
    secretNames: "excluded",
    exclude: [],
    includeOnly: [],
    include: [],
    set: {},
    ...options,
    never: [...neverInherited, ...(options.never ?? [])],
  };
}

/** Whether a variable may be inherited from the user's environment or a login shell. */
export function inherits(policy: EnvironmentPolicy): (name: string, value: string) => boolean {
  const never = new Set(policy.never);
  const included = new Set(policy.include);
  const isExcluded = matchesAny(policy.exclude);
  const looksSecret = matchesAny(policy.secretNames === "excluded" ? secretPatterns : []);
  const isSecret = (value: string) => policy.secretNames === "excluded" && looksLikeSecret(value);
  const isIncluded = matchesIncludeOnly(policy);
  return (name, value) => {
    if (never.has(name) || isExcluded(name)) return false;
    if (included.has(name)) return true;
    return isInherited(policy, name) && !looksSecret(name) && !isSecret(value) && isIncluded(name);
  };
}

const settingNames = ["key", "token", "secret", "auth", "pw", "--pat", "--jwt", "--bearer"];

/** Expressions are tried only on values that have what they need: V8 compiles each of them at every start. */
function looksLikeSecret(value: string): boolean {
  const lowered = value.toLowerCase();
  return (
    (value.includes("://") && secretAddresses.some((pattern) => pattern.test(value))) ||
    (value.includes("@") && userAndPassword.test(value)) ||
    (value.includes("=") && passwordSetting.test(value)) ||
    (lowered.includes("pass") && passwordText.test(value)) ||
    (settingNames.some((name) => lowered.includes(name)) && secretSetting.test(value)) ||
    (value.includes('"') && secretMember.test(value)) ||
    (value.length >= minSecretCharacters && secretValue.test(value)) ||
    isRandomText(value)
  );
}

/**
 * Tokens without a known beginning: one word of both cases and digits that is nowhere an English one. Not hexadecimal or in
 * one case: commits, digests and ids are. Nor a certificate in base64.
 */
function isRandomText(value: string): boolean {
  if (value.length < 32 || value.length > 200 || !/^[\w+-]+={0,2}$/.test(value)) return false;
  const hasThree = [/[a-z]/g, /[A-Z]/g, /\d/g].every((kind) => (value.match(kind)?.length ?? 0) >= 3);
  return hasThree && !/^LS0tLS1|[a-z]{8}|(?:[A-Z][a-z]{3,}){3}|(?:[_-][^_-]{0,12}){5}/.test(value);
}

/** Explicitly set variables only have to match `includeOnly`. */
export function setVariables(policy: EnvironmentPolicy): Record<string, string> {
  const isIncluded = matchesIncludeOnly(policy);
  return Object.fromEntries(Object.entries(policy.set).filter(([name]) => isIncluded(name)));
}

function isInherited({ inherit }: EnvironmentPolicy, name: string): boolean {
  switch (inherit) {
    case "all":
      return true;
    case "core":
      return coreNames.has(name);
    case "none":
      return false;
  }
}

function matchesIncludeOnly({ includeOnly, include }: EnvironmentPolicy): (name: string) => boolean {
  const matches = matchesAny(includeOnly);
  return (name) => includeOnly.length === 0 || include.includes(name) || matches(name);
}

function matchesAny(globs: string[]): (name: string) => boolean {
  const matchers = globs.map((glob) => matcherOf(glob.toLowerCase()));
  return (name) => {
    const lowered = name.toLowerCase();
    return matchers.some((matches) => matches(lowered));
  };
}

/** Most globs are a word with a star at either end, and every start compares all names with them. */
function matcherOf(glob: string): (text: string) => boolean {
  const word = glob.replace(/^\*/, "").replace(/\*$/, "");
  if (word === "" || /[*?]/.test(word)) return (text) => matchesGlob(text, glob);
  const [isOpenBefore, isOpenAfter] = [glob.startsWith("*"), glob.endsWith("*")];
  if (isOpenBefore && isOpenAfter) return (text) => text.includes(word);
  if (isOpenBefore) return (text) => text.endsWith(word);
  return isOpenAfter ? (text) => text.startsWith(word) : (text) => text === word;
}

/** Without regular expressions: V8 would compile each one again at every start. On a mismatch the last `*` takes one more. */
function matchesGlob(text: string, glob: string): boolean {
  let [at, next] = [0, 0];
  let star: { at: number; next: number } | undefined;
  while (at < text.length) {
    if (glob[next] === "*") star = { at, next: ++next };
    else if (next < glob.length && (glob[next] === "?" || glob[next] === text[at])) [at, next] = [at + 1, next + 1];
    else if (star) [at, next] = [++star.at, star.next];
    else return false;
  }
  while (glob[next] === "*") next++;
  return next === glob.length;
}
