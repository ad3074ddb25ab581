// Scripts in perl: words that are not known to be harmless make the hook unpinned. Nothing beside the script is loaded.
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
export function readPerl(text: string): string[] {
  const reader = openWords(text);
  const subs = new Set(Array.from(text.matchAll(/\bsub\s+(\w+)/g), ([, name = ""]) => name));
  const known: Known = { subs, isStrict: false, braces: [] };
  while (reader.at < reader.source.length) readToken(reader, known);
  return [];
}

interface Known {
  subs: Set<string>;
  /** From here on, a text is not the name of a function. */
  isStrict: boolean;
  /** What each open brace is once it is closed. */
  braces: ("]" | "}")[];
}

function readToken(reader: WordReader, known: Known): void {
  const { source, at } = reader;
  if (take(reader, /\s+|#[^\n]*/y) !== null || readPod(reader)) return;
  const variable = take(
    reader,
    /\$#?\${0,9}(?:::)?\w+(?:::\w+)*|[@%](?=\$|\{)|[@%]\w+(?:::\w+)*|\$(?=\{)|\$[!@&,./\\;|?0"]/y,
  );
  if (variable !== null) {
    if (/^[$@%]#?(?:\w+::)*(?:INC|ISA)$/.test(variable)) throw unknownWordAt(variable, at);
    reader.last = variable;
    return;
  }
  if (readQuoted(reader) || readWord(reader, known) || readInput(reader)) return;
  const sign = take(reader, /->\s*[($[{@%]|->|=>|=~|!~|\*\*|\/\/|&&|[^\w\s]/y) ?? "";
  const isCode =
    /^->\s*\($/.test(sign) ||
    (sign === "&" && /^[${]/.test(source.slice(reader.at)) && !isOperandBefore({ ...reader, at }, beforePattern));
  if (isCode && !known.isStrict) throw unknownWordAt(source.slice(at, at + 20), at);
  if (
    /^->\s*\$$/.test(sign) ||
    (sign === "*" && /^[{\w$]/.test(source.slice(reader.at)) && !isOperandBefore({ ...reader, at }, beforePattern))
  )
    throw unknownWordAt(source.slice(at, at + 20), at);
  if (sign === "") reader.at++;
  const { last } = reader;
  reader.last = /^(?:->|=>)$/.test(sign) ? sign : sign.trim().slice(-1);
  // Braces of an index end an operand, those of a block do not.
  if (reader.last === "{") known.braces.push(/^(?:->|[$@%&\]])/.test(sign.length > 1 ? sign : last) ? "]" : "}");
  else if (reader.last === "}") reader.last = known.braces.pop() ?? "}";
}

/** Documentation, from `=pod` to `=cut`, where a statement can begin; elsewhere the sign assigns. */
function readPod(reader: WordReader): boolean {
  const { source, at } = reader;
  if (!isLineStart(reader) || !/^=[A-Za-z]/.test(source.slice(at, at + 2))) return false;
  if (!/^[;}]$/.test(reader.last)) throw unknownWordAt(source.slice(at, at + 20).split("\n", 1)[0] ?? "", at);
  if (!skipLines(reader, /=cut(?![A-Za-z])/y)) reader.at = source.length;
  return true;
}

const beforePattern =
  /^(?:and|cmp|eq|ge|grep|gt|if|join|le|lt|map|ne|not|or|print|push|return|split|unless|until|while|x|xor)$/;

/** Strings, and patterns with what replaces them. */
function readQuoted(reader: WordReader): boolean {
  const { source, at } = reader;
  if (source[at] === "`") throw unknownWordAt("`", at);
  const isPattern = source[at] === "/" && !isOperandBefore(reader, beforePattern);
  const isHash = reader.last === "{" && /\w+\s*\}/y.test(source.slice(at, at + 40));
  const word =
    isHash || reader.last === "->"
      ? null
      : take(reader, /(?:tr|qr|qq|qw|q|m|s|y)(?=\s*[/|!{([<,'"~%^:]|#)(?!\s*(?:=>|=[^~]|,\s))/y);
  if (word === null && !isPattern && !/["']/.test(source[at] ?? "")) return false;
  take(reader, /\s+/y);
  const parts = [takeDelimited(reader)];
  if (/^(?:s|tr|y)$/.test(word ?? "")) {
    if (/[([{<]/.test(source[reader.at - 1 - (parts[0]?.length ?? 0) - 1] ?? "")) take(reader, /\s+/y);
    else reader.at--;
    parts.push(takeDelimited(reader));
  }
  const isText = source[at] === "'" || /^(?:q|qw|tr|y)$/.test(word ?? "");
  if (!isText) for (const part of parts) checkInterpolated(part, at);
  const flags = isPattern || /^(?:m|qr|s|tr|y)$/.test(word ?? "") ? (take(reader, /[a-z]+/y) ?? "") : "";
  if (word === "s" && flags.includes("e")) throw unknownWordAt(source.slice(at, reader.at), at);
  reader.last = '""';
  return true;
}

/** Variables with plain indexes; code in a string or a pattern is refused. */
function checkInterpolated(text: string, at: number): void {
  const plain = text.replace(/\\[\s\S]/g, "");
  const index = String.raw`(?:->)?(?:\{(?:\w+|\$\w+|"\w+"|'\w+')\}|\[(?:-?\d+|\$\w+)\])`;
  const rest = plain.replace(new RegExp(String.raw`[$@](?:\w+|\{\w+\})(?:${index})*(?!(?:->)?[[{])`, "g"), "");
  // Anything left is code, or an index that is not plain.
  if (/[$@][{$\w]|\(\?\??\{/.test(rest)) throw unknownWordAt(text.split("\n", 1)[0] ?? "", at);
}

/** `<STDIN>`, `<$log>`; `<>` opens each argument, and runs one that ends with a bar. */
function readInput(reader: WordReader): boolean {
  const { source, at } = reader;
  if (
    source[at] !== "<" ||
    isOperandBefore({ ...reader, last: reader.last === "}" ? ")" : reader.last }, beforePattern)
  )
    return false;
  if (take(reader, /<(?:STDIN|\$\w+)>/y) === null) throw unknownWordAt(source.slice(at, at + 10), at);
  reader.last = '""';
  return true;
}

function readWord(reader: WordReader, known: Known): boolean {
  const { source, at, last } = reader;
  const number = take(reader, /\d[\w.]*/y);
  const text = number ?? take(reader, /[A-Za-z_]\w*(?:(?:::|')(?=\w)\w+)*/y);
  if (text === null) return false;
  reader.last = text;
  if (number !== null || last === "sub" || last === "package") return true;
  const isIndex = last === "{" && source[reader.at] === "}" && (known.braces.at(-1) === "]" || !running.has(text));
  const isKey = isIndex || /^\s*=>/.test(source.slice(reader.at));
  const isTest = last === "-" && /^[a-zA-Z]$/.test(text);
  if (isKey || isTest) return true;
  if (
    /^__(?:END|DATA)__$/.test(text) &&
    isLineStart({ ...reader, at }) &&
    /^(?:\n|$)/.test(source.slice(reader.at)) &&
    /^[;}]$/.test(last)
  )
    reader.at = source.length;
  else if (text === "use" || text === "no") readUse(reader, at, known);
  else if (text === "do" || text === "eval") {
    if (!/^\s*\{/.test(source.slice(reader.at))) throw unknownWordAt(source.slice(at, at + 20), at);
  } else if (text === "open") {
    if (!perlOpen.test(source.slice(at))) throw unknownWordAt(source.slice(at, at + 30), at);
  } else if (running.has(text) || (!known.subs.has(text) && !isHarmless(text, last))) throw unknownWordAt(text, at);
  return true;
}

/** They start a program or evaluate a text, also in a script with a function of the same name. */
const running = new Set(
  `AUTOLOAD CORE chdir chroot dbmopen do dump eval evalbytes exec fork glob goto import open readline readpipe require
  syscall system tie`.split(/\s+/),
);

const perlOpen = /^open\b\s*\(?\s*(?:my\s+)?\$?\w+\s*,\s*(["'])(?:\+?<|>{1,2})(?::[\w:()-]+)?\1\s*,/;

function readUse(reader: WordReader, at: number, known: Known): void {
  const statement = take(reader, /[^;]*;/y);
  if (statement === null) throw refuse(at, "a statement is not closed");
  const isKnown = new RegExp(String.raw`^\s+(?:${perlModules})\b(?!::)`).test(statement);
  const isNo = reader.source.startsWith("no", at);
  if (!isKnown || (isNo && /\bstrict\b/.test(statement)) || /[`{]/.test(statement))
    throw unknownWordAt(reader.source.slice(at, reader.at), at);
  if (!isNo && known.braces.length === 0 && strict.test(statement)) known.isStrict = true;
  reader.last = ";";
}

const strict = /^\s+(?:strict\s*;|v?5\.(?:0?1[2-9]|0?[2-9]\d))/;

const perlModules =
  "strict|warnings|utf8|bytes|feature|constant|integer|v?5[\\d._]*|JSON(?:::PP)?|POSIX|Cwd|Encode|File::(?:Basename|Spec(?:::Functions)?|Path|Temp)|Getopt::Long|List::Util|Scalar::Util|Data::Dumper|Time::\\w+|Text::(?:ParseWords|Wrap)|Term::ANSIColor|MIME::Base64|Digest::\\w+";

/** File handles and constants are in capitals. ARGV opens the arguments, as `<>` does. */
function isHarmless(text: string, last: string): boolean {
  if (last === "->") return harmlessMethods.has(text);
  if (/^[A-Z][A-Z0-9_]*$/.test(text)) return !/^(?:ARGV(?:OUT)?|AUTOLOAD|CORE|INC|ISA)$/.test(text);
  return harmlessWords.has(text) || new RegExp(`^(?:${perlModules}|main)$`).test(text);
}

const harmlessMethods = new Set(
  `allow_nonref as_string ascii autoflush basename binmode canonical catdir catfile close decode encode eof epoch
  from_file getline getlines hexdigest indent latin1 max_depth new new_from_string pretty print printf rel2abs relaxed say
  space_after space_before strftime tmpdir utf8 ymd`.split(/\s+/),
);

const harmlessWords = new Set(
  `__FILE__ __LINE__ __PACKAGE__ abs abs_path all and any atan2 basename binmode bless blessed carp caller catdir catfile
  ceil chomp chop chr close closedir cmp colored continue cos croak cwd decode decode_base64 decode_json
  decode_utf8 defined delete die dirname each else elsif encode encode_base64 encode_json encode_utf8 eof eq exists exit exp
  fc fileno fileparse first flock floor for foreach from_json ge getcwd given gmtime grep gt hex if index int join keys kill
  last lc lcfirst le length local localtime log looks_like_number lstat lt make_path map max md5_hex min mkdir mkpath my ne
  next none not oct opendir or ord our pack package pairs pop pos print printf product push quotemeta rand read readdir
  realpath redo reduce ref reftype remove_tree rename return reverse rewinddir rindex rmdir say scalar seek
  sha1_hex sha256_hex shellwords shift shuffle sin sleep sort splice split sprintf sqrt srand stat state strftime sub substr
  sum sum0 tell tempdir tempfile time to_json truncate uc ucfirst umask undef uniq unless unlink unpack unshift until utime
  values wait wantarray warn weaken when while write x xor`.split(/\s+/),
);
