// Reads events that equal the one before except for one text, as deltas do, without parsing the rest again: parsing is most
// of the CPU time of a long reply (bench/streams.mjs).
import { type Fields, parseJson } from "./untrusted.ts";

export interface RepeatedEvent {
  /** The event that had this form first. Everything but its text is that of this event too. */
  first: Fields;
  text: string;
}

export interface RepeatedEvents {
  /** Undefined if the event has to be parsed. */
  read(data: string): RepeatedEvent | undefined;
  /** To be called with each event that was parsed and has a text. */
  learn(data: string, event: Fields): void;
}

interface Form {
  prefix: string;
  suffix: string;
  first: Fields;
}

/** Events with a number of their own, for example, never repeat: then learning stops. */
const maxMisses = 8;

/** `textOf`: the text of an event, if it has one. */
export function openRepeatedEvents(textOf: (event: Fields) => unknown): RepeatedEvents {
  let form: Form | undefined;
  let misses = 0;
  return {
    read(data) {
      if (!form) return undefined;
      const { prefix, suffix, first } = form;
      const end = data.length - suffix.length;
      if (end < prefix.length || !data.startsWith(prefix) || !data.endsWith(suffix)) return undefined;
      // With its quotes: text that is not within one string is not JSON then.
      const text = parseJson(data.slice(prefix.length - 1, end + 1));
      if (typeof text !== "string") return undefined;
      misses = 0;
      return { first, text };
    },
    learn(data, event) {
      if (misses >= maxMisses) return;
      misses += 1;
      form = formOf(data, event, textOf);
    },
  };
}

/** Tried with another text: the one in the event may occur twice, or be written in another way. */
function formOf(data: string, event: Fields, textOf: (event: Fields) => unknown): Form | undefined {
  const source = JSON.stringify(textOf(event));
  const start = data.lastIndexOf(source) + 1;
  if (start === 0) return undefined;
  const [prefix, suffix] = [data.slice(0, start), data.slice(start + source.length - 2)];
  const tried = parseJson(`${prefix}${probe}${suffix}`);
  return tried !== undefined && textOf(tried as Fields) === probe ? { prefix, suffix, first: event } : undefined;
}

const probe = "the text of another event";
