// The few texts in XML that services of AWS answer with.

/** The text of the first element with this name; null if there is none. */
export function readXmlText(xml: string, name: string): string | null {
  const found = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1];
  return found === undefined ? null : decode(found);
}

const entities: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

const decode = (text: string): string =>
  text
    .replace(/&#(\d+);/g, (_match, digits: string) => String.fromCodePoint(Number(digits)))
    .replace(/&(amp|lt|gt|quot|apos);/g, (_match, name: string) => entities[name] ?? "");
