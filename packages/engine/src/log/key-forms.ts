// Keys that people and programs write in Base32 or hexadecimal, such as those of one-time passwords: each in all the other ways.
const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
/** 80 bits, the shortest that services give out. */
const minBytes = 10;

/** What programs such as oathtool read and print: both alphabets, both cases, in groups of four, without padding. */
export function keyForms(value: string): string[] {
  const compact = value.trim().replace(/[\s-]/g, "").toUpperCase();
  const written = /^[A-Z2-7]+=*$/.test(compact) ? compact.replaceAll("=", "") : "";
  const keys = [bytesOfBase32(written), bytesOfHex(compact.replaceAll(":", ""))];
  return keys.flatMap((bytes, index) => {
    if (bytes.length < minBytes) return [];
    const texts = index === 0 ? [written, toBase32(bytes)] : [toBase32(bytes)];
    return [...texts.flatMap(inGroups), ...inPairs(bytes)].flatMap((form) => [form, form.toLowerCase()]);
  });
}

function inGroups(text: string): string[] {
  const groups = text.match(/.{1,4}/g) ?? [];
  return ["", " ", "-"].map((mark) => groups.join(mark));
}

function inPairs(bytes: number[]): string[] {
  const pairs = bytes.map((byte) => byte.toString(16).padStart(2, "0").toUpperCase());
  return ["", " ", ":"].map((mark) => pairs.join(mark));
}

/** Without padding. */
export function toBase32(bytes: number[]): string {
  const bits = bytes.map((byte) => byte.toString(2).padStart(8, "0")).join("");
  const groups = bits.match(/.{1,5}/g) ?? [];
  return groups.map((group) => letters[Number.parseInt(group.padEnd(5, "0"), 2)]).join("");
}

/** Bits behind the last whole byte do not count. */
function bytesOfBase32(text: string): number[] {
  const bits = [...text].map((letter) => letters.indexOf(letter).toString(2).padStart(5, "0")).join("");
  return (bits.match(/.{8}/g) ?? []).map((group) => Number.parseInt(group, 2));
}

const bytesOfHex = (text: string): number[] =>
  /^(?:[0-9A-F]{2})+$/.test(text) ? (text.match(/../g) ?? []).map((pair) => Number.parseInt(pair, 16)) : [];
