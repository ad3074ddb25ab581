// Variables that make programs load code. `yarn run` and many profiles put directories of the repository, or the working
// directory as an empty entry, there; a program of the host would then load what an agent has written.

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
    if (!options.test(name)) return [name, value];
    return [name, loadedBy(value).every(isSafe) ? value : undefined];
  });
  return Object.fromEntries(cleaned.filter(([, value]) => value !== undefined));
}

const joined = (entries: string[]): string | undefined => (entries.length > 0 ? entries.join(":") : undefined);

const lists =
  /^(?:LD_LIBRARY_PATH|DYLD_(?:FALLBACK_)?(?:LIBRARY|FRAMEWORK)_PATH|PYTHONPATH|NODE_PATH|PERL5LIB|PERLLIB|RUBYLIB|GCONV_PATH|GIT_EXEC_PATH|OPENSSL_MODULES|OPENSSL_ENGINES)$/;
const preloads = /^(?:LD_PRELOAD|LD_AUDIT|DYLD_INSERT_LIBRARIES)$/;
const files = /^(?:BASH_ENV|ENV|ZDOTDIR|PYTHONHOME|PYTHONSTARTUP|OPENSSL_CONF)$/;
const options = /^(?:NODE_OPTIONS|PERL5OPT|RUBYOPT)$/;

/** Files and packages that options load: packages come from the working directory. */
const loadedBy = (value: string): string[] =>
  Array.from(
    value.matchAll(
      /(?:^|\s)["']?(?:-[rIM]\s*|--(?:require|import|loader|experimental-loader)(?:=|\s+))(?:"((?:[^"\\]|\\.)*)"?|'([^']*)'?|([^\s"']+))/g,
    ),
    ([, quoted, single, bare]) => quoted?.replace(/\\(.)/g, "$1") ?? single ?? bare ?? "",
  );
