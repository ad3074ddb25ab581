// Whether a name in Python is assigned to.
import { refuse, type Token } from "./code-tokens.ts";

/** Tokens of one statement that are looked through. */
const maxTokens = 1000;

/** On the left of an assignment, also among others; in a `for`, `with` or `del`. Not in an index or the arguments of a call. */
export function isTarget(tokens: Token[], at: number): boolean {
  const textAt = (index: number) => (tokens[index]?.kind === "string" ? "" : (tokens[index]?.text ?? ""));
  let open = 0;
  let start = at - 1;
  const check = (index: number) => {
    if (Math.abs(index - at) > maxTokens) throw refuse(tokens[at]?.at ?? 0, "a statement is too long to be read");
  };
  for (let depth = 0; start >= 0; start--) {
    check(start);
    if (/^[)\]}]$/.test(textAt(start))) depth++;
    else if (/^[([{]$/.test(textAt(start)) && --depth < 0) {
      const before = tokens[start - 1];
      const isOperand = before?.kind === "name" ? !keyword.test(before.text) : /^[)\]]$/.test(before?.text ?? "");
      if (isOperand) return false;
      depth = 0;
      open++;
    } else if (depth === 0 && /^(?:for|as|del)$/.test(textAt(start))) return true;
    else if (depth === 0 && textAt(start) === "in") break;
    else if (open === 0 && depth === 0 && /^[\n;:]$/.test(textAt(start))) break;
  }
  for (let index = at; index < tokens.length; index++) {
    check(index);
    const text = textAt(index);
    if (/^[([{]$/.test(text)) open++;
    else if (/^[)\]}]$/.test(text)) open--;
    else if (open === 0 && /^[\n;:]$/.test(text)) return false;
    else if (open === 0 && /^(?![=!<>]=$)[^=]*=$/.test(text)) return true;
  }
  return false;
}

const keyword = /^(?:and|as|assert|await|del|elif|else|for|if|in|is|lambda|not|or|return|while|with|yield)$/;
