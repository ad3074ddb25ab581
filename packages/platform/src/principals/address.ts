// E-mail addresses as names of users: the same whatever the case of their letters.
import { sql } from "kysely";

/** As far as it can be told without sending anything there. What cannot be seen could make one look like another. */
export const isEmail = (text: string): boolean =>
  /^[^\s@\p{Cc}\p{Cf}]+@[^\s@\p{Cc}\p{Cf}]+$/u.test(text) && text.length <= 254;

/** Letters of ASCII alone: others would make two addresses one that are of two people, as k and the sign of Kelvin. */
export const lowerCase = (address: string): string => address.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());

/** For a column `email`; of users it has an index. */
export const isAddress = (address: string) => sql<boolean>`lower(email collate "C") = ${lowerCase(address)}`;
