// Dialogs: forms in front of the page, and confirmations of actions that cannot be undone.
import { Dialog as Base } from "@base-ui/react/dialog";
import { useQueryClient } from "@tanstack/react-query";
import { X } from "lucide-react";
import { type ReactNode, useRef, useState } from "react";
import { refresh } from "../api/action.ts";
import { type ApiError, asApiError } from "../api/error.ts";
import { Button } from "./button.tsx";
import { ErrorNote } from "./face.tsx";
import { hasTyped, isShownOnce } from "./typed.ts";

interface Props {
  open: boolean;
  onClose: () => void;
  title: string;
  children: ReactNode;
  /** A wider dialog, for tables and code. */
  wide?: boolean;
}

export function Dialog({ open, onClose, title, children, wide = false }: Props) {
  const popup = useRef<HTMLDivElement>(null);
  // Puts the focus into the first field if there is one; else the dialog chooses.
  const firstField = (): HTMLElement | true =>
    popup.current?.querySelector<HTMLElement>("input:not([type=file]),select,textarea") ?? true;
  const change = (to: boolean, { reason, event }: Base.Root.ChangeEventDetails): void => {
    // A press beside the dialog does not throw away what was typed; nor is the second half of a double click, which opened it, such a press.
    const inside = popup.current ?? document;
    const isStray = hasTyped(inside) || (event instanceof UIEvent && event.detail > 1);
    // What was sent is waited for: closed, the dialog could not say that it failed, and one would send it again under another key.
    const isSending = inside.querySelector('button[aria-busy="true"]') !== null;
    const isKept = isShownOnce(inside) && reason !== "close-press";
    if (!to && !isSending && !isKept && !(reason === "outside-press" && isStray)) onClose();
  };
  return (
    <Base.Root open={open} onOpenChange={change}>
      <Base.Portal>
        <Base.Backdrop forceRender className="fixed inset-0 z-40 bg-[rgb(10_10_8/0.45)]" />
        <Base.Popup
          ref={popup}
          initialFocus={firstField}
          className={`popup fixed top-[12vh] left-1/2 z-40 max-h-[80vh] w-[calc(100vw-2rem)] -translate-x-1/2 overflow-y-auto p-5 ${wide ? "max-w-3xl" : "max-w-md"}`}
        >
          <div className="mb-3 flex items-start justify-between gap-4">
            <Base.Title className="text-lg font-semibold">{title}</Base.Title>
            <Base.Close
              aria-label="Close"
              className="-mt-0.5 -mr-1.5 grid size-7 shrink-0 place-items-center rounded text-muted hover:bg-hover"
            >
              <X size={16} aria-hidden="true" />
            </Base.Close>
          </div>
          {children}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}

export interface ConfirmProps {
  open: boolean;
  onClose: () => void;
  title: string;
  /** The consequences, in a sentence or two. */
  children: ReactNode;
  /** The label of the button, as a verb: "Cancel the payment". */
  verb: string;
  look?: "danger" | "primary";
  /** Closes the dialog when it resolves; shows the error when it throws. */
  onConfirm: () => Promise<unknown>;
}

/** Asks for confirmation of an action that cannot be undone. */
export function Confirm({ open, onClose, title, children, verb, look = "danger", onConfirm }: ConfirmProps) {
  const [error, setError] = useState<ApiError | undefined>(undefined);
  const [isSending, setSending] = useState(false);
  const queries = useQueryClient();
  const close = (): void => {
    setError(undefined);
    onClose();
  };
  const confirm = async (): Promise<void> => {
    setError(undefined);
    setSending(true);
    try {
      await onConfirm();
      close();
    } catch (thrown) {
      const told = asApiError(thrown);
      setError(told);
      if (told.isOutdating) void refresh(queries);
    } finally {
      setSending(false);
    }
  };
  return (
    <Dialog open={open} onClose={close} title={title}>
      <div className="space-y-3">
        {children}
        {error && <ErrorNote error={error} />}
      </div>
      {/* In the order of a form's buttons: what acts in one dialog must not lead back in another. */}
      <div className="mt-5 flex flex-wrap gap-2">
        <Button look={look} onClick={confirm}>
          {verb}
        </Button>
        <Button disabled={isSending} onClick={close}>
          Back
        </Button>
      </div>
    </Dialog>
  );
}
