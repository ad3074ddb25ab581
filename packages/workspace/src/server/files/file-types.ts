// Types of files by name, as the globs of their files.

/** A name that is not in the table is an extension. */
export function globsOfType(type: string): string[] {
  const name = type.trim().toLowerCase().replace(/^\./, "");
  const globs = types[name];
  return globs ?? [`*.${name.replace(/[^\w+-]/g, "")}`];
}

const ofExtensions = (...extensions: string[]) => extensions.map((extension) => `*.${extension}`);

const script = ofExtensions("js", "jsx", "cjs", "mjs", "vue");
const typed = ofExtensions("ts", "tsx", "cts", "mts");
const ruby = [...ofExtensions("rb", "gemspec", "rake"), "Gemfile", "Rakefile"];
const markdown = ofExtensions("md", "markdown", "mdx");
const python = ofExtensions("py", "pyi");
const c = ofExtensions("c", "h");
const cpp = ofExtensions("cpp", "cc", "cxx", "hpp", "hh", "hxx", "h", "inl");
const kotlin = ofExtensions("kt", "kts");
const shell = ofExtensions("sh", "bash", "zsh", "bats");
const yaml = ofExtensions("yaml", "yml");

const types: Record<string, string[]> = {
  ...{ ts: typed, typescript: typed, js: script, javascript: script, py: python, python, rb: ruby, ruby },
  ...{ md: markdown, markdown, c, cpp, "c++": cpp, kt: kotlin, kotlin, sh: shell, shell, bash: shell, yaml, yml: yaml },
  rust: ["*.rs"],
  csharp: ["*.cs"],
  golang: ["*.go"],
  css: ofExtensions("css", "scss", "sass", "less"),
  html: ofExtensions("html", "htm", "ejs"),
  json: ofExtensions("json", "jsonl", "json5", "jsonc"),
  elixir: ofExtensions("ex", "exs"),
  haskell: ofExtensions("hs", "lhs"),
  java: ofExtensions("java", "jsp"),
  make: ["Makefile", "makefile", "GNUmakefile", "*.mk", "*.mak"],
  docker: ["Dockerfile", "Dockerfile.*", "*.Dockerfile"],
  tf: ofExtensions("tf", "tfvars"),
  txt: ["*.txt"],
};
