import { useLayoutEffect, useRef } from 'preact/hooks';

interface ConfirmDialogProps {
  readonly isOpen: boolean;
  readonly question: string;
  readonly explanation: string;
  /** The text of the button that confirms. */
  readonly confirmLabel: string;
  readonly onConfirm: () => void;
  /** Also after Escape. The browser gives the focus back to the button that opened the dialog. */
  readonly onClose: () => void;
}

/** Asks before something that cannot be undone. */
export function ConfirmDialog(props: ConfirmDialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  // With each state, also with states that follow each other at once.
  useLayoutEffect(() => {
    if (props.isOpen) dialog.current!.showModal();
    else dialog.current!.close();
  }, [props.isOpen]);
  return (
    <dialog
      ref={dialog}
      aria-labelledby="question"
      aria-describedby="explanation"
      onCancel={props.onClose}
      onClose={() => {
        // The event may come after the dialog was opened again.
        if (!dialog.current!.open) props.onClose();
      }}
    >
      <h2 id="question">{props.question}</h2>
      <p id="explanation">{props.explanation}</p>
      <div class="buttons">
        <button type="button" onClick={props.onClose}>
          Cancel
        </button>
        <button
          type="button"
          class="danger"
          onClick={() => {
            props.onClose();
            props.onConfirm();
          }}
        >
          {props.confirmLabel}
        </button>
      </div>
    </dialog>
  );
}
