// A link that is shown this once: it logs a person in, or lets them join.
import { Field } from "../components/controls.tsx";

export interface OneTimeLink {
  email: string;
  link: string;
  kind: "invitation" | "login link";
}

const words = {
  invitation: { title: "Invitation", lasts: "7 days" },
  "login link": { title: "Login link", lasts: "half an hour" },
} as const;

export const OneTimeLinkCard = ({ link: { email, link, kind } }: { link: OneTimeLink }) => (
  <section className="card section" aria-live="polite" data-link={email}>
    <h2>
      {words[kind].title} for {email}
    </h2>
    <p>Send it to them. It is shown this once, works once, and is valid for {words[kind].lasts}.</p>
    <Field label="Link">
      <input className="input" readOnly value={link} onFocus={(event) => event.target.select()} />
    </Field>
  </section>
);
