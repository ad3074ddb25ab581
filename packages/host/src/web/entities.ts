// Character references of HTML.

export const decodeEntities = (text: string): string =>
  text.includes("&") ? text.replace(/&(#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});?/g, decode) : text;

function decode(reference: string, name: string): string {
  if (!name.startsWith("#")) return named[name] ?? reference;
  const code = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
  return code === 0 || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff) ? "\ufffd" : String.fromCodePoint(code);
}

/** Those that pages use; others stay as they are written. */
const named: Record<string, string> = Object.assign(Object.create(null), {
  ...{ amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: " ", copy: "©", reg: "®", trade: "™", hellip: "…" },
  ...{ ndash: "–", mdash: "—", lsquo: "‘", rsquo: "’", ldquo: "“", rdquo: "”", laquo: "«", raquo: "»", bull: "•" },
  ...{ middot: "·", larr: "←", rarr: "→", uarr: "↑", darr: "↓", times: "×", divide: "÷", deg: "°", plusmn: "±" },
  ...{ para: "¶", sect: "§", euro: "€", pound: "£", yen: "¥", cent: "¢", ensp: " ", emsp: " ", thinsp: " " },
  ...{ auml: "ä", ouml: "ö", uuml: "ü", Auml: "Ä", Ouml: "Ö", Uuml: "Ü", szlig: "ß", eacute: "é", egrave: "è" },
  ...{ agrave: "à", aacute: "á", ccedil: "ç", ntilde: "ñ", oacute: "ó", iacute: "í", uacute: "ú", ecirc: "ê" },
  ...{ le: "≤", ge: "≥", ne: "≠", infin: "∞", zwnj: "", zwj: "", shy: "", lrm: "", rlm: "" },
});
