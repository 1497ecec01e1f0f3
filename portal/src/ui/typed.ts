// What somebody has typed and not sent yet: forms and drafts mark it, and nothing closes or replaces it by itself.

/** The attribute of an element that has something typed in it. */
export const typedMark = (isTyped: boolean): { "data-typed"?: true } => (isTyped ? { "data-typed": true } : {});

/** Whether something typed and unsent is in the page, or in a part of it. */
export function hasTyped(within: ParentNode = document): boolean {
  return within.querySelector("[data-typed]") !== null;
}
