// Names and members of Python: by some of them code evaluates text, or reaches modules without importing them.
import type { Token } from "./code-tokens.ts";

/** Builtins that evaluate text or give the names of all modules; anything of Python's own beside the usual ones. */
export function isRefusedName(tokens: Token[], at: number): boolean {
  const { text } = tokens[at] as Token;
  if (!/^__\w+__$/.test(text)) return refusedNames.has(text);
  const isMethod = tokens[at - 1]?.text === "def" || (tokens[at + 1]?.text === "=" && tokens[at - 1]?.text === "\n");
  return !isMethod && !harmlessName.test(text);
}

const refusedNames = new Set(
  `attrgetter breakpoint CodeType compile eval exec FunctionType get_type_hints globals help LambdaType locals methodcaller
  vars`.split(/\s+/),
);

const harmlessName =
  /^__(?:all|annotations|author|class|copyright|date|debug|doc|email|file|license|name|package|slots|version)__$/;

/** Whether a member or an imported name of any module or value leads to code: to other modules, frames, or what classes share. */
export const isReaching = (name: string): boolean =>
  /^__\w+__$/.test(name) ? !harmlessMember.test(name) : reaching.test(name);

const harmlessMember =
  /^__(?:abs|add|aenter|aexit|all|and|annotations|bool|bytes|call|cause|class|contains|context|copy|deepcopy|delitem|doc|enter|eq|exit|file|float|format|future|ge|getitem|gt|hash|index|init|init_subclass|int|invert|iter|le|len|lt|main|match_args|members|module|mul|name|ne|neg|new|next|notes|or|post_init|qualname|repr|reversed|round|setitem|sizeof|slots|std(?:err|in|out)|str|sub|suppress_context|version)__$/;

const reaching = new RegExp(
  `^(?:${[
    "chdir|attrgetter|methodcaller|get_type_hints|FunctionType|LambdaType|CodeType|eval|exec|breakpoint",
    "_?(?:os|posix|nt|subprocess|posixsubprocess|sys|builtins|bltns|importlib|imp|marshal|pickle|ctypes|runpy|codeop|pty)",
    "_?(?:multiprocessing|asyncio|inspect|pydoc|pkgutil|zipimport|shelve|pdb|bdb|bootstrap|bootstrap_external)",
    "(?:tb|gi|cr|ag)_(?:frame|code)|f_(?:back|builtins|code|globals|locals)|func_globals|_getframe|_evaluate",
  ].join("|")})$`,
);
