// Patterns of files: globs as ripgrep reads them, and ignore files as git reads them.
export { compileGlob } from "./glob.ts";
export { type IgnoreFile, isIgnored, judge, maxPatternLength, readRule, readRules } from "./rules.ts";
