// Programs that hooks name, by what they run: nothing, another command, or a script. Any other is not known.

/** They run no file of the workspace, whatever their arguments. */
export const harmless = new Set(
  `: [ [[ base64 basename cat chmod cmp comm cp curl cut date diff dirname echo egrep exit expr false fgrep fold grep
  head hexdump hostname id jq kill logger ls md5sum mkdir mktemp mv nl notify-send od paste pgrep printenv printf pwd
  read readlink realpath return rev rm rmdir seq set sha1sum sha256sum shift sleep stat tac tail tee test touch tr
  true type umask uname uniq unset wait wc which whoami xxd`.split(/\s+/),
);

/** Harmless unless they get one of these options. */
export const harmlessWithout = new Map([
  ["awk", /^-(?:[fiElo]|-(?:file|include|exec|load))/],
  ["gawk", /^-(?:[fiElo]|-(?:file|include|exec|load))/],
  ["mawk", /^-(?:f|W)/],
  ["sed", /^-(?:[a-zA-Z]*f|-file)/],
  ["sort", /^--comp/],
  ["find", /^-(?:exec|ok)/],
]);

/** They run the command that follows their options and operands. Another option is refused. */
export const wrappers = new Map<string, { options: RegExp; valued?: RegExp; operands?: number }>([
  ["builtin", { options: /^$/ }],
  ["command", { options: /^-p$/ }],
  ["env", { options: /^(?:-i|--)$/, valued: /^-u$/ }],
  ["exec", { options: /^-[cl]+$/ }],
  ["ionice", { options: /^-[ct]\d$/, valued: /^-[cn]$/ }],
  ["nice", { options: /^(?:-n?-?\d+|--adjustment=-?\d+)$/, valued: /^-n$/ }],
  ["nohup", { options: /^$/ }],
  ["setsid", { options: /^(?:-[cfw]+|--wait|--fork|--ctty)$/ }],
  ["stdbuf", { options: /^-[ioe](?:0|L|\d+)$/, valued: /^-[ioe]$/ }],
  ["time", { options: /^-p$/ }],
  [
    "timeout",
    {
      options: /^(?:-[vf]+|--foreground|--preserve-status|--verbose|--(?:kill-after|signal)=\w+|-[ks]\w+)$/,
      valued: /^-[ks]$/,
      operands: 1,
    },
  ],
]);

export interface Interpreter {
  /** Options without a value, in front of the script. */
  options: RegExp;
  /** Options whose value is the next word and no file. */
  valued?: RegExp;
  /** Options whose value is the next word: a file that is loaded. */
  loads?: RegExp;
  /** The option whose value is code. */
  code: RegExp;
  /** Without this option, code can load files of the working directory by name. */
  codeNeeds?: RegExp;
}

const shell: Interpreter = {
  options: /^(?:[-+][eilmuvx]+|--(?:login|noprofile|norc|posix))$/,
  valued: /^-[eilmuvx]*o$/,
  code: /^-[eilmuvx]*c$/,
};

export const interpreters: {
  names: RegExp;
  language: "shell" | "javascript" | "python" | "other";
  shape: Interpreter;
}[] = [
  { names: /^(?:sh|bash|dash|zsh|ksh)$/, language: "shell", shape: shell },
  {
    names: /^node(?:js)?$/,
    language: "javascript",
    shape: {
      options: /^--(?:no-warnings|no-deprecation|enable-source-maps|experimental-strip-types|max-old-space-size=\d+)$/,
      loads: /^(?:-r|--require|--import)$/,
      code: /^(?:-[ep]|-pe|--eval|--print)$/,
    },
  },
  {
    names: /^python(?:\d[\d.]*)?$/,
    language: "python",
    shape: { options: /^-[bBEIOPqsSuv]+$/, valued: /^-[WX]$/, code: /^-[IP]*c$/, codeNeeds: /^-[bBEOqsSuv]*[IP]/ },
  },
  { names: /^ruby$/, language: "other", shape: { options: /^-w$/, code: /^-[wnlpa]*e$/ } },
  { names: /^perl$/, language: "other", shape: { options: /^-[wTt]+$/, code: /^-[wnlpa0]*e$/ } },
];

/** Variables that make programs load or run something. */
export const loadingVariable =
  /^(?:.*PATH|IFS|ENV|BASH_ENV|SHELL|SHELLOPTS|BASHOPTS|HOME|ZDOTDIR|CDPATH|PS4|PROMPT_COMMAND|(?:LD|DYLD|NODE|PYTHON|PERL|RUBY|GIT|BUN|DENO|NPM)_?.*|.*(?:EDITOR|PAGER|OPTIONS|OPTS))$/i;

/** Directories that every user can write to. */
export const sharedDirectories = ["/tmp", "/var/tmp", "/dev/shm"];
