import type { Attachment } from 'svelte/attachments';

/**
 * Opens a dialog over the page, and calls `onclose` when it is closed, however that was done.
 *
 * The event `close` comes a task later than the dialog goes: a key that is pressed in between would still be taken
 * for one of the dialog's, and lost. Changes of the attribute `open` are reported before any other event.
 */
export function modal(onclose: () => void): Attachment<HTMLDialogElement> {
  return (dialog) => {
    dialog.showModal();
    const observer = new MutationObserver(() => {
      if (!dialog.open) onclose();
    });
    observer.observe(dialog, { attributeFilter: ['open'] });
    return () => observer.disconnect();
  };
}
