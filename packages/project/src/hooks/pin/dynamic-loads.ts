// Finds where a script in JavaScript, Python or another language loads or starts what only its run shows.
import { generalTools } from "./outside.ts";
import { Unpinnable } from "./shell-reader.ts";

interface ScriptSource {
  text: string;
  language: "shell" | "javascript" | "python" | "other";
}

/** Throws with the position. Shell scripts are read as commands instead. */
export function refuseDynamicLoads({ text, language }: ScriptSource): void {
  const code = text.replace(commentLine, (comment) => " ".repeat(comment.length));
  for (const pattern of language === "shell" ? [] : patterns[language]) {
    const match = pattern.exec(code);
    if (match === null) continue;
    const found = match[0].trim().split("\n", 1)[0]?.slice(0, 60);
    throw Object.assign(new Unpinnable(`what \`${found}\` runs or loads is known only when it runs`), {
      at: match.index,
    });
  }
}

const literal = String.raw`["'\x60][^"'\x60$\n]*["'\x60]\s*[,)]`;
const tools = [...generalTools].join("|");
/** Not `#run() {` of a class. */
const commentLine = /^[ \t]*(?:#(?!\w+\()|\/\/|\*(?=[ \t])).*$/gm;

const patterns = {
  javascript: [
    new RegExp(String.raw`\b(?:require(?:\.resolve)?|import)\s*\(\s*(?!${literal})`),
    /[=(,]\s*(?:module\.)?require\s*[;,)\n]/,
    /\bcreateRequire\b|\bmodule\.require\b|\bprocess\.(?:binding|dlopen|mainModule|chdir)\b/,
    /(?<![.\w])(?:eval|Function)\s*\(|\bfrom\s*["'](?:node:)?vm["']|\brequire\(["'](?:node:)?vm["']/,
    /["'\x60]file:/,
    /\b(?:execSync|fork|Worker)\s*\(\s*[A-Za-z_$]/,
    /\b(?:execFile|spawn)(?:Sync)?\s*\(\s*(?:[\w.]*(?:join|resolve)\s*\(|process\.cwd|\x60\$\{)/,
    new RegExp(String.raw`\b(?:execFile|exec|spawn)(?:Sync)?\s*\(\s*["'\x60](?:${tools})(?![\w-])`),
    /\bcwd\s*:\s*["'\x60]/,
  ],
  python: [
    /\bsys\.path\b|\bfrom\s+sys\s+import\b|\bimportlib\b|\brunpy\b|\b__import__\b|\baddsitedir\b/,
    /(?<![.\w])(?:exec|eval|compile)\s*\(/,
    /\bos\.chdir\b|\bcwd\s*=\s*["']/,
    new RegExp(
      String.raw`\b(?:system|popen|run|call|check_call|check_output|Popen)\s*\(\s*\[?\s*["'](?:${tools})(?![\w-])`,
    ),
  ],
  other: [
    /\buse\s+lib\b|\$LOAD_PATH|\$:|@INC\b|%INC\b/,
    /(?<![.\w])(?:do|require|load)[ (]*["'$]\.{0,2}[/$]|(?<![.\w])do\s+["'$]/,
    /(?<![.\w])eval\s*["'($\w]|\binstance_eval\b|\bclass_eval\b/,
  ],
};
