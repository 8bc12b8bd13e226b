import { type FormEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { Button } from './controls.tsx';
import { CopyButton, Problem } from './ui.tsx';

interface DialogProps {
  title: string;
  className?: string;
  onClose: () => void;
  children: ReactNode;
}

export function Dialog({ title, className, onClose, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (dialog.current?.open === false) dialog.current.showModal();
  }, []);
  return (
    <dialog ref={dialog} className={className} onClose={onClose} aria-label={title}>
      <h2>{title}</h2>
      {children}
    </dialog>
  );
}

interface Run {
  busy: boolean;
  error: unknown;
  run: (work: () => Promise<void>) => Promise<void>;
}

/** Runs a call once at a time, and keeps why it was refused. It stays busy after success: what it is for is closed then. */
export function useRun(): Run {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const run = async (work: () => Promise<void>): Promise<void> => {
    setBusy(true);
    setError(null);
    try {
      await work();
    } catch (failure) {
      setError(failure);
      setBusy(false);
    }
  };
  return { busy, error, run };
}

interface ConfirmProps {
  title: string;
  /** What happens, before it does. */
  says: ReactNode;
  /** On the button that does it. */
  label: string;
  /** It may do harm that cannot be undone: to go back is the filled button. */
  isRisky?: boolean;
  curl: string;
  run: () => Promise<unknown>;
  /** Called when the dialog is closed; `done` where `run` succeeded. */
  onClose: (done: boolean) => void;
}

/** Asks before something is done, and says why it failed. */
export function Confirm({ title, says, label, isRisky = false, curl, run: work, onClose }: ConfirmProps) {
  const { busy, error, run } = useRun();
  const start = (): Promise<void> =>
    run(async () => {
      await work();
      onClose(true);
    });
  const back = <Button primary={isRisky} label="Back" onClick={() => onClose(false)} />;
  return (
    <Dialog title={title} onClose={() => onClose(false)}>
      <p>{says}</p>
      {error !== null && <Problem error={error} />}
      <div className="row">
        {isRisky && back}
        <Button primary={!isRisky} label={label} disabled={busy} onClick={() => void start()} />
        {!isRisky && back}
        <CopyButton quiet label="curl" text={curl} />
      </div>
    </Dialog>
  );
}

interface AskButtonProps extends Omit<ConfirmProps, 'onClose'> {
  /** On the button that asks. */
  button: string;
  /** Of that button, where it does not say all. */
  name?: string;
  quiet?: boolean;
  disabled?: boolean;
  onDone?: () => void;
}

/** A button that does something once it was confirmed. */
export function AskButton({ button, name, quiet, disabled, onDone, ...confirm }: AskButtonProps) {
  const [isAsking, setAsking] = useState(false);
  const close = (done: boolean): void => {
    setAsking(false);
    if (done) onDone?.();
  };
  return (
    <>
      <Button quiet={quiet} label={button} aria-label={name} disabled={disabled} onClick={() => setAsking(true)} />
      {isAsking && <Confirm {...confirm} onClose={close} />}
    </>
  );
}

interface FormDialogProps extends Omit<DialogProps, 'onClose'> {
  /** On the button that hands it in. */
  label: string;
  /** Something is still to be written. */
  disabled?: boolean;
  /** Runs `submit`. */
  form: Run;
  submit: () => Promise<void>;
  /** What is shown of the failure. Default: all of it. */
  error?: unknown;
  curl?: string;
  onClose: () => void;
}

export function FormDialog({
  label,
  disabled = false,
  form,
  submit,
  error = form.error,
  curl,
  ...rest
}: FormDialogProps) {
  const { children, onClose, ...dialog } = rest;
  const start = (event: FormEvent): void => {
    event.preventDefault();
    void form.run(submit);
  };
  return (
    <Dialog {...dialog} onClose={onClose}>
      <form className="dialog-form" onSubmit={start}>
        {children}
        <div className="dialog-foot">
          {error !== null && <Problem error={error} />}
          <div className="row">
            <Button submit primary label={label} disabled={form.busy || disabled} />
            <Button label="Back" onClick={onClose} />
            {curl !== undefined && <CopyButton quiet label="curl" text={curl} />}
          </div>
        </div>
      </form>
    </Dialog>
  );
}
