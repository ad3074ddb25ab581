// Finds known secrets in texts that must not have any, in every usual encoding.
import { formsOf, minFormLength, type Secret } from "./scrub.ts";

export interface FoundSecret {
  name: string;
  /** Where it begins, from 1. */
  line: number;
}

/** Every text that would show the secret. */
export const secretForms = ({ value }: Secret): string[] =>
  [...formsOf(value)].filter((form) => form.length >= minFormLength);

/** The first secret in a text, in any form; null: there is none. */
export function secretFinder(secrets: Secret[]): (text: string) => FoundSecret | null {
  const forms = secrets.flatMap((secret) => secretForms(secret).map((form) => ({ form, name: secret.name })));
  return (text) => {
    const found = forms.flatMap(({ form, name }) => {
      const at = text.indexOf(form);
      return at < 0 ? [] : [{ name, at }];
    });
    const [first] = found.sort((left, right) => left.at - right.at);
    return first ? { name: first.name, line: text.slice(0, first.at).split("\n").length } : null;
  };
}
