// HTML elements that are not displayed, and attributes that are kept.
import { decodeReferences } from "./references.ts";
import type { Attribute, Tag } from "./tags.ts";

const hiddenByName = new Set([
  ...["script", "style", "template", "noscript", "noframes", "noembed", "title", "datalist"],
  ...["iframe", "object", "canvas", "audio", "video", "rp", "annotation", "annotation-xml", "desc", "metadata"],
  ...["defs", "symbol", "meter", "progress", "mphantom"],
  ...["clippath", "mask", "marker", "pattern", "lineargradient", "radialgradient", "filter", "colgroup", "frameset"],
]);

const withoutContent = new Set([
  ...["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"],
]);

export const hasContent = ({ name }: Tag): boolean => !withoutContent.has(name);

/** Elements of this name are never displayed; an unclosed tag in prose hides nothing. */
export const isHiddenByName = ({ kind, name }: Tag): boolean => kind === "open" && hiddenByName.has(name);

export function isHiddenByAttribute(tag: Tag): boolean {
  if (tag.kind === "close") return false;
  if (tag.name === "dialog" && !tag.attributes.some(({ name }) => name === "open")) return true;
  return tag.attributes.some(({ name, value }) => {
    if (name === "hidden" || name === "popover") return true;
    if (name === "aria-hidden") return decodeReferences(value).trim().toLowerCase() === "true";
    if (name === "type") return tag.name === "input" && decodeReferences(value).trim().toLowerCase() === "hidden";
    if (likeStyles.has(name)) return hides(`${name}:${value}`);
    return name === "style" && hides(value);
  });
}

/** Attributes of drawings that mean the same as in a style. */
const likeStyles = new Set(["display", "visibility", "opacity", "fill-opacity", "font-size", "clip-path", "transform"]);

/** A style that makes an element invisible, also with CSS escapes and comments. */
function hides(style: string): boolean {
  const plain = withoutComments(unescapeStyle(decodeReferences(style)))
    .replace(/\s+/g, "")
    .toLowerCase();
  return plain.split(";").some((declaration) => invisible.some((pattern) => pattern.test(declaration)));
}

/** Not one regular expression: with comments it would take quadratic time for unclosed ones. */
function withoutComments(style: string): string {
  const [first = "", ...opened] = style.split("/*");
  return first + opened.map((piece) => (piece.includes("*/") ? piece.slice(piece.indexOf("*/") + 2) : "")).join("");
}

const unescapeStyle = (style: string): string =>
  style.includes("\\")
    ? style.replace(/\\([0-9a-fA-F]{1,6})\s?|\\([^\n])/g, (_, code?: string, character?: string) =>
        code === undefined ? (character ?? "") : safeCharacter(Number.parseInt(code, 16)),
      )
    : style;

const safeCharacter = (code: number): string => (code <= 0x10ffff ? String.fromCodePoint(code) : "");

const zero = "[+-]?(?:0+(?:\\.0*)?|\\.0+)(?:[a-z]+|%)?(?:!important)?$";
const invisible = [
  /^display:none/,
  /^visibility:(?:hidden|collapse)/,
  /^content-visibility:hidden/,
  /^(?:-webkit-text-fill-)?color:(?:transparent|rgba\(.*,0?\.?0+\)|#[0-9a-f]{3}0$|#[0-9a-f]{6}00$)/,
  /^(?:fill-)?opacity:\+?(?:0?\.0|[0-4](?:\.\d*)?%)/,
  /^font-size:\+?(?:[01](?:\.\d*)?px|0?\.[01]\d*r?em)/,
  new RegExp(`^(?:font-size|opacity|fill-opacity|max-height|max-width|height|width|zoom|line-height):${zero}`),
  new RegExp(`^font:(?:.*[^0-9.])?${zero.replace("$", "")}(?:/|[a-z"'])`),
  /^(?:text-indent|left|right|top|bottom|margin(?:-left|-top)?):-\d{3,}/,
  /^transform:.*(?:scale(?:[xy3z]d?)?\(0(?:\.0+)?[,)]|translate[xy]?\(-\d{3,})/,
  /^clip(?:-path)?:(?:rect\(0|inset\((?:50|100)%|circle\(0|polygon\(0)/,
];

/** They show nothing, not even their address. */
const silent = new Set(["base", "link", "meta", "param", "source", "track", "area", "bgsound"]);

/** Kept, so that links and images still work; any other attribute could carry hidden text. */
export function isKept({ name, value }: Attribute, element: string): boolean {
  if (name === "href" || name === "src") return !silent.has(element);
  return layout.has(name) && /^[\w#%.-]{0,16}$/.test(value);
}

const layout = new Set([
  ...["width", "height", "align", "valign", "colspan", "rowspan", "start", "type", "open", "checked", "disabled"],
  ...["lang", "dir"],
]);
