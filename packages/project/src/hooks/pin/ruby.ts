// Scripts in ruby: words that are not known to be harmless make the hook unpinned. Files beside the script are loaded by a fixed name.
import { refuse } from "./code-tokens.ts";
import {
  isLineStart,
  isOperandBefore,
  openWords,
  skipLines,
  take,
  takeDelimited,
  unknownWordAt,
  type WordReader,
} from "./word-reader.ts";

/** The files beside it that it loads by a fixed name. */
export function readRuby(source: string): string[] {
  const known: Known = { methods: new Set(), files: [], depth: 0 };
  for (const [, name = ""] of source.matchAll(/\b(?:def|class|module)\s+(?:self\.)?(\w+[?!]?)/g))
    known.methods.add(name);
  for (const [, name = ""] of source.matchAll(/\b([A-Za-z_]\w*)\s*(?:[-+*/|&]|\|\||&&)?=(?![=~>])/g))
    known.methods.add(name);
  for (const [, names = ""] of source.matchAll(/(?:\{|\bdo)\s*\|([^|]*)\|/g)) addNames(names, known);
  for (const [, names = ""] of source.matchAll(/\bdef\s+[\w.]+[?!]?\s*\(([^()]*)/g)) addNames(names, known);
  for (const [, names = ""] of source.matchAll(/^[ \t]*((?:\*?\w+,[ \t]*)+\*?\w+)[ \t]*=(?!=)/gm))
    addNames(names, known);
  for (const [, names = ""] of source.matchAll(/\bfor\s+((?:\w+\s*,\s*)*\w+)\s+in\b/g)) addNames(names, known);
  for (const [, name = ""] of source.matchAll(/\brescue\b(?:(?!\brescue\b)[^\n])*?=>\s*(\w+)/g))
    known.methods.add(name);
  readAll(source, known);
  return known.files;
}

interface Known {
  /** Methods and variables of the script. */
  methods: Set<string>;
  files: string[];
  /** Of strings with code in them. */
  depth: number;
}

function addNames(names: string, { methods }: Known): void {
  for (const [name] of names.matchAll(/[a-z_]\w*/g)) methods.add(name);
}

const maxDepth = 32;

function readAll(source: string, known: Known): void {
  const reader = openWords(source);
  if (++known.depth > maxDepth) throw refuse(0, "code in strings is nested too deeply");
  while (reader.at < source.length) readToken(reader, known);
  known.depth--;
}

function readToken(reader: WordReader, known: Known): void {
  const { source, at } = reader;
  if (take(reader, /\s+|#[^\n]*/y) !== null || readBlockComment(reader)) return;
  const variable = take(reader, /@@?\w+|\$(?:stdin|stdout|stderr|PROGRAM_NAME|\d|[0~!?_,/;])/y);
  if (variable !== null) {
    reader.last = "$";
    return;
  }
  if (readQuoted(reader, known) || readWord(reader, known)) return;
  const sign = take(reader, /&\.|::|=>|=~|!~|&&|\|\||<<[-~]?(?=["'A-Z])|[^\w\s]/y) ?? "";
  if (sign === "$" || (sign.startsWith("<<") && sign.length >= 2 && !/^[\w)\]"]/.test(reader.last)))
    throw refuse(at, `\`${source.slice(at, at + 10).trim()}\` is not read`);
  if (sign === "") reader.at++;
  reader.last = sign;
}

/** Lines from `=begin` to `=end`, and all behind `__END__`. */
function readBlockComment(reader: WordReader): boolean {
  const { at, source } = reader;
  if (!isLineStart(reader)) return false;
  if (take(reader, /__END__(?=\n|$)/y) !== null) reader.at = source.length;
  else if (take(reader, /=begin(?=\s|$)/y) === null) return false;
  else if (!skipLines(reader, /=end(?=\s|$)/y)) throw refuse(at, "a comment is not closed");
  return true;
}

const beforePattern = /^(?:and|elsif|if|in|not|or|puts|return|then|unless|until|when|while)$/;

/** Strings, symbols and patterns; code in them is read too. */
function readQuoted(reader: WordReader, known: Known): boolean {
  const { source, at } = reader;
  if (source[at] === "`" || source.startsWith("%x", at)) throw unknownWordAt(source.slice(at, at + 2), at);
  const symbol = take(reader, /(?<!:):(?=[a-zA-Z_])\w+[?!=]?/y);
  if (symbol !== null) {
    // As a block, it is the method that is called.
    if (running.has(symbol.slice(1))) throw unknownWordAt(symbol, at);
    if (reader.last === "&") checkWord(symbol.slice(1), { at, isMember: true }, known);
    reader.last = '""';
    return true;
  }
  const isPattern = source[at] === "/" && !isOperandBefore(reader, beforePattern);
  const kind = take(reader, /%[wWiIqQr](?=[([{<|!/])/y);
  if (kind === null && !isPattern && !/["']/.test(source[at] ?? "")) return false;
  const text = takeDelimited(reader);
  if (isPattern || kind === "%r") take(reader, /[a-z]*/y);
  const isPlain = source[at] === "'" || /^%[wiq]$/.test(kind ?? "");
  if (/^(?:class|instance|module)_(?:eval|exec)$/.test(text)) throw unknownWordAt(text, at);
  if (!isPlain) readInterpolated(text, known, at);
  reader.last = '""';
  return true;
}

function readInterpolated(text: string, known: Known, at: number): void {
  const reader = openWords(text.replace(/\\[\s\S]/g, "  "));
  const lastQuote = reader.source.lastIndexOf('"');
  for (let found = reader.source.indexOf("#{"); found !== -1; found = reader.source.indexOf("#{", reader.at)) {
    reader.at = found + 1;
    if (lastQuote > found) throw unknownWordAt(text.split("\n", 1)[0] ?? "", at);
    readAll(takeDelimited(reader), known);
  }
}

function readWord(reader: WordReader, known: Known): boolean {
  const { source, at, last } = reader;
  const number = take(reader, /\d[\w.]*/y);
  const text = number ?? take(reader, /[A-Za-z_]\w*[?!]?(?!=[^=~>])|[A-Za-z_]\w*/y);
  if (text === null) return false;
  reader.last = text;
  if (number !== null || last === "def" || last === "class" || last === "module") return true;
  // A key.
  if (/^:(?!:)/.test(source.slice(reader.at)) && last !== "?") return true;
  if (text === "require" || text === "require_relative") readRequire(reader, text, known);
  else checkWord(text, { at, isMember: last === "." || last === "&." }, known);
  return true;
}

function checkWord(text: string, { at, isMember }: { at: number; isMember: boolean }, { methods }: Known): void {
  const isOpen = text === "open";
  if (running.has(text)) throw unknownWordAt(text, at);
  const isKnown = (methods.has(text) && !isOpen) || harmlessWords.has(text) || (isMember && harmlessMethods.has(text));
  if (!isKnown && !(isOpen && isMember)) throw unknownWordAt(text, at);
}

/** They start a program or evaluate a text, also in a script that uses the name for a variable or a method. */
const running = new Set(
  `__send__ alias_method autoload Binding binding callcc capture2 capture2e capture3 class_eval class_exec const_get
  define_method eval exec Fiddle fork instance_eval instance_exec instance_method IO Kernel load Method method module_eval
  module_exec Module Object ObjectSpace Open3 pipeline popen popen2 popen2e popen3 Process PTY public_method public_send
  RubyVM send set_trace_func spawn syscall system trace_var trap UnboundMethod`.split(/\s+/),
);

function readRequire(reader: WordReader, word: string, { files }: Known): void {
  const { at } = reader;
  const [, , name = ""] = /^\s*\(?\s*(["'])([\w./-]+)\1/.exec(reader.source.slice(at)) ?? [];
  const isKnown = word === "require" ? new RegExp(`^(?:${rubyFeatures})$`).test(name) : name !== "";
  if (!isKnown) throw unknownWordAt(`${word}${reader.source.slice(at, at + 20)}`, at - word.length);
  if (word === "require_relative") files.push(name.endsWith(".rb") ? name : `${name}.rb`);
  take(reader, /\s*\(?\s*["'][\w./-]+["']\s*\)?/y);
  reader.last = '""';
}

const rubyFeatures =
  "json|set|time|date|fileutils|pathname|optparse|digest(?:/\\w+)?|securerandom|shellwords|uri|net/https?|tempfile|strscan|English|ostruct|csv|base64|logger|pp|stringio|timeout";

const harmlessWords = new Set(
  `abort alias and ARGV Array at_exit Base64 begin BEGIN Comparable Date DateTime Digest Dir ENV EOFError Encoding Enumerable
  Errno ENOENT ArgumentError attr_accessor attr_reader attr_writer block_given? break case catch class def defined? do else
  elsif end END ensure exit exit! extend fail false File FileUtils Float for format frozen? Hash if in include Integer JSON
  lambda Logger loop Math MD5 module next nil NilClass not Numeric OpenStruct OptionParser or p Pathname ParserError pp
  print printf private proc protected public putc puts raise rand Random Range Regexp rescue retry return RuntimeError
  self Set SHA1 SHA256 Shellwords SecureRandom sleep sprintf StandardError STDERR STDIN STDOUT String StringIO Struct super
  Symbol Tempfile then throw Time Timeout true TypeError undef unless until URI warn when while yield __dir__ __FILE__
  __LINE__ __method__`.split(/\s+/),
);

const harmlessMethods = new Set(
  `abs all? any? append atime b base64digest basename between? bytes capitalize ceil center chars chomp chop chr class clamp
  clear close code collect compact concat count cycle day decode64 delete delete_at delete_if delete_prefix delete_suffix
  detect difference dig directory? dirname div downcase drop drop_while dump dup each each_char each_cons each_entry
  each_key each_line each_pair each_slice each_value each_with_index each_with_object empty? encode encode64 encoding
  end_with? entries eof? eql? error escape executable? exist? exists? expand_path extname fdiv fetch fetch_values file? fill
  filter filter_map find find_all find_index first flat_map flatten floor flush fnmatch fnmatch? foreach freeze generate
  gets getc glob group_by gsub gsub! has_key? hash header hexdigest host hour include? index info inject insert inspect
  instance_of? intersect? intersection invert is_a? iso8601 items join keep_if key key? keys kind_of? last length lines ln_s
  ljust lstrip map match match? matches max max_by member? merge merge! message min min_by minmax mkdir mkdir_p month mtime
  mv name ne? new next_day nil? none? now on one? ord parse parse! parse! partition path pop positive? post pred
  pretty_generate print printf product push puts query read readable? readline readlines readlink realpath reduce reject
  relative_path_from replace respond_to? reverse rewind rfind rindex rjust rm rm_f rm_rf round rpartition rstrip sample scan
  scrub select shellescape shift shellsplit shuffle size slice slice! sort sort_by split squeeze start_with? stat step strftime
  strip sub sub! sum swapcase sync sync= tally take take_while tap then times to_a to_f to_h to_i to_json to_path to_s to_set
  to_sym today touch tr transform_keys transform_values truncate tty? unicode_normalize uniq unlink unshift upcase update
  upto utc uuid valid_encoding? value value? values values_at warn with_index with_object write writable? year zero? zip`.split(
    /\s+/,
  ),
);
