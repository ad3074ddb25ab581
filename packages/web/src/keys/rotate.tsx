// Replaces a key, after asking how long the former one stays valid.
import { type FormEvent, useState } from "react";
import { Button, Field, Select } from "../components/controls.tsx";
import { Dialog } from "../components/dialog.tsx";

export interface RotateButtonProps {
  name: string;
  onRotate(overlapHours: number): void;
}

export function RotateButton({ name, onRotate }: RotateButtonProps) {
  const [isOpen, setOpen] = useState(false);
  const [hours, setHours] = useState("24");
  const close = () => setOpen(false);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    close();
    onRotate(Number(hours));
  };
  return (
    <>
      <Button look="quiet" aria-haspopup="dialog" onClick={() => setOpen(true)}>
        Rotate
      </Button>
      {isOpen && (
        <Dialog label={`Rotate ${name}`} className="confirm" onClose={close}>
          <form onSubmit={submit}>
            <h2>Rotate {name}</h2>
            <div className="confirm-text">
              <p>A new key with the same name, rights and lifetime replaces it.</p>
              <Field label="The former key is valid for">
                <Select value={hours} onChange={({ target }) => setHours(target.value)}>
                  <option value="24">Another day</option>
                  <option value="168">Another week</option>
                  <option value="0">No longer</option>
                </Select>
              </Field>
            </div>
            <div className="dialog-actions">
              <Button onClick={close}>Keep</Button>
              <Button type="submit" look="primary">
                Rotate
              </Button>
            </div>
          </form>
        </Dialog>
      )}
    </>
  );
}
