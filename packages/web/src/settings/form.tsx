// A form of settings: it says that it is saved, or why not. Visitors who may not change them see them without a button.
import { type FormEvent, type ReactNode, useState } from "react";
import { useAction } from "../api/use-action.ts";
import { Button } from "../components/controls.tsx";
import { Failure, Notice } from "../components/feedback.tsx";

export interface SettingsFormProps {
  title: string;
  mayChange: boolean;
  save(): Promise<void>;
  children: ReactNode;
}

export function SettingsForm({ title, mayChange, save, children }: SettingsFormProps) {
  const [isSaved, setSaved] = useState(false);
  const action = useAction(async () => {
    await save();
    setSaved(true);
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setSaved(false);
    void action.run(undefined);
  };
  return (
    <form className="card section" aria-label={title} onSubmit={submit} onChange={() => setSaved(false)}>
      <h2>{title}</h2>
      <fieldset className="settings-fields" disabled={!mayChange}>
        <legend className="sr-only">{title}</legend>
        {children}
      </fieldset>
      {mayChange ? (
        <div>
          <Button type="submit" look="primary" isBusy={action.isPending}>
            Save
          </Button>
        </div>
      ) : (
        <p className="soft">Administrators can change these.</p>
      )}
      <output>{isSaved && <Notice tone="good">Saved. New runs use it.</Notice>}</output>
      {action.error !== null && <Failure error={action.error} />}
    </form>
  );
}
