// A key that is shown this once.
import { Field } from "../components/controls.tsx";
import { Moment } from "../components/time.tsx";

export interface ShownKey {
  name: string;
  key: string;
  /** When the key that it replaces expires. */
  formerUntil?: string;
}

export const ShownKeyCard = ({ shown: { name, key, formerUntil } }: { shown: ShownKey }) => (
  <section className="card section" aria-live="polite" data-shown-key={name}>
    <h2>Key {name}</h2>
    <p>
      It is shown this once. Store it as a secret.
      {formerUntil !== undefined && (
        <>
          {" "}
          The former key is valid until <Moment at={formerUntil} />.
        </>
      )}
    </p>
    <Field label="Key">
      <input className="input mono" readOnly value={key} onFocus={(event) => event.target.select()} />
    </Field>
  </section>
);
