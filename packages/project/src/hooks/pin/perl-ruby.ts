// Scripts in perl and ruby are not read as code: one with a word that can start or load something is refused, wherever it is.
import { unknownText } from "./code-calls.ts";
import { refuse } from "./code-tokens.ts";

/** The files beside it that it loads by a fixed name. */
export function readPerl(text: string): string[] {
  refuseWords(text, perlWords);
  return [];
}

export function readRuby(text: string): string[] {
  refuseWords(text, rubyWords);
  return Array.from(text.matchAll(relativeFile), ([, , name = ""]) => (name.endsWith(".rb") ? name : `${name}.rb`));
}

function refuseWords(text: string, words: RegExp): void {
  const code = text.replace(/^[ \t]*#.*$/gm, (comment) => " ".repeat(comment.length));
  const found = words.exec(code);
  if (found) throw refuse(found.index, unknownText(found[0].trim()));
}

/** A block may be evaluated, a file may be opened with its mode, and these modules load nothing of the workspace. */
const perlModules =
  "strict|warnings|utf8|bytes|feature|constant|integer|v?5[\\d._]*|JSON(?:::PP)?|POSIX|Cwd|Encode|File::(?:Basename|Spec(?:::Functions)?|Path|Temp)|Getopt::Long|List::Util|Scalar::Util|Data::Dumper|Time::\\w+|Text::(?:ParseWords|Wrap)|Term::ANSIColor|MIME::Base64|Digest::\\w+";
const perlOpen = String.raw`open\b\s*\(?\s*(?:my\s+)?\$?\w+\s*,\s*(["'])(?:\+?<|>{1,2})(?::[\w:()-]+)?\1\s*,`;
const perlWords = new RegExp(
  [
    "`|<(?:ARGV)?>|<<>>|[@%]INC\\b|\\$INC\\b|\\bCORE::|[/}|!#,)][a-df-z]*ee[a-z]*\\s*[;)]",
    "\\b(?:eval|do)\\b(?!\\s*\\{)",
    `\\b(?!${perlOpen})open\\b`,
    `\\bno\\s+strict\\b|\\buse\\b(?!\\s+(?:${perlModules})\\b(?!::))`,
    "\\b(?:AUTOLOAD|DynaLoader|XSLoader|exec|fork|IO|IPC|qx|readpipe|require|syscall|system)\\b",
  ].join("|"),
);

const rubyFeatures =
  "json|set|time|date|fileutils|pathname|optparse|digest(?:/\\w+)?|securerandom|shellwords|uri|net/https?|tempfile|strscan|English|ostruct|csv|base64|logger|pp|stringio|timeout";
const relativeFile = /\brequire_relative\s*\(?\s*(["'])([\w./-]+)\1/g;
const rubyWords = new RegExp(
  [
    '`|%x|\\$LOAD_PATH|\\$:|\\$"|\\$LOADED_FEATURES',
    "(?<!\\bFile\\.)\\bopen\\b",
    `\\brequire\\b(?!\\s*\\(?\\s*["'](?:${rubyFeatures})["'])`,
    "\\brequire_relative\\b(?!\\s*\\(?\\s*[\"'][\\w./-]+[\"'])",
    "\\b(?:__send__|autoload|binding|Bundler|class_eval|class_exec|const_get|define_method|ERB|eval|exec|Fiddle|fork|Gem|instance_eval|instance_exec|IO|Kernel|load|load_file|Marshal|method|module_eval|ObjectSpace|Open3|popen\\w*|Process|PTY|public_send|RubyVM|send|spawn|syscall|system|TOPLEVEL_BINDING|YAML)\\b",
  ].join("|"),
);
