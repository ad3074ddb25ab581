// E-mail addresses as user names: compared without regard to case.
import { sql } from "kysely";

/** A syntax check only. Invisible characters are refused: they could make one address look like another. */
export const isEmail = (text: string): boolean =>
  /^[^\s@\p{Cc}\p{Cf}\p{Cs}\p{DI}]+@[^\s@\p{Cc}\p{Cf}\p{Cs}\p{DI}]+$/u.test(text) && text.length <= 254;

/** ASCII letters only: full case folding would merge distinct addresses, such as k and the Kelvin sign. */
export const lowerCase = (address: string): string => address.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());

/** For a column `email`; indexed for users. */
export const isAddress = (address: string) => sql<boolean>`lower(email collate "C") = ${lowerCase(address)}`;
