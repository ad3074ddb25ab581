// Variables that make programs load code. `yarn run` and many profiles put directories of the repository, or the working
// directory as an empty entry, there; a program of the host would then load what an agent has written.
import { isSafeCommand } from "./safe-command.ts";

/** Without entries that are relative or not trusted. */
export function withoutPlantedCode(
  variables: NodeJS.ProcessEnv,
  isTrusted: (path: string) => boolean,
): NodeJS.ProcessEnv {
  const isSafe = (path: string) => path.startsWith("/") && isTrusted(path);
  const cleaned = Object.entries(variables).map(([name, value = ""]): [string, string | undefined] => {
    // The loader of libraries divides at both.
    if (lists.test(name)) return [name, joined(value.split(/[:;]/).filter(isSafe))];
    // The loader looks for a name without a slash in its own directories.
    if (preloads.test(name))
      return [name, joined(value.split(/[\s:]+/).filter((file) => !file.includes("/") || isSafe(file)))];
    if (files.test(name)) return [name, isSafe(value) ? value : undefined];
    if (commands.test(name)) return [name, isSafeCommand(value, { isSafe, home: variables.HOME }) ? value : undefined];
    if (texts.test(name)) return [name, pathsIn(value).every(isSafe) ? value : undefined];
    if (!options.test(name)) return [name, value];
    return [name, loadedBy(value).every(isSafe) ? value : undefined];
  });
  const kept = Object.fromEntries(cleaned.filter(([, value]) => value !== undefined));
  return variables.HOME && !isSafe(variables.HOME) ? { ...kept, ...withoutHome } : kept;
}

/** Of a home that an agent can write, programs do not load their settings and packages. */
const withoutHome = {
  ...{ GIT_CONFIG_GLOBAL: "/dev/null", PYTHONNOUSERSITE: "1", npm_config_userconfig: "/dev/null" },
  // Started by a socket and not by another shell, bash reads ~/.bashrc; zsh always reads ~/.zshenv.
  ...{ SHLVL: "1", ZDOTDIR: "/dev/null" },
};

const joined = (entries: string[]): string | undefined => (entries.length > 0 ? entries.join(":") : undefined);

const lists =
  /^(?:LD_LIBRARY_PATH|DYLD_(?:FALLBACK_)?(?:LIBRARY|FRAMEWORK)_PATH|PYTHONPATH|NODE_PATH|PERL5LIB|PERLLIB|RUBYLIB|GCONV_PATH|GIT_EXEC_PATH|GEM_PATH|CLASSPATH|DOTNET_STARTUP_HOOKS|XDG_(?:DATA|CONFIG)_DIRS|QT_PLUGIN_PATH|GTK_PATH|GIO_(?:EXTRA_MODULES|MODULE_DIR)|OPENSSL_MODULES|OPENSSL_ENGINES|AWKPATH|AWKLIBPATH|TCLLIBPATH|GUILE_(?:LOAD|LOAD_COMPILED|EXTENSIONS)_PATH|ERL_LIBS|JULIA_(?:LOAD|DEPOT)_PATH|FPATH|EMACSLOADPATH|TERMINFO_DIRS)$/;
const preloads = /^(?:LD_PRELOAD|LD_AUDIT|DYLD_INSERT_LIBRARIES)$/;
const files =
  /^(?:BASH_ENV|ENV|ZDOTDIR|PYTHON(?:HOME|STARTUP|USERBASE|PYCACHEPREFIX)|OPENSSL_CONF|GIT_(?:CONFIG_GLOBAL|CONFIG_SYSTEM|TEMPLATE_DIR)|XDG_(?:CONFIG|DATA)_HOME|CURL_HOME|WGETRC|GEM_HOME|BUNDLE_GEMFILE|RIPGREP_CONFIG_PATH|LESSKEY(?:IN)?|LOCPATH|TERMINFO|VIM|VIMRUNTIME|PHPRC|PHP_INI_SCAN_DIR|R_(?:PROFILE|ENVIRON)(?:_USER)?|npm_config_(?:userconfig|globalconfig))$/i;
/** A program with its arguments. A name without a directory is looked for on PATH. */
const commands =
  /^(?:EDITOR|VISUAL|PAGER|MANPAGER|BROWSER|LESS(?:OPEN|CLOSE)|(?:SSH|SUDO)_ASKPASS|npm_config_script_shell|GIT_(?:EDITOR|SEQUENCE_EDITOR|PAGER|SSH|SSH_COMMAND|ASKPASS|EXTERNAL_DIFF|PROXY_COMMAND))$/i;
const options = /^(?:NODE_OPTIONS|PERL5OPT|RUBYOPT)$/;
/** Options and lists of other languages, with files anywhere in them: `-javaagent:./x.jar`, `./?.lua;;`, `@x/init.lua`. */
const texts =
  /^(?:_JAVA_OPTIONS|(?:JAVA_TOOL|JDK_JAVA)_OPTIONS|LUA_(?:INIT|C?PATH)(?:_5_\d)?|ERL_[AZ]?FLAGS|ELIXIR_ERL_OPTIONS|GOFLAGS|MAKEFILES)$/;

const pathsIn = (value: string): string[] => value.split(/[\s:;,=@"']+/).filter((word) => /\/|\.jar$/.test(word));

/** Files and packages that options load: packages come from the working directory. */
const loadedBy = (value: string): string[] =>
  Array.from(
    value.matchAll(
      /(?:^|\s)["']?(?:-[rIM]\s*|--(?:require|import|loader|experimental-loader|openssl-config|snapshot-blob|env-file(?:-if-exists)?|experimental-config-file|(?:experimental-)?policy|test-reporter|test-global-setup)(?:=|\s+))(?:"((?:[^"\\]|\\.)*)"?|'([^']*)'?|([^\s"']+))/g,
    ),
    ([, quoted, single, bare]) => quoted?.replace(/\\(.)/g, "$1") ?? single ?? bare ?? "",
  );
