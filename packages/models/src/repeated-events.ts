// Reads events that equal one before except for their text, as deltas do, straight from the text of a stream: its lines
// are not cut out, and its JSON is not parsed. Both are most of the CPU time of a long reply (bench/streams.mjs).
import { type Fields, parseJson } from "./untrusted.ts";

export interface RepeatedEvents {
  /** Takes the known events that stand one after another from `start` on; returns where they end. */
  skim(stream: string, start: number): number;
  /** To be called with each event that was parsed and has a text. */
  learn(event: ParsedEvent): void;
}

export interface ParsedEvent {
  name: string;
  data: string;
  fields: Fields;
}

export interface RepeatedEventOptions {
  /** The text of an event, if it has one. */
  textOf(event: Fields): unknown;
  /** `first` had this form: all but its text and its number is that of this event too. */
  onText(text: string, first: Fields, number: number | undefined): void;
}

/** Where events of one form differ. */
type Gap = "text" | "number" | "padding";

interface Part {
  /** In front of the gap. */
  literal: string;
  gap: Gap;
  /** Behind the gap. */
  next: string;
}

interface Form {
  parts: Part[];
  /** To the end of the event. */
  last: string;
  first: Fields;
}

/** Events with a member of their own that is not known here never repeat: then learning stops. */
const maxMisses = 16;

export function openRepeatedEvents({ textOf, onText }: RepeatedEventOptions): RepeatedEvents {
  let form: Form | undefined;
  let misses = 0;
  return {
    skim(stream, start) {
      if (!form) return start;
      const { first } = form;
      let at = start;
      const many = readMany(form, stream, start);
      if (many) {
        misses = 0;
        at = many.end;
        for (const text of many.texts) onText(text, first, undefined);
      }
      while (readEvent(form, stream, at)) {
        misses = 0;
        at = found.end;
        onText(found.text, first, found.number);
      }
      return at;
    },
    learn(event) {
      if (misses >= maxMisses) return;
      misses += 1;
      form = formOf(event, textOf);
    },
  };
}

/**
 * All events up to the last one in a text, if they differ in their text alone and no other event is among them. Between two
 * texts is always the same then: with commas in its place they are a list in JSON, which is parsed at once.
 */
function readMany({ parts, last }: Form, stream: string, start: number): { texts: string[]; end: number } | null {
  const [part, ...others] = parts;
  if (!part || others.length > 0 || !stream.startsWith(part.literal, start)) return null;
  const end = stream.lastIndexOf(last);
  const from = start + part.literal.length;
  if (end < from) return null;
  const body = stream.slice(from, end);
  const between = last + part.literal;
  const list = body.replaceAll(between, comma);
  // A text that ends with a backslash would hide where it ends.
  if (list.endsWith("\\") || list.includes(`\\${comma}`)) return null;
  const texts = parseJson(`["${list}"]`);
  const count = 1 + (body.length - list.length) / (between.length - comma.length);
  // A text with a quote in it gives more, or other values than texts.
  if (!Array.isArray(texts) || texts.length !== count || !texts.every((text) => typeof text === "string")) return null;
  return { texts, end: end + last.length };
}

const comma = '","';

/** What `readEvent` has found; one for all, so that an event needs no object. */
const found = { text: "", number: undefined as number | undefined, end: 0 };

function readEvent({ parts, last }: Form, stream: string, start: number): boolean {
  let at = start;
  found.number = undefined;
  for (const { literal, gap, next } of parts) {
    if (!stream.startsWith(literal, at)) return false;
    at += literal.length;
    const end =
      gap === "text"
        ? endOfText(stream, at, next)
        : gap === "number"
          ? endOfNumber(stream, at)
          : endOfPadding(stream, at);
    if (end < 0) return false;
    at = end;
  }
  if (!stream.startsWith(last, at)) return false;
  found.end = at + last.length;
  return true;
}

function endOfText(stream: string, start: number, next: string): number {
  const end = stream.indexOf(next, start);
  if (end < 0) return -1;
  // With its quotes: what is not within one string is not JSON then.
  const text = parseJson(stream.slice(start - 1, end + 1));
  if (typeof text !== "string") return -1;
  found.text = text;
  return end;
}

const [zero, nine, quote, backslash, space] = [48, 57, 34, 92, 32];
/** All of them are exact as numbers. */
const maxDigits = 15;

function endOfNumber(stream: string, start: number): number {
  let [at, value] = [start, 0];
  for (; at - start <= maxDigits; at += 1) {
    const code = stream.charCodeAt(at);
    if (!(code >= zero && code <= nine)) break;
    value = value * 10 + code - zero;
  }
  const digits = at - start;
  if (digits === 0 || digits > maxDigits || (digits > 1 && stream.charCodeAt(start) === zero)) return -1;
  found.number = value;
  return at;
}

/** Up to the quote; one with an escape in it is left to the parser. */
function endOfPadding(stream: string, start: number): number {
  for (let at = start; ; at += 1) {
    const code = stream.charCodeAt(at);
    if (code === quote) return at;
    if (!(code >= space) || code === backslash) return -1;
  }
}

interface Found {
  gap: Gap;
  start: number;
  end: number;
}

function formOf(event: ParsedEvent, textOf: RepeatedEventOptions["textOf"]): Form | undefined {
  const { name, data, fields } = event;
  const gaps = [...textGap(data, textOf(fields)), ...memberGaps(data, fields)].sort(
    (left, right) => left.start - right.start,
  );
  // An event of several lines has another form in the stream.
  if (data.includes("\n") || !isExact(data, gaps, textOf)) return undefined;
  const literals = [0, ...gaps.map(({ end }) => end)].map((from, index) => data.slice(from, gaps[index]?.start));
  literals[0] = `${name && `event: ${name}\n`}data: ${literals[0]}`;
  const last = `${literals.pop()}\n\n`;
  const parts = gaps.map(({ gap }, index) => ({
    literal: literals[index] ?? "",
    gap,
    next: literals[index + 1] ?? last,
  }));
  return { parts, last, first: fields };
}

function textGap(data: string, text: unknown): Found[] {
  const source = JSON.stringify(text);
  const at = data.lastIndexOf(source);
  return at < 0 ? [] : [{ gap: "text", start: at + 1, end: at + source.length - 1 }];
}

/** Members that are another in each event: its number, and what hides the length of its text. */
function memberGaps(data: string, { sequence_number: number, obfuscation: padding }: Fields): Found[] {
  const gaps: Found[] = [];
  if (typeof number === "number")
    gaps.push(...memberGap(data, { name: "sequence_number", gap: "number", source: String(number) }));
  if (typeof padding === "string")
    gaps.push(...memberGap(data, { name: "obfuscation", gap: "padding", source: padding }));
  return gaps;
}

function memberGap(data: string, { name, gap, source }: { name: string; gap: Gap; source: string }): Found[] {
  const at = data.lastIndexOf(`"${name}":`);
  let start = at + name.length + 3;
  while (data.charCodeAt(start) === space) start += 1;
  if (gap === "padding") start += 1;
  return at < 0 || !data.startsWith(source, start) ? [] : [{ gap, start, end: start + source.length }];
}

const probes: Record<Gap, string> = { text: "the text of another event", number: "123456789", padding: "of another" };

/** Tried with other values: one in the event may occur twice, or be written in another way. */
function isExact(data: string, gaps: Found[], textOf: RepeatedEventOptions["textOf"]): boolean {
  if (!gaps.some(({ gap }) => gap === "text")) return false;
  if (gaps.some(({ start }, index) => start < (gaps[index - 1]?.end ?? 0))) return false;
  const pieces = gaps.map(({ gap, start }, index) => data.slice(gaps[index - 1]?.end ?? 0, start) + probes[gap]);
  const tried = parseJson(pieces.join("") + data.slice(gaps.at(-1)?.end)) as Fields | undefined;
  if (tried === undefined) return false;
  const read: Record<Gap, unknown> = {
    text: textOf(tried),
    number: String(tried.sequence_number),
    padding: tried.obfuscation,
  };
  return gaps.every(({ gap }) => read[gap] === probes[gap]);
}
