import { type ReactNode, useEffect, useRef, useState } from 'react';
import { CopyButton, Problem } from './ui.tsx';

interface ConfirmProps {
  title: string;
  /** What happens, before it does. */
  says: ReactNode;
  /** On the button that does it. */
  label: string;
  curl: string;
  run: () => Promise<unknown>;
  /** Called when the dialog is closed; `done` where `run` succeeded. */
  onClose: (done: boolean) => void;
}

/** Asks before something is done, and says why it failed. */
export function Confirm({ title, says, label, curl, run, onClose }: ConfirmProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    if (dialog.current?.open === false) dialog.current.showModal();
  }, []);
  const start = async (): Promise<void> => {
    setBusy(true);
    setError(null);
    try {
      await run();
      onClose(true);
    } catch (failure) {
      setError(failure);
      setBusy(false);
    }
  };
  return (
    <dialog ref={dialog} onClose={() => onClose(false)} aria-label={title}>
      <h2>{title}</h2>
      <p>{says}</p>
      {error !== null && <Problem error={error} />}
      <div className="row">
        <button type="button" className="button primary" disabled={busy} onClick={() => void start()}>
          {label}
        </button>
        <button type="button" className="button" onClick={() => onClose(false)}>
          Back
        </button>
        <CopyButton quiet label="curl" text={curl} />
      </div>
    </dialog>
  );
}
