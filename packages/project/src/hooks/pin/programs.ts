// Programs that hooks name, by what they run: nothing, another command, or a script. Any other is not known.

/** They run no file of the workspace, whatever their arguments. */
export const harmless = new Set(
  `: afplay aplay b2sum base64 basename black cat chmod cksum clang-format cmp column comm cp cut date df diff
  dirname du echo egrep expand expr false fgrep fmt fold getent gofmt grep groups gunzip gzip head hexdump hostname
  iconv id join kill ln logger ls md5sum mkdir mktemp mv nl notify-send nproc numfmt od paplay paste pgrep printenv
  ps pwd readlink realpath rev rm rmdir say seq sha1sum sha256sum sha512sum shellcheck shfmt shuf sleep stat tac tail
  tee touch tput tr true truncate tty type umask uname unexpand uniq unlink uptime wc which whoami xxd zcat`.split(
    /\s+/,
  ),
);

/** They write files that their arguments name. */
export const writers = new Set([
  "cp",
  "curl",
  "gunzip",
  "gzip",
  "ln",
  "mv",
  "sed",
  "shuf",
  "sort",
  "tee",
  "truncate",
  "uniq",
  "xxd",
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
  /** What their values may be; absent: everything. */
  values?: RegExp;
  /** The option whose value is code. */
  code: RegExp;
  /** Options may follow the code as well, up to the first other argument. */
  optionsFollowCode?: true;
  /** Without this option, code can load files of the working directory by name. */
  codeNeeds?: RegExp;
}

const shell: Interpreter = {
  options: /^(?:[-+][eilmuvx]+|--(?:login|noprofile|norc|posix))$/,
  valued: /^-[eilmuvx]*o$/,
  code: /^-[eilmuvx]*c$/,
};

/** With these, node evaluates no text and gives no way to the prototype of all objects, however the code is written. */
export const optionsOfNode = ["--disallow-code-generation-from-strings", "--disable-proto=delete"];

export const interpreters: {
  names: RegExp;
  language: "shell" | "javascript" | "python" | "perl" | "ruby";
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
      optionsFollowCode: true,
    },
  },
  {
    names: /^python(?:\d[\d.]*)?$/,
    language: "python",
    shape: {
      options: /^-[bBEIOPqsSuv]+$/,
      valued: /^-[WX]$/,
      // Not pycache_prefix: compiled modules would come from there. A warning with a dot names a module.
      values:
        /^(?:(?:default|error|always|module|once|ignore)(?::[^:]*(?::\w*(?::[\w.]*)?)?)?|dev|faulthandler|importtime|utf8(?:=[01])?|tracemalloc(?:=\d+)?|int_max_str_digits=\d+|no_debug_ranges|warn_default_encoding)$/,
      code: /^-[IP]*c$/,
      codeNeeds: /^-[bBEOqsSuv]*[IP]/,
    },
  },
  { names: /^ruby$/, language: "ruby", shape: { options: /^-w$/, code: /^-[wnlpa]*e$/, optionsFollowCode: true } },
  // Not -n and -p: they run an argument that ends with a bar.
  {
    names: /^perl$/,
    language: "perl",
    shape: { options: /^-[wTt]+$/, code: /^-[wl0]*e$/, optionsFollowCode: true },
  },
];

/** Variables that make programs load or run something, and those whose values a shell evaluates. */
export const loadingVariable = new RegExp(
  `^(?:${[
    "IFS|ENV|BASH_ENV|SHELL|SHELLOPTS|BASHOPTS|ZDOTDIR|PS[0-4]|PROMPT_COMMAND|POSIXLY_CORRECT|(?:READ)?NULLCMD",
    "(?:LD|DYLD|NODE|PYTHON|PERL|RUBY|GIT|BUN|DENO|NPM|OPENSSL|CURL|DBUS|GTK|GIO|XDG|LESS|TERMINFO)_?.*",
    ".*(?:PATH|HOME|EDITOR|PAGER|OPTIONS|OPTS|PRELOAD|MODULES?|ASKPASS|_RSH)",
    "S?RANDOM|SECONDS|OPTIND|LINENO|HISTCMD|HISTSIZE|SAVEHIST|COLUMNS|LINES|TMOUT|SHLVL|FUNCNEST|ERRNO|E?[UG]ID",
    "DIRSTACKSIZE|KEYTIMEOUT|LISTMAX|LOGCHECK|MAILCHECK|PERIOD|TRY_BLOCK_\\w+",
  ].join("|")})$`,
  "i",
);
