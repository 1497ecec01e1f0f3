// What would be lost: forms and drafts mark what was typed and not sent yet, once.tsx what is shown once. Nothing closes or replaces either by itself.

/** The attribute of an element that has something typed in it. */
export const typedMark = (isTyped: boolean): { "data-typed"?: true } => (isTyped ? { "data-typed": true } : {});

/** Whether something typed and unsent is in a part of the page. */
export function hasTyped(within: ParentNode): boolean {
  return within.querySelector("[data-typed]") !== null;
}

/** Whether something that is shown once is in a part of the page. */
export function isShownOnce(within: ParentNode): boolean {
  return within.querySelector("[data-once]") !== null;
}

/** Whether the page has anything that would be lost with it. */
export function wouldLose(): boolean {
  return hasTyped(document) || isShownOnce(document);
}
